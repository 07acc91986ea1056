"""Read ARFF files, dense and sparse, with the labels of Mulan, MEKA or UCI.

Lists of labels beside them are read without document types or entities.
"""

# SPDX-License-Identifier: BSD-3-Clause

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import Bunch

from partlearn._arguments import argument
from partlearn._sizes import SIZES
from partlearn._typing import Array, Mask
from partlearn.io._bunch import make_bunch, worth_sparse
from partlearn.io._errors import (
    AmbiguousDataError,
    DataFormatError,
    DataLimitError,
    damage,
    located,
)
from partlearn.io._files import expand
from partlearn.io._label_columns import (
    all_names,
    label_cells,
    label_matrix,
    parse_sets,
)
from partlearn.io._label_forms import Cells, marks
from partlearn.io._options import Budget, ReadOptions, check_names, names_of

_MEKA = re.compile(r"-C\s+(-?\d{1,6})\b")
_NAME = re.compile(
    r"""\s*(?: '((?:[^'\\]|\\.)*)' | "((?:[^"\\]|\\.)*)" | (\S+) )\s*(.*)""", re.VERBOSE
)
_ESCAPE = re.compile(r"\\(.)")
_NUMERIC = {"numeric", "real", "integer"}
MISSING = "?"
_MAX_DEPTH = 64


@dataclass(frozen=True)
class Attribute:
    """A column: its name and, if it is nominal, its values."""

    name: str
    kind: str  # "numeric", "nominal", "string" or "date"
    values: tuple[str, ...] = ()


def _name(match: re.Match[str]) -> str:
    quoted = match.group(1) or match.group(2) or ""
    return match.group(3) or _ESCAPE.sub(r"\1", quoted)


def _unquote(part: str) -> str:
    part = part.strip()
    if part[:1] not in ("'", '"'):
        return part
    if len(part) < 2 or part[-1] != part[0]:
        raise DataFormatError("a quoted value is not closed")
    return _ESCAPE.sub(r"\1", part[1:-1])


def split_row(line: str) -> list[str]:
    """Return the values of a dense row or of a list of nominal values."""
    if "'" not in line and '"' not in line:
        return [part.strip() for part in line.split(",")]
    return [_unquote(part) for part in _quoted_parts(line)]


def split_sparse(line: str) -> Iterator[tuple[int, str]]:
    """Yield (column, value) pairs of a sparse row in braces."""
    inner = line.strip()
    if not (inner.startswith("{") and inner.endswith("}")):
        raise DataFormatError("a sparse row must be in braces")
    inner = inner[1:-1].strip()
    if not inner:
        return
    plain = "'" not in inner and '"' not in inner
    for part in inner.split(",") if plain else _quoted_parts(inner):
        pair = part.split(None, 1)
        if len(pair) != 2 or not pair[0].isdecimal() or len(pair[0]) > 10:
            raise DataFormatError(
                f"{part.strip()[:40]!r} is not a pair of column and value"
            )
        yield int(pair[0]), _unquote(pair[1])


def _quoted_parts(text: str) -> Iterator[str]:
    """Split at commas outside quotes."""
    quote, start, escaped = "", 0, False
    for i, c in enumerate(text):
        if escaped:
            escaped = False
        elif c == "\\":
            escaped = True
        elif quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c == ",":
            yield text[start:i]
            start = i + 1
    yield text[start:]


def _attribute(rest: str) -> Attribute:
    match = _NAME.match(rest)
    if match is None or not match.group(4):
        raise DataFormatError("an attribute needs a name and a type")
    name, kind = _name(match), match.group(4).strip()
    if kind.startswith("{"):
        if not kind.endswith("}"):
            raise DataFormatError(f"the values of attribute {name!r} are not closed")
        values = tuple(split_row(kind[1:-1]))
        if len(set(values)) != len(values):
            raise DataFormatError(f"attribute {name!r} lists a value twice")
        return Attribute(name, "nominal", values)
    word = kind.split()[0].lower()
    if word in _NUMERIC:
        return Attribute(name, "numeric")
    if word in ("string", "date"):
        return Attribute(name, word)
    raise DataFormatError(f"attribute {name!r} has the unknown type {kind[:40]!r}")


