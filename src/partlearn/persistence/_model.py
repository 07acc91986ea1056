"""Save and load models."""

# SPDX-License-Identifier: BSD-3-Clause

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sklearn
from numpy.typing import NDArray

from partlearn._version import __version__
from partlearn.io import (
    DataError,
    DataFormatError,
    DataLimitError,
    Limits,
    atomic_write,
)
from partlearn.persistence._archive import open_archive, write_archive
from partlearn.persistence._classes import class_names
from partlearn.persistence._decode import Decoder, check_version
from partlearn.persistence._encode import Encoder
from partlearn.persistence._width import row_width

FORMAT = "partlearn-model/2"
_VERSION = re.compile(r"[0-9A-Za-z.+!_-]{1,40}", re.ASCII)
# Whatever else a check of nonsense may raise: a file is sound, or it is refused.
_UNFORESEEN = (
    ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError,
    RecursionError, TypeError, ValueError,
)  # fmt: skip
_ROW_SHARE = 2**8  # of a row of eight bytes a column: one part in 32 of the memory
_KEYS = {"format", "versions", "feature_names", "target_names", "estimator"}


@dataclass(frozen=True)
class Model:
    """A fitted estimator and the names it was fitted on.

    Parameters
    ----------
    estimator : estimator
        One of partlearn's, or a pipeline around it.
    feature_names : sequence of str, default=None
        Names of the columns of the estimator, in their order.
    target_names : sequence of str, default=None
        Names of the labels.

    Examples
    --------
    >>> from partlearn.decomposition import CENDA
    >>> from partlearn.persistence import Model
    >>> Model(CENDA(), feature_names=["weight", "height"]).feature_names
    ['weight', 'height']
    """

    estimator: Any
    feature_names: Sequence[str] | None = None
    target_names: Sequence[str] | None = None


def save_model(model: Any, path: str | os.PathLike[str]) -> Path:
    """Save a model to a file without executable code.

    Parameters
    ----------
    model : Model or estimator
        An estimator of partlearn, fitted or not, alone or in a pipeline of the
        scikit-learn classes that the user guide lists.
    path : path-like
        The file, of any name; it is replaced if it exists, and only once the new one
        is complete.

    Returns
    -------
    path : Path
        The file that was written.

    Raises
    ------
    ValueError
        If the estimator holds something that such files do not: a function, an object
        of another library, an estimator that is not on the list. The message names the
        attribute.

    See Also
    --------
    load_model : Read the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from partlearn.classification import PLKNN
    >>> from partlearn.persistence import load_model, save_model
    >>> X, y = [[0.0], [0.1], [1.0]], [[1, 1], [1, 0], [0, 1]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = save_model(PLKNN(1).fit(X, y), Path(folder) / "model.partlearn")
    ...     print(load_model(file).estimator.predict([[0.1], [0.9]]))
    [0 1]
    """
    if not isinstance(model, Model):
        model = Model(model)
    tree, arrays = check_model(model.estimator)
    document = {
        "format": FORMAT,
        "versions": {"partlearn": __version__, "scikit-learn": sklearn.__version__},
        "feature_names": _texts(model.feature_names),
        "target_names": _texts(model.target_names),
        "estimator": tree,
    }
    path = Path(path)
    with atomic_write(path) as file:
        write_archive(file, document, arrays)
    return path


def check_model(estimator: Any) -> tuple[Any, list[NDArray[Any]]]:
    """Encode an estimator for a file; raise if a file cannot hold it.

    Parameters
    ----------
    estimator : estimator
        As for :func:`save_model`, which raises the same error, but only after a fit.

    Returns
    -------
    tree : object
        Plain values.
    arrays : list of ndarray
        The arrays of the model.
    """
    name = type(estimator).__name__
    if type(estimator) not in class_names():
        raise ValueError(
            f"a {name} cannot be saved; models are estimators of partlearn, alone or "
            "in a pipeline of scikit-learn"
        )
    encoder = Encoder()
    return encoder.encode(estimator, name, object), encoder.arrays


def load_model(path: str | os.PathLike[str], *, limits: Limits | None = None) -> Model:
    """Load a model from a file of :func:`save_model`.

    The file holds data only. Classes must be on a fixed list, the state of each
    object is checked before the object is used, and nothing in the file is called. A
    model from an unknown source may be wrong or slow, but it cannot run code.

    Parameters
    ----------
    path : path-like
        The file.
    limits : Limits, default=None
        Limits on memory.

    Returns
    -------
    model : Model
        The estimator and the names it was fitted on.

    Raises
    ------
    DataError
        If the file is damaged, too large, of another version, or no model.

    See Also
    --------
    save_model : Write the file.

    Examples
    --------
    See :func:`save_model`.
    """
    path = Path(path)
    advice = "Give a file that save_model or `partlearn train --save` wrote."
    try:
        with open_archive(path, limits or Limits()) as archive:
            document = archive.structure()
            _check_document(document)
            versions = document["versions"]
            advice = _origin(versions)
            check_version("partlearn", versions, __version__)
            decoder = Decoder(archive, versions)
            estimator = decoder.decode(document["estimator"])
            decoder.check_members()
            _check_width(estimator, archive.budget.limits)
            return Model(estimator, document["feature_names"], document["target_names"])
    except DataError as error:
        error.advice = error.advice or advice
        raise error.at(path) from None
    except _UNFORESEEN as error:
        raise DataFormatError(
            f"the parts of the model do not fit together ({type(error).__name__})",
            path=path,
            advice=advice,
        ) from error


def _texts(names: Any) -> list[str] | None:
    return None if names is None else [str(name) for name in names]


def _check_document(document: Any) -> None:
    if not isinstance(document, dict) or "format" not in document:
        raise DataFormatError("not a model saved by partlearn")
    if document["format"] != FORMAT:
        layout = str(document["format"])[:40]
        raise DataFormatError(
            f"the layout of the model is {layout!r}, and partlearn {__version__} "
            f"reads {FORMAT!r}",
            advice="Train the model again with this version.",
        )
    versions = document.get("versions")
    if (
        document.keys() != _KEYS
        or not isinstance(versions, dict)
        or versions.keys() != {"partlearn", "scikit-learn"}
        or not all(
            isinstance(v, str) and _VERSION.fullmatch(v) for v in versions.values()
        )
    ):
        raise DataFormatError("the description of the model is incomplete")
    for key in ("feature_names", "target_names"):
        names = document[key]
        if names is not None and not (
            isinstance(names, list) and all(isinstance(n, str) for n in names)
        ):
            raise DataFormatError(f"{key} is not a list of strings")
    estimator = document["estimator"]
    if not isinstance(estimator, dict) or estimator.keys() != {"object"}:
        raise DataFormatError("the file holds no estimator")


def _check_width(estimator: Any, limits: Limits) -> None:
    """Raise for a model whose single rows would take much of the memory."""
    width, most = row_width(estimator), limits.max_bytes // _ROW_SHARE
    if width > most:
        raise DataLimitError(
            f"columns of a row could be {width:,}, and a model may make {most:,}",
            advice="If the file is trusted, pass limits=Limits(max_bytes=...).",
        )


def _origin(versions: dict[str, str]) -> str:
    """Return the remedy for a model that does not fit the present classes."""
    saved = versions["partlearn"]
    if saved == __version__:
        return (
            f"The file says that partlearn {saved} wrote it, which is the version that "
            "reads it: it is damaged, or older than that release. Train the model "
            "again."
        )
    return (
        f"It was saved with partlearn {saved}, and this is {__version__}: train it "
        f"again with this version, or load it with partlearn {saved}."
    )
