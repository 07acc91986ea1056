"""``partlearn disambiguate``: the most likely label of each row."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from partlearn._registry import DEFAULT_METHOD, PARTIAL_LABEL_ROLES, build
from partlearn._sizes import SIZES
from partlearn.cli import _input, _options, _tags
from partlearn.cli._console import say

if TYPE_CHECKING:
    from partlearn import Disambiguation
    from partlearn.tables import Dataset

_FIRST_ERRORS = 5  # probably wrong labels that are printed


@_options.with_options()
def disambiguate(
    data: _options.Input,
    *,
    output: _options.Output,
    options: _options.DataOptions,
    method: str = DEFAULT_METHOD,
    param: _options.Param = None,
    html: Path | None = None,
    image: str | None = None,
    image_folder: Path | None = None,
    corrections: Path | None = None,
    annotator: str | None = None,
    gold: str | None = None,
    miss_rate: str | None = None,
) -> None:
    """Find the most likely label of each row, with its confidence; or score tags.

    The result has one line per row: its number or id, the most likely label, its
    confidence, the runner-up and the candidate set. Text, dates and missing values are
    encoded. With --task tags: the listed tags that are not doubtful, the doubtful and
    the missing tags, and the confidences. If every row has one label, --miss-rate finds
    labels that are probably wrong.

    Parameters
    ----------
    method
        Reducer, selector or learner with confidences.
    html
        Write the label report, an HTML page, to this file.
    image
        Column with paths of local image files; small ones are shown on the page. It is
        not a feature.
    image_folder
        Folder that holds the images, by default the folder of the data. Paths are
        relative to it.
    corrections
        CSV with the columns row and label, as the page saves it. These labels are
        certain.
    annotator
        Name of the annotator who gave the corrections: they count as votes, not as true
        labels.
    gold
        Column with the true labels of a random sample of rows, empty elsewhere. They
        are certain, and give an estimate of the accuracy.
    miss_rate
        Share of rows whose labels are wrong, such as 0.1. auto estimates it from --gold
        or, if every row has one label, from the data. The columns wrong and look rank
        the rows to review.
    """
    rate: Any = _input.parse_amount(miss_rate, "--miss-rate")
    output.check(data, options.votes, corrections, html=html)
    if image is not None and html is None:
        raise ValueError("--image is for the page; add --html FILE")
    with output.open() as writer:
        result, right, contents = labels_of_file(
            data,
            options,
            method,
            param,
            corrections,
            annotator,
            no_features={"image": image},
            gold=gold,
            miss_rate=rate,
        )
        images = None
        if image is not None:
            images = _images(contents or {}, image, data, image_folder)
        name = (options.id or ["row"])[0]
        columns = (
            result.columns()
            if options.several
            else _columns(result, options.sep or "|")
        )
        if name in columns:
            raise ValueError(
                f"--id: the result has a column {name!r} as well; rename yours"
            )
        table = {name: result.index, **columns}
        for start in range(0, len(result.index), SIZES.block_rows):
            rows = slice(start, start + SIZES.block_rows)
            writer.write({name: column[rows] for name, column in table.items()})
    told = _tags.believed if options.several else _found
    with _input.notes():
        outcome, (first, *lines) = told(result, right)
        if html is not None:
            shown = {} if options.several else {"images": images}
            title = f"{'Tags' if options.several else 'Labels'} of {data.name}"
            result.to_html(html, rows=contents, truth=right, title=title, **shown)
    if html is not None:
        lines.append(f"Label report: {html}")
    output.report(outcome, f"{first}: {output.out}", *lines)


def _found(result: "Disambiguation", right: Any) -> tuple[dict[str, Any], list[str]]:
    """Return facts about the labels of rows, and lines to print."""
    outcome = _outcome(result, right)
    lines = [
        f"{outcome['rows']} rows labeled by {outcome['method']}",
        *_headline(result, outcome),
    ]
    if result.quality is not None:
        q = result.quality
        outcome["gold"] = q._asdict()
        lines.append(
            f"{q.n_right} of {q.n_gold} known labels were found without knowing them: "
            f"about {q.accuracy:.1%} of all labels are right "
            f"({q.level:.0%} interval {q.low:.1%} to {q.high:.1%})."
        )
    if outcome["accuracy"] is not None:
        lines.append(f"Right according to the true labels: {outcome['accuracy']:.1%}")
    if outcome["ambiguous_rows"]:
        lines.append(
            f"Right among the {outcome['ambiguous_rows']} rows with several "
            f"candidates: {outcome['ambiguous_accuracy']:.1%} "
            f"(chance {outcome['chance']:.1%})"
        )
    return outcome, lines


def _headline(result: "Disambiguation", outcome: dict[str, Any]) -> list[str]:
    """Describe settled rows, the expected accuracy and likely errors."""
    from partlearn.inspection import OPEN, SETTLED

    lines = []
    low, high = outcome["expected_right"]
    rate = result.miss_rate
    if outcome["several"]:
        lines.append(
            f"{outcome['several']} had several candidates: {outcome['settled']} are "
            f"settled (confidence {SETTLED:g} or more), {outcome['leaning']} lean "
            f"towards one label, {outcome['open']} are open (less than {OPEN:g} ahead "
            "of the second)."
        )
    elif rate is None and outcome["annotators"] is None:
        lines.append(
            "Every row has one label: nothing to choose. Use --miss-rate auto to find "
            "labels that are probably wrong."
        )
        return lines
    agree = outcome["halves_agree"]
    unknown = outcome["accuracy"] is None and result.quality is None
    if unknown and agree is not None:
        lines.append(
            f"Expected to be right: {low:.0%} to {high:.0%}. Annotators share errors, "
            "which their agreement does not show: labels found from two halves of "
            f"them agree on {agree:.0%} of the rows. Known labels (--gold) say more."
        )
    elif unknown:
        lines.append(
            f"Expected to be right: {low:.0%} to {high:.0%}, if false labels are "
            "independent of the true one. Where labels overlap, confidences may be too "
            "high; known labels (--gold) measure it."
        )
    if unknown and not outcome["tested"]:
        lines.append(_input.UNTESTED)
    if outcome["together"]:
        first, second, lift = outcome["together"][0]
        lines.append(
            f"False labels are not independent of the true one: {second!r} comes with "
            f"{first!r} {lift:.1f} times as often as by chance. Confidences are too "
            "high; check some of these rows."
        )
    if rate is None:
        return lines
    errors = result.label_errors()
    share = f"{rate.rate:.1%}"
    if rate.low < rate.high:
        share = f"about {rate.rate:.1%} ({rate.low:.1%} to {rate.high:.1%})"
    lines.append(
        f"Labels of {len(errors)} rows are probably wrong, at an assumed share of "
        f"{share}. The column look ranks the rows to review"
        + (", starting with:" if len(errors) else ".")
    )
    for i in errors[:_FIRST_ERRORS]:
        given = "|".join(map(str, result.classes[result.candidates[i]]))
        lines.append(
            f"  {result.index[i]}: {given} is {result.label[i]} instead "
            f"(wrong: {result.wrong[i]:.2f})"
        )
    return lines


def _images(
    contents: dict[str, Any], column: str, data: Path, folder: Path | None
) -> list[Path]:
    """Take the paths of the pictures out of the contents.

    All pictures must lie in one folder, so that a table cannot show other files.
    """
    from partlearn.io import DataFormatError

    folder = data.parent if folder is None else folder
    paths = [folder / str(name) for name in contents.pop(column)]
    root = folder.resolve()
    for row, path in enumerate(paths):
        if "\0" in str(path) or not path.resolve().is_relative_to(root):
            raise DataFormatError(
                f"the picture {str(path)[:200]!r} is outside of the folder {root}",
                path=data,
                where=f"row {row} of column {column!r}",
                advice="Name the folder of the pictures with --image-folder.",
            )
    return paths


def labels_of_file(
    path: Path,
    options: _options.DataOptions,
    method: str,
    param: list[str] | None,
    corrections: Path | None,
    annotator: str | None = None,
    *,
    no_features: Mapping[str, str | None],
    **beside: Any,
) -> tuple[Any, Any, dict[str, Any] | None]:
    """Read labels or tags of a file, its true labels and the contents of its rows.

    Columns `no_features`, by the option that names them, are among the contents only.
    """
    from partlearn import disambiguate as find_labels
    from partlearn.io import read_corrections
    from partlearn.tables import check_names, make_tag_learner

    params = _input.parse_params(param or [])
    estimator = (
        make_tag_learner(method, params)
        if options.several
        else build(method, params, *PARTIAL_LABEL_ROLES, seed=0)
    )
    if annotator is not None and corrections is None:
        raise ValueError("--annotator needs --corrections, the answers that it names")
    fixed = None if corrections is None else read_corrections(corrections)
    empty: Literal["drop", "all"] = "drop" if options.several else "all"
    data = _input.read_data(path, options, table=options.several, empty=empty)
    if beside.get("gold") is not None and data.bunch is not None:
        raise ValueError(f"--gold is for tables; {path.name} is not a table")
    for option, column in no_features.items():
        if column is not None and data.bunch is None:
            data.ignored += check_names([column], data.X, option)
        elif column is not None:
            raise ValueError(
                f"--{option} is for tables, and {path.name} is none; leave out "
                f"--{option}"
            )
    # What is wrong with the truth is said before the fit, which takes time.
    right: Any = data.true_tags() if options.several else data.true_labels()
    _input.refuse_missing_values(data)
    with _input.notes():
        result: Any = find_labels(
            data.X,
            data.y,
            method=estimator,
            corrections=fixed,
            annotator=annotator,
            encoder=data.new_encoder(),
            sep=options.sep,
            bags=data.bags,
            task=data.task,
            **beside,
        )
    rows = slice(None) if result.rows is None else result.rows
    if data.bunch is None:
        _input.echo_labels(result.read_as)
        silent = data.n_rows - len(result.index)  # nobody voted on them
        if silent:
            say(f"Note: {silent} rows have no label and were left out.")
    if data.bunch is None and not options.several:
        _say_left_out(data)
        bare = int(result.candidates.all(axis=1).sum())
        weighted = result.read_as.startswith("weights")  # which may all be positive
        if bare and not weighted and len(result.classes) > 2:
            say(
                f"Note: rows with no label, or with all of them: {bare}. Every label "
                "is possible there."
            )
    if right is not None and not options.several:
        right = right[rows]
    return result, right, data.contents(rows)


def _say_left_out(data: "Dataset") -> None:
    """Name columns that are no features, unless the user said so."""
    from partlearn.tables import find_kinds

    given = {name for names in data.roles.values() for name in names}
    hidden = {*given, *data.label_names, *data.hidden}
    free = {name: column for name, column in data.X.items() if name not in hidden}
    kinds = find_kinds(free, {})
    out = [f"{name!r} ({kind.reason})" for name, kind in kinds.items() if not kind.used]
    if out:
        more = ", ..." if len(out) > 5 else ""
        say(
            f"Note: columns {', '.join(out[:5])}{more} were left out as constants or "
            "names of rows; --text, --category or --number makes features of them."
        )


def _columns(result: "Disambiguation", sep: str) -> dict[str, Any]:
    columns = {
        "label": result.label,
        "confidence": result.confidence.round(6),
        "margin": result.margin.round(6),
        "runner_up": ["" if name is None else name for name in result.runner_up],
        "candidates": [sep.join(result.classes[row]) for row in result.candidates],
    }
    if result.bags is not None:
        columns["bag"] = ["" if bag is None else bag for bag in result.bags]
    if result.miss_rate is not None:
        columns |= {"wrong": result.wrong.round(6), "look": result.look}
    return columns


def _outcome(result: "Disambiguation", truth: Any) -> dict[str, Any]:
    shares: list[Any] = [None] * 4
    if truth is not None:
        shares = [None if n != n else n for n in result.agreement(truth)]
    accuracy, n_ambiguous, ambiguous_accuracy, chance = shares
    return {
        "method": result.method,
        "rows": len(result.label),
        "classes": result.classes.tolist(),
        "mean_confidence": float(result.confidence.mean()),
        **result.summary(),
        "annotators": None
        if result.annotators is None
        else len(result.annotators.name),
        "miss_rate": None if result.miss_rate is None else result.miss_rate._asdict(),
        "probably_wrong": result.index[result.label_errors()].tolist(),
        "accuracy": accuracy,
        "ambiguous_rows": n_ambiguous,
        "ambiguous_accuracy": ambiguous_accuracy,
        "chance": chance,
    }