def header(lines: Iterator[tuple[int, str]]) -> tuple[str, list[Attribute]]:
    """Read up to ``@data``: the relation's name and the attributes."""
    relation, attributes = "", []
    seen: set[str] = set()
    for number, line in lines:
        word, _, rest = line.partition(" ") if " " in line else line.partition("\t")
        keyword = word.strip().lower()
        with located(f"line {number}"):
            if keyword == "@relation":
                match = _NAME.match(rest)
                if match is not None:
                    # MEKA puts options into the (quoted) name of the relation.
                    whole = match.group(3) is None
                    relation = _name(match) if whole else rest.strip()
            elif keyword == "@attribute":
                attribute = _attribute(rest)
                if attribute.name in seen:
                    raise DataFormatError(f"attribute {attribute.name!r} occurs twice")
                seen.add(attribute.name)
                attributes.append(attribute)
            elif keyword == "@data":
                return relation, attributes
            else:
                raise DataFormatError(f"{line[:40]!r} is not an ARFF declaration")
    raise DataFormatError("there is no @data section")


def sibling_xml(path: Path) -> Path | None:
    """Return the label list beside ``name.arff`` or ``name-train.arff``."""
    stem = path.name.removesuffix(".gz").removesuffix(".arff")
    for candidate in (stem, stem.removesuffix("-train").removesuffix("-test")):
        xml = path.with_name(candidate + ".xml")
        if xml.is_file():
            return xml
    return None


def mulan_labels(path: Path) -> list[str]:
    """Return the names of all labels, nested ones included, in file order."""
    if path.stat().st_size > SIZES.arff_bytes:
        raise DataLimitError("the label list is too large", path=path)
    names: list[str] = []
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _MAX_DEPTH:
            raise DataFormatError("labels are nested too deeply", path=path)
        if tag.rsplit(":", 1)[-1] == "label":
            if "name" not in attributes:
                raise DataFormatError("a label has no name", path=path)
            names.append(attributes["name"])

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1

    def refuse(*_: Any) -> None:
        raise DataFormatError(
            "document types and entities are not allowed in a label list", path=path
        )

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    with located(path=path), damage("the XML is damaged"):
        parser.Parse(path.read_bytes(), True)
    if not names:
        raise DataFormatError("the XML has no labels", path=path)
    return names


