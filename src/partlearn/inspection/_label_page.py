"""HTML page of the label report."""

# SPDX-License-Identifier: BSD-3-Clause

import base64
import io
from pathlib import Path
from typing import Any

import numpy as np

from partlearn._extras import import_optional
from partlearn._typing import Array, Indices
from partlearn.inspection._label_report import OPEN, SETTLED, LabelReport
from partlearn.inspection._page import rendered

# Ten colors that most people can distinguish, on light and on dark ground.
_COLORS = (
    "#3b7dd8", "#d9822b", "#2f9e63", "#c94f4f", "#8b6fd1",
    "#9a6b4f", "#d16ba5", "#7f8c8d", "#a8a12f", "#2aa5b8",
)  # fmt: skip
_DRAWN = 1500  # points of the picture without scripts
_MARKED = 30  # labels whose names have room on the picture
_SIDE = 1000  # coordinates are whole numbers from 0 to this
_LINE = 34  # height of a name on the picture
_IMAGE_BYTES = 100_000  # of one image file
_IMAGE_TYPES = {
    b"\x89PNG": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
}


def label_page(report: LabelReport) -> str:
    """Render the report as HTML, with no outside request, readable without scripts."""
    places = _scaled(report.result.embedding)
    return rendered(
        "label_report",
        _embedded(report, places),
        title=report.title,
        r=report,
        settled=SETTLED,
        open=OPEN,
        points=_points(report, places),
        marks=_marks(report, places),
        bars=_bars(report),
        colors=_COLORS,
        pictures=[_picture(row.image) for row in report.review],
        side=_SIDE,
    )


def _scaled(Z: Array) -> Indices:
    """Coordinates as integers in a square; outliers are moved to its edge."""
    low, high = np.percentile(Z, [0.5, 99.5], axis=0)
    margin = 0.05 * np.where(high > low, high - low, 1.0)
    unit = (Z - low + margin) / np.where(high > low, high - low, 1.0)
    places = np.clip(unit / 1.1, 0, 1) * _SIDE
    places[:, 1] = _SIDE - places[:, 1]
    return places.round().astype(np.intp)


def _embedded(report: LabelReport, places: Indices) -> dict[str, Any]:
    """Rows for the script."""
    return {
        "names": report.names,
        "classes": report.classes,
        "label": report.label.tolist(),
        "confidence": (100 * report.result.confidence).round().astype(int).tolist(),
        "set": report.set_index.tolist(),
        "sets": report.sets,
        "xy": places.ravel().tolist(),
        "colors": _COLORS,
        "radius": _radius(report),
    }


def _radius(report: LabelReport) -> float:
    """Radius of a certain row; smaller for more rows."""
    return float(np.clip(160 / np.sqrt(report.n_rows), 3, 9))


def _points(report: LabelReport, places: Indices) -> list[tuple[int, int, float, str]]:
    """Positions, radii and colors of some rows, for readers without scripts."""
    order = np.random.RandomState(0).permutation(report.n_rows)[:_DRAWN]
    return [
        (
            int(places[i, 0]),
            int(places[i, 1]),
            round(_radius(report) + 10 * (1 - float(report.result.confidence[i])), 1),
            _COLORS[report.label[i] % len(_COLORS)],
        )
        for i in order
    ]


def _marks(report: LabelReport, places: Indices) -> list[tuple[int, int, str]]:
    """Names of labels at the medians of their rows."""
    if len(report.classes) > _MARKED:
        return []
    marks: list[tuple[int, int, str]] = []
    for j, name in enumerate(report.classes):
        if not (report.label == j).any():
            continue
        x, y = np.median(places[report.label == j], axis=0).astype(int).tolist()
        beside = [v for u, v, w in marks if abs(x - u) < 8 * len(name + w)]
        # Names that would lie over each other go above or below, while there is room.
        rows = sorted(range(y % _LINE, _SIDE, _LINE), key=lambda row: abs(row - y))
        free = (row for row in rows if all(abs(row - v) >= _LINE for v in beside))
        marks.append((x, next(free, y), name))
    return marks


def _bars(report: LabelReport) -> list[tuple[str, int, int]]:
    """Histogram of the confidences of ambiguous rows, before and after."""
    ambiguous = report.before < 1
    before, after = (
        np.histogram(np.minimum(values[ambiguous] + 1e-10, 1), 10, (0, 1))[0].tolist()
        for values in (report.before, report.result.confidence)
    )
    ranges = [f"{k / 10:.1f} to {(k + 1) / 10:.1f}" for k in range(10)]
    return list(zip(ranges, before, after, strict=True))


def _picture(image: Any) -> str | None:
    """Data URL of an image file or of an array of gray values."""
    if image is None:
        return None
    if isinstance(image, (str, Path)):
        path = Path(image)
        if not path.is_file() or path.stat().st_size > _IMAGE_BYTES:
            return None
        content = path.read_bytes()
        kind = next(
            (kind for head, kind in _IMAGE_TYPES.items() if content.startswith(head)),
            None,
        )
        if kind is None:
            return None
    else:
        content, kind = _png(np.asarray(image, dtype=np.float64)), "image/png"
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def _png(gray: Array) -> bytes:
    """Encode gray values as a PNG image, the largest one black."""
    if gray.ndim != 2 or not gray.size:
        raise ValueError(f"An image must be a 2-D array; got shape {gray.shape}.")
    gray = np.where(np.isfinite(gray), gray, 0.0)  # such as pixels outside a picture
    low, high = float(gray.min()), float(gray.max())
    shade = 255 - 255 * (gray - low) / ((high - low) or 1.0)
    images = import_optional("PIL.Image", "Pictures of arrays", "report")
    buffer = io.BytesIO()
    images.fromarray(shade.round().astype(np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()
