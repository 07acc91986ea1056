"""``partlearn train`` and ``partlearn predict``: from any table to labels."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partlearn._registry import DEFAULT_METHOD
from partlearn._sizes import SIZES
from partlearn.cli import _input, _options
from partlearn.cli._console import plain, print_json, row_progress
from partlearn.cli._tags import tag_score_table

if TYPE_CHECKING:
    from partlearn.tables import Dataset, QualityScore

_LABELS = 12  # labels whose quality is printed
_DECIDED = 8  # columns named of those that decided


@_options.with_options()
def train(
    data: list[Path],
    *,
    save: Path,
    options: _options.DataOptions,
    method: str = DEFAULT_METHOD,
    estimator: str | None = None,
    param: _options.Param = None,
    groups: str | None = None,
    gold: str | None = None,
    weight: str | None = None,
    class_weight: list[str] | None = None,
    folds: Annotated[int | None, typer.Option(min=0)] = None,
    time: str | None = None,
    corrections: Path | None = None,
    scheduler: str | None = None,
    as_json: _options.Json = False,
) -> None:
    """Train a classifier on a table and save it.

    Prints the kind of each column, and estimates the quality of labels of new rows on
    held-out rows: the share of predictions that are candidates, and the approximated
    accuracy, also by label. Baselines are a random label, the most frequent label, and
    the same learner on rows with a single candidate. Without --folds, only a part of
    more than 25,000 rows is held out, once. No rows are held out from Parquet files
    that are read block by block.

    Parameters
    ----------
    data
        CSV, TSV, Parquet, Arrow or JSON lines; - is standard input. Several Parquet
        files are read block by block, and may exceed the memory.
    save
        File for the fitted model.
    method
        Learner, or reducer in front of PL-KNN.
    estimator
        Another classifier, such as sklearn.linear_model:LogisticRegression.
    groups
        Column of groups, such as the customer. Rows of a group are held out together
        where the quality is estimated, and in the folds of methods that have some. The
        column is not a feature.
    gold
        Column with the true labels of a random sample of rows, empty elsewhere. They
        are certain, and give an estimate of the accuracy on new rows.
    weight
        Column of sample weights; not a feature.
    class_weight
        balanced, or label=weight, repeated: the cost of missing a label.
    folds
        Number of folds; 0 for none. By default 3, or for more than 25,000 rows one
        split into 20,000 training rows and 5,000 test rows.
    time
        Column of dates or numbers. Models are trained on earlier rows and tested on
        later ones. The column remains a feature, unless --ignore names it too.
    corrections
        CSV with the columns row and label, as the label report saves it. These labels
        are certain.
    scheduler
        Address of a Dask scheduler (tcp://HOST:PORT). Its workers read and fit Parquet
        files block by block.
    """
    from partlearn import PartialClassifier, tables
    from partlearn.persistence import check_model, save_model

    several = options.several
    _options.check_files([*data, options.votes, corrections], {"--save": save})
    if folds == 1:
        raise ValueError("--folds must be 0 (none), or 2 and more; got 1")
    if several and corrections is not None:
        raise ValueError(
            "--corrections of train are for single labels; correct tags in the table"
        )
    blocks = scheduler is not None or len(data) > 1
    whole = {"votes": options.votes, "time": time, "corrections": corrections}
    if blocks and (given := [o for o, value in whole.items() if value is not None]):
        raise ValueError(
            f"--{given[0]} goes with a single table, not with blocks of rows; leave it "
            "out, or put the rows into one file"
        )
    # A known label may stand in a row without votes.
    known = corrections is not None or gold is not None
    table = _input.read_data(
        data if blocks else data[0],
        options,
        table=True,
        empty="all" if known else "drop",
    )
    build = tables.make_tag_learner if several else tables.make_learner
    named: dict[str, Any] = {"labels": None}
    if table.label_names:
        named = {table.y.form or "labels": table.label_names}
    model = PartialClassifier(
        build(estimator or method, _input.parse_params(param or [])),
        **named,
        **options.roles,
        ignore=[name for name in table.hidden if name != gold],
        sep=options.sep,
        groups=groups,
        bags=table.bags,
        gold=gold,
        weight=weight,
        task="tags" if several else "single",
        class_weight=_input.parse_class_weight(class_weight or []),
    )
    check_model(model)  # rather now than after the time that fitting takes
    scores: list[Any] = []
    how = ""
    with _input.notes():
        if blocks:
            _fit_blocks(model, table, data, scheduler)
        else:
            n = _fit_table(model, table, options, corrections, time)
            most = SIZES.exact_rows if folds is None and n > SIZES.exact_rows else None
            folds = 3 if folds is None else folds
            how = _how(folds, time, most)
            if folds:
                scores = _held_out(model, table, cv=folds, time=time, max_rows=most)
    save_model(model, save)
    if as_json:
        print_json(_outcome(model, scores, save))
        return
    print(plain(model.encoder_.report()))
    learner = type(model.estimator_).__name__
    bare = model.n_unlabeled_
    print(
        f"\n{learner}: {table.n_rows - bare} rows, {model.encoder_.n_features_out_} "
        f"features, {len(model.classes_)} {'tags' if several else 'labels'}"
        + (f"; {bare} rows without labels left out" if bare else "")
    )
    decided = [f"{name} {v:.2f}" for name, v in model.column_importances().items()]
    if decided:
        more = f" and {len(decided) - _DECIDED} more" if decided[_DECIDED:] else ""
        print(f"What decided: {plain(', '.join(decided[:_DECIDED]))}{more}")
    if scores:
        print(plain((tag_score_table if several else _score_table)(scores, how)))
    print(f"Model: {save}")


def _fit_table(
    model: Any,
    table: "Dataset",
    options: _options.DataOptions,
    corrections: Path | None,
    time: str | None,
) -> int:
    """Fit a PartialClassifier on a table; returns the number of rows with labels."""
    import numpy as np

    from partlearn.io import read_corrections
    from partlearn.tables import labels_by_place, read_times

    rows = np.arange(table.n_rows)
    if time is not None:
        read_times(time, table.X, rows)  # rather an error now than after the fit
    fixed: dict[int, Any] = {}
    if corrections is not None:
        index = table.X[options.id[0]] if options.id else rows
        fixed = labels_by_place(index, read_corrections(corrections))
    evidence, names = model.read_labels(table.X, table.y, known=fixed)
    _input.echo_labels(evidence.read_as)
    model.fit_evidence(table.X, evidence, names)
    return len(evidence)


def _fit_blocks(
    model: Any, table: "Dataset", paths: Sequence[Path], scheduler: str | None
) -> None:
    """Fit a PartialClassifier on blocks of Parquet files.

    `scheduler` is the address of a Dask scheduler; without one, blocks are fitted in
    this process.
    """
    from partlearn._math.blocks import connect
    from partlearn.tables import bags_of_files

    rows, names = table.X.rows, table.label_names
    evidence, _ = model.read_labels({name: table.X[name] for name in names}, table.y)
    _input.echo_labels(evidence.read_as)
    bags = None
    if table.bags is not None:
        bags = bags_of_files(paths, table.bags, evidence)
    if scheduler is None:
        model.fit_blocks(rows, evidence, names, bags)
        return
    with connect(scheduler, SIZES.scheduler_seconds):
        model.fit_blocks(rows.with_dask(), evidence, names, bags)


def _held_out(model: Any, table: "Dataset", **how: Any) -> list[Any]:
    """Return scores of a classifier on held-out rows."""
    from partlearn.tables import estimate_quality, estimate_tag_quality

    if table.task == "tags":
        truth: Any = table.true_tags()
        return estimate_tag_quality(model, table.X, table.y, truth=truth, **how)
    truth = table.true_labels()
    scores = estimate_quality(model, table.X, table.y, truth=truth, **how)
    model.calibrate(scores[0].calibration)
    return scores


def _how(folds: int, time: str | None, most: int | None) -> str:
    """Describe the rows that were held out."""
    if most:
        drawn = "later rows" if time else "rows"
        return (
            f"up to {most // 5:,} {drawn}, once, by a model of {most - most // 5:,}; "
            "the saved model is trained on all"
        )
    return f"{folds} later parts" if time else f"{folds} folds"


def _score_table(scores: "list[QualityScore]", how: str) -> str:
    title = "share of predictions"
    width = max(len(title), *(len(score.name) for score in scores))
    known = any(score.accuracy is not None for score in scores)
    lines = [
        f"Quality of labels of new rows, estimated on held-out rows ({how}):",
        f"{title:<{width}}  candidates  likely right" + "     right" * known,
    ]
    for score in scores:
        likely = f"{score.approximated_accuracy:.3f}"
        if score.low is not None:
            ends = f"{score.low:.2f}", f"{score.approximated_accuracy:.2f}"
            likely = " to ".join(dict.fromkeys(ends))
        line = f"{score.name:<{width}}  {score.covering_rate:10.3f}  {likely:>12}"
        if score.accuracy is not None:
            line += f"  {score.accuracy:8.3f}"
        lines.append(line + (f"  ({score.note})" if score.note else ""))
    quality = scores[0].gold
    if quality is not None:
        lines.append(
            f"{quality.n_right} of {quality.n_gold} known labels, held out, were "
            f"predicted: the accuracy on new rows is about {quality.accuracy:.1%} "
            f"({quality.level:.0%} interval {quality.low:.1%} to {quality.high:.1%})."
        )
    lines.append(
        "Likely right assumes that false labels are independent of the true one: "
        + _assumption(scores[0])
    )
    if scores[0].overconfident:
        lines.append(
            "Probabilities are too high: fewer predicted labels are candidates than "
            "they say. The lower end does not use them."
        )
    lines += _label_lines(scores[0], known)
    return "\n".join(lines)


def _label_lines(score: "QualityScore", known: bool) -> list[str]:
    """Return lines of the quality by label, lowest recall first."""
    shown = [c for c in score.classes if c.n_rows > 0][:_LABELS]
    width = max(5, *(len(str(c.label)) for c in shown)) if shown else 5
    by = "by true labels" if known else "estimated"
    head = f"{'label':<{width}}   rows  found  right when predicted"
    lines = [f"By label, {by}:", head]
    for c in shown:
        line = f"{c.label!s:<{width}}  {c.n_rows:5.0f}  "
        if c.recall != c.recall:
            lines.append(f"{line}    ?  unknown: confused with another label")
            continue
        right = (
            f"{c.precision:.3f}" if c.precision == c.precision else "never predicted"
        )
        lines.append(f"{line}{c.recall:.3f}  {right}")
    more = len(score.classes) - len(shown)
    return [*lines, f"and {more} more labels"] if more else lines


def _assumption(score: "QualityScore") -> str:
    """Describe whether the candidate sets contradict the assumption of the estimate."""
    if not score.tested:
        return f"the lower end does not. {_input.UNTESTED}"
    if not score.together:
        return "the candidate sets do not contradict it."
    first, second, lift = score.together[0]
    return (
        f"they are not. {second!r} comes with {first!r} {lift:.1f} times as often as "
        "by chance; the lower end counts such labels as guesses."
    )


def _outcome(model: Any, scores: "list[QualityScore]", save: Path) -> dict[str, Any]:
    return {
        "learner": type(model.estimator_).__name__,
        "columns": {
            name: {"kind": shown.kind, "reason": shown.reason, "used": shown.used}
            for name, shown in model.encoder_.kinds_.items()
        },
        "features": model.encoder_.n_features_out_,
        "decided": model.column_importances(),
        "labels": model.classes_.tolist(),
        "rows_without_labels": model.n_unlabeled_,
        "held_out": [_plain(score) for score in scores],
        "model": str(save),
    }


# What the coverage of sets is worth, by calibrator.
_GUARANTEES = {
    "gold": "The coverage is calibrated on {known} known labels. It holds for new rows "
    "of the same distribution as the training rows.",
    "confidence": "The coverage is approximate: it relies on the probabilities of the "
    "model. To guarantee it, train with known labels of a random sample of rows: "
    "`partlearn train --gold COLUMN`.",
    "all": "The coverage is that of all candidates that a new row would have. The true "
    "label is covered at least as often, if it is a candidate; sets are large.",
    "any": "The coverage is that of at least one candidate that a new row would have. "
    "The true label is covered less often.",
    "votes": "The coverage is that of the vote of an annotator drawn at random.",
}


def _plain(score: Any) -> dict[str, Any]:
    """Return the fields of a score; numbers that are NaN become None."""
    given = score._asdict()
    given.pop("calibration", None)  # saved with the model
    fields = {key: None if v != v else v for key, v in given.items()}
    if fields.get("gold") is not None:
        fields["gold"] = score.gold._asdict()
    if "classes" in fields:
        fields["classes"] = [_plain(quality) for quality in score.classes]
    return fields


@_options.with_options()
def predict(
    data: Path,
    *,
    load: Path,
    output: _options.Output,
    encoding: str | None = None,
    labels: str | None = None,
    bag: str | None = None,
    coverage: float | None = None,
    calibrator: str | None = None,
    per_class: bool = False,
    accuracy: float | None = None,
) -> None:
    """Label the rows of a table with a saved model.

    The result has one line per row: the id columns of the training table or the row
    number, the label and its probability, the runner-up, and differences from the
    training rows, if any. Rows are read and written in blocks.

    Parameters
    ----------
    data
        CSV, TSV, Parquet, Arrow or JSON lines; - is standard input.
    load
        Model that `partlearn train` saved.
    encoding
        Encoding of a table of text, such as latin-1 or gbk.
    labels
        Column with the candidates of the new rows, such as the names in a caption. Each
        label is one of them. Several columns, separated by commas, are read as in
        training.
    bag
        Column of bags, whose rows share the list in --labels. runs: each run of rows
        with equal sets is a bag. All rows are read at once.
    coverage
        Add a column labels with a set that contains the true label with this
        probability, such as 0.9. Calibrated on rows held out in training.
    calibrator
        What calibrates these sets: gold (known labels), confidence (approximate), all
        (sets hold all candidates), any (at least one) or votes. By default gold if
        enough labels were known in training, otherwise confidence.
    per_class
        Calibrate the sets for each label by itself.
    accuracy
        Leave labels empty whose expected accuracy is below this, such as 0.95.
        Calibrated on rows held out in training.
    """
    from partlearn import PartialClassifier
    from partlearn.io import table_blocks
    from partlearn.persistence import load_model, row_width
    from partlearn.tables import as_names, read_columns

    output.check(data, load)
    if bag is not None and labels is None:
        raise ValueError("--bag needs --labels, the column of the lists of the bags.")
    model = load_model(load).estimator
    if not isinstance(model, PartialClassifier):
        raise ValueError(
            f"{load.name} holds a {type(model).__name__}; `partlearn predict` applies "
            "models of `partlearn train`, `partlearn reduce` and `partlearn select` "
            "apply others with --load"
        )
    wanted: dict[str, Any] = {
        "coverage": coverage,
        "accuracy": accuracy,
        "calibrator": calibrator,
        "per_class": per_class,
    }
    model.check_wanted(**wanted, given_candidates=labels is not None)
    with _input.applying(load):
        rows = _input.block_rows(
            SIZES.predicted_rows,
            len(model.classes_),
            len(model.encoder_.kept_),
            row_width(model),
        )
    unlike = without = in_sets = 0
    with (
        _input.notes(),
        output.open() as writer,
        row_progress(data.name, writer) as show,
    ):
        blocks = table_blocks(data, block_rows=rows, progress=show, encoding=encoding)
        whole = [] if bag is None else [read_columns(data, encoding=encoding)]
        for block in whole or blocks:
            with _input.applying(data):
                columns = model.predictions(block, labels, bags=bag, **wanted)
            if "row" in columns and "row" not in as_names(model.id):
                columns["row"] = columns["row"] + writer.n_rows
            unlike += int((columns["unlike"] != "").sum())
            if "label" in columns:
                without += int((columns["label"] == "").sum())
            in_sets += sum(text.count("|") + 1 for text in columns.get("labels", ()))
            writer.write(columns)
    n = writer.n_rows
    facts: dict[str, Any] = {"rows": n, "unlike": unlike}
    lines = [f"{n} rows labeled, {unlike} unlike the training rows: {output.out}"]
    if accuracy is not None:
        facts["without_label"] = without
        lines.append(
            f"{without} rows have no label: they are not certain enough for an "
            f"accuracy of {accuracy:g}."
        )
    if coverage is not None:
        facts["mean_set_size"] = in_sets / max(n, 1)
        lines.append(
            f"Sets for a coverage of {coverage:g} hold {in_sets / max(n, 1):.2f} "
            "labels on average."
        )
        calibration = model.calibration_
        assert calibration is not None
        by = calibrator or calibration.best_calibrator(coverage)
        known = calibration.known_rows() if by == "gold" else 0
        facts |= {"calibrator": by, "calibrated_on_known": known}
        lines.append(_GUARANTEES[by].format(known=known))
    output.report(facts, *lines)