def _lines(data: bytes) -> Iterator[tuple[int, str]]:
    """Yield numbered lines without comments, decoded as UTF-8 or else Latin-1."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    for number, line in enumerate(StringIO(text), start=1):
        line = line.strip()
        if line and not line.startswith("%"):
            yield number, line


class _Values:
    """Cells of an ARFF file as a sparse matrix of numbers and category codes."""

    def __init__(self, attributes: list[Attribute], labels: list[int]) -> None:
        self.attributes = attributes
        self.rows, self.columns, self.numbers = array("q"), array("q"), array("d")
        self.codes = [_codes(a, j in labels) for j, a in enumerate(attributes)]
        self.n_rows = 0

    def number(self, j: int, value: str) -> float:
        if value == MISSING:
            return float("nan")
        attribute, codes = self.attributes[j], self.codes[j]
        if attribute.kind == "numeric":
            try:
                return float(value)
            except ValueError:
                raise DataFormatError(
                    f"attribute {attribute.name!r} is numeric; found {value[:40]!r}"
                ) from None
        if attribute.kind != "nominal":  # text: 0 is for cells that are left out
            return codes.setdefault(value, len(codes) + 1.0)
        if value not in codes:
            raise DataFormatError(
                f"{value[:40]!r} is not a value of attribute {attribute.name!r}"
            )
        return codes[value]

    def add(self, line: str) -> None:
        d = len(self.attributes)
        if line.startswith("{"):
            seen = -1
            for j, value in split_sparse(line):
                if j >= d:
                    raise DataFormatError(
                        f"column {j} is out of range for {d} attributes"
                    )
                if j <= seen:
                    raise DataFormatError(f"column {j} is out of order")
                seen = j
                self._put(j, self.number(j, value))
        else:
            values = split_row(line)
            if len(values) != d:
                raise DataFormatError(f"{len(values)} values for {d} attributes")
            for j, value in enumerate(values):
                number = self.number(j, value)
                if number != 0.0:
                    self._put(j, number)
        self.n_rows += 1

    def _put(self, j: int, number: float) -> None:
        self.rows.append(self.n_rows)
        self.columns.append(j)
        self.numbers.append(number)

    def matrix(self) -> Any:
        """Return codes and numbers; absent entries are 0 or the first nominal value."""
        shape = (self.n_rows, len(self.attributes))
        coordinates = (np.asarray(self.rows), np.asarray(self.columns))
        cells = sp.coo_array((np.asarray(self.numbers), coordinates), shape=shape)
        return cells.tocsc()


def read_arff(path: Path, options: ReadOptions, budget: Budget) -> Bunch:
    """Read an ARFF file; labels are those of MEKA's ``-C``, Mulan's XML or `labels`."""
    lines = _lines(expand(path, budget))
    relation, attributes = header(lines)
    if not attributes:
        raise DataFormatError("there are no attributes")
    labels, origin = _labels(path, relation, attributes, options)
    values = _Values(attributes, labels)
    for number, line in lines:
        try:
            values.add(line)
        except DataFormatError as error:
            error.where = error.where or f"line {number}"
            raise
    if not values.n_rows:
        raise DataFormatError("there are no rows")
    cells = values.matrix()
    budget.matrix(values.n_rows, len(labels), 1, "the label matrix")
    Y, names = _label_part(values, cells, labels, options, budget)
    ignored = _by_name(list(options.ignore), attributes, "ignore")
    features = [j for j in range(len(attributes)) if j not in {*labels, *ignored}]
    X, notes = _feature_part(values, cells, features, budget)
    as_candidates = _are_candidates(Y, labels, options)
    return make_bunch(
        X,
        Y if as_candidates else None,
        None if as_candidates else Y,
        options,
        budget,
        target_names=names,
        feature_names=[attributes[j].name for j in features],
        descr=f"Read from an ARFF file, labels by {origin}.{notes}",
        key_argument=argument("labels"),
        variables={"labels": ", ".join(attributes[j].name for j in labels[:3])},
    )


def _labels(
    path: Path, relation: str, attributes: list[Attribute], options: ReadOptions
) -> tuple[list[int], str]:
    """Return the label columns and a note on how they were found."""
    given, known = options.labels, {a.name for a in attributes}
    if isinstance(given, str) and given.endswith(".xml") and given not in known:
        return _by_name(mulan_labels(Path(given)), attributes), f"labels of {given}"
    if isinstance(given, str) and given.removeprefix("-").isdigit():
        given = given if given in known else int(given)
    if isinstance(given, int):
        return _edge(given, len(attributes)), f"labels={given}"
    if given is not None:
        return _by_name(names_of(given, known), attributes), "labels="
    meka = _MEKA.search(relation)
    if meka is not None:
        return _edge(int(meka.group(1)), len(attributes)), f"MEKA's -C {meka.group(1)}"
    xml = sibling_xml(path)
    if xml is not None:
        return _by_name(mulan_labels(xml), attributes), f"Mulan's {xml.name}"
    named = [j for j, a in enumerate(attributes) if a.name.lower() == "class"]
    last = len(attributes) - 1
    if len(named) == 1:
        return named, "the attribute 'class'"
    binary = {j for j, a in enumerate(attributes) if len(a.values) == 2}
    nominal = {j for j, a in enumerate(attributes) if a.kind == "nominal"}
    if last in nominal and not (last in binary and last - 1 in binary):
        return [last], "the last attribute"
    raise AmbiguousDataError(
        "no attributes are marked as labels",
        advice=f"Put Mulan's .xml beside it, or pass {argument('labels')}: their "
        "number (first: 6, last: -6), their names or the path of the .xml.",
    )


def _edge(n: int, total: int) -> list[int]:
    if not 0 < abs(n) < total:
        raise DataFormatError(f"{abs(n)} labels do not fit into {total} attributes")
    return list(range(n)) if n > 0 else list(range(total + n, total))


def _by_name(
    names: list[str], attributes: list[Attribute], option: str = "labels"
) -> list[int]:
    place = {a.name: j for j, a in enumerate(attributes)}
    return [place[name] for name in check_names(names, place, option, "attribute")]


def _are_candidates(Y: Mask, labels: list[int], options: ReadOptions) -> bool:
    """Whether labels are candidate sets, which only `task` can say."""
    if options.task is not None:
        return options.task in ("pll", "pml")
    if len(labels) > 1 or (Y.sum(axis=1) == 1).all():
        return False
    raise AmbiguousDataError(
        "one attribute holds sets of labels, which may be candidates of one unknown "
        "label or several relevant labels",
        advice=f"Pass {argument('task')}: pll, pml or multilabel.",
    )


def _column(cells: Any, j: int) -> Array:
    return np.asarray(cells[:, [j]].toarray()).ravel()


def _label_part(
    values: _Values, cells: Any, labels: list[int], options: ReadOptions, budget: Budget
) -> tuple[NDArray[Any], list[str]]:
    """Read one attribute of classes or sets, or one binary attribute per label."""
    if len(labels) == 1:
        attribute = values.attributes[labels[0]]
        column = _text_column(values, _column(cells, labels[0]), labels[0])
        where = f"attribute {attribute.name!r}"
        # A declaration lists whole labels.
        whole = attribute.kind == "nominal" and options.sep is None
        sets = parse_sets(column, options.sep, where, split=not whole)
        single = all(len(labels) < 2 for labels in sets)
        if single and (column.codes < 0).any():
            row = int(np.flatnonzero(column.codes < 0)[0])
            raise DataFormatError(f"row {row} has no class", where=where)
        names = (list(attribute.values) if whole else []) or all_names(sets)
        return label_matrix(column, sets, names, budget, np.bool_), names
    names = [values.attributes[j].name for j in labels]
    Y = np.zeros((values.n_rows, len(labels)), dtype=bool)
    for k, (j, name) in enumerate(zip(labels, names, strict=True)):
        column = _text_column(values, _column(cells, j), j)
        if (column.codes < 0).any():
            raise DataFormatError("a label is missing", where=f"attribute {name!r}")
        Y[:, k] = marks({name: column})[:, 0]
    return Y, names


def _text_column(values: _Values, numbers: Array, j: int) -> Cells:
    attribute = values.attributes[j]
    if attribute.kind == "nominal":
        codes = np.nan_to_num(numbers, nan=-1).astype(np.int64)
        return Cells(codes, list(attribute.values))
    if attribute.kind == "numeric":
        return label_cells(numbers)
    return Cells(np.nan_to_num(numbers).astype(np.int64) - 1, list(values.codes[j]))


def _feature_part(
    values: _Values, cells: Any, features: list[int], budget: Budget
) -> tuple[Any, str]:
    """Return the data matrix, and a note on how nominal attributes were coded."""
    notes = []
    chosen = [values.attributes[j] for j in features]
    text = [a.name for a in chosen if a.kind in ("string", "date")]
    if text:
        raise AmbiguousDataError(
            f"attributes {', '.join(map(repr, text[:5]))} hold text, not features",
            advice=f"Leave them out with {argument('ignore')}.",
        )
    if not features:
        raise DataFormatError("there are no attributes besides the labels")
    first = np.zeros(len(chosen))
    for k, attribute in enumerate(chosen):
        meaning = _meaning(attribute)
        if meaning is not None:
            first[k] = meaning[0]
        elif attribute.kind == "nominal":
            table = ", ".join(f"{i}={v}" for i, v in enumerate(attribute.values))
            notes.append(f"\n{attribute.name}: {table}")
    note = "".join([*notes[:50], "\n..."] if len(notes) > 50 else notes)
    cells = cells[:, features]
    cells.eliminate_zeros()
    m, d = cells.shape
    if not first.any() and worth_sparse(cells.nnz, m * d):
        return cells, note
    budget.matrix(m, d, 8, "the data matrix")
    X = cells.toarray() + first
    few = worth_sparse(int(np.count_nonzero(X)), m * d)
    return sp.csr_array(X) if few else X, note


def _meaning(attribute: Attribute) -> Array | None:
    """Return the numbers that nominal values such as {0, 1} stand for."""
    try:
        numbers = np.asarray([float(v) for v in attribute.values])
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() and len(numbers) else None


def _codes(attribute: Attribute, is_label: bool) -> dict[str, float]:
    """Map nominal values to numbers, shifted so that the first value is 0."""
    meaning = None if is_label else _meaning(attribute)
    if meaning is None:
        meaning = np.arange(len(attribute.values), dtype=np.float64)
    return dict(zip(attribute.values, (meaning - meaning[:1]).tolist(), strict=True))
