"""Label lists of Mulan: small XML files, read without documents types or entities."""

# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path
from typing import Any
from xml.parsers import expat

from partlearn.io._errors import DataFormatError, DataLimitError

_MAX_BYTES = 2**26
_MAX_DEPTH = 64


def sibling_xml(path: Path) -> Path | None:
    """Return the label list beside ``name.arff`` or ``name-train.arff``."""
    stem = path.name.removesuffix(".gz").removesuffix(".arff")
    for candidate in (stem, stem.removesuffix("-train").removesuffix("-test")):
        xml = path.with_name(candidate + ".xml")
        if xml.is_file():
            return xml
    return None


def mulan_labels(path: Path) -> list[str]:
    """Names of all labels, in the order of the file; nested labels count too."""
    if path.stat().st_size > _MAX_BYTES:
        raise DataLimitError("a label list is never this large", path=path)
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
    try:
        parser.Parse(path.read_bytes(), True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        if isinstance(error, DataFormatError):
            raise
        raise DataFormatError(f"the XML is damaged ({error})", path=path) from error
    if not names:
        raise DataFormatError("the XML names no labels", path=path)
    return names
