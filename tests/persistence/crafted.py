"""Sound model files, changed before they are written, and how they are refused."""

import io
import json
import zipfile

import numpy as np
import pytest
from tools.fuzz.watch import nothing_but

from partlearn.classification import PLKNN
from partlearn.io import DataError
from partlearn.persistence import load_model
from partlearn.persistence._archive import write_archive
from partlearn.persistence._encode import Encoder
from partlearn.persistence._model import FORMAT, __version__, sklearn

X = np.random.default_rng(0).random((12, 3))
S = np.eye(3, dtype=bool)[np.arange(12) % 3] | np.eye(3, dtype=bool)[0]


def load(path, **options):
    """Load a model; fail on whatever reaches outside of the file."""
    with nothing_but(path):
        return load_model(path, **options)


def members(model=None):
    """Content of the file of a model by member."""
    buffer, encoder = io.BytesIO(), Encoder()
    model = PLKNN(2).fit(X, S) if model is None else model
    with pytest.MonkeyPatch.context() as patch:  # whoever crafts files checks nothing
        patch.setattr("partlearn.persistence._encode.check_sound", lambda model: None)
        tree = encoder.encode(model, "model", object)
    document = {
        "format": FORMAT,
        "versions": {"partlearn": __version__, "scikit-learn": sklearn.__version__},
        "feature_names": None,
        "target_names": None,
        "estimator": tree,
    }
    write_archive(buffer, document, encoder.arrays)
    with zipfile.ZipFile(buffer) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path, content):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return path


def refuse(path, message, **options):
    with pytest.raises(DataError, match=message) as caught:
        load(path, **options)
    assert "\n" not in str(caught.value)
    assert path.name in str(caught.value)
    assert caught.value.advice  # what to do next


def edited(path, edit, model=None):
    """Write a sound file with a changed document."""
    content = members(model)
    document = json.loads(content["model.json"])
    document = edit(document) or document
    content["model.json"] = json.dumps(document)
    return write(path, content)


def state(document):
    return document["estimator"]["object"]["state"]
