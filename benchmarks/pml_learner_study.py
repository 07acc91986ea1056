"""Study of the partial multi-label learners on the public sets, resumable.

``python -m benchmarks.pml_learner_study DATA OUT`` fits every learner on every set, at
two levels of false tags and in five folds, and appends one line of JSON per fit to
``OUT/learners.jsonl``; fits already there are skipped. ``--selectors`` compares
selectors before CRISPMultiLabelClassifier, ``--yeast`` fits the whole sets YeastBP and
YeastCC, and ``--table`` prints what is there.

Everything is fitted on training rows; false tags are drawn for training rows only, and
test labels are clean.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.stats import friedmanchisquare, rankdata, wilcoxon
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold
from sklearn.preprocessing import MaxAbsScaler

from partlearn import multilabel as ml
from partlearn.metrics import average_precision, coverage, one_error, ranking_loss

ROWS, FEATURES, LABELS, FOLDS = 500, 300, 20, 5
LEAST = 6  # rows a label needs
OWN = ("emotions_particle", "YeastBP", "YeastCC")  # sets with candidates of their own
METRICS = ("average_precision", "ranking_loss", "one_error", "coverage", "macro_auc")
HIGHER = ("average_precision", "macro_auc")
OURS = "CRISPMultiLabelClassifier"
SEEDED = {"random_state": 0}
LEARNERS = {
    OURS: {},
    "MLKNN": {},
    "FPML": SEEDED,
    "PMLNI": {},
    "PMLNI release": {"preset": "release"},
    "PMLLENFN": SEEDED,
    "Schirn": {},
    "Schirn intercept": {"fit_intercept": True},
    "LinearSVM": {},
    "PMLLC": {},
    "PMLFP": SEEDED,
    "ParticleVLS": {},
    "ParticleMAP": {},
    "PMLPLR": SEEDED,
}
SELECTORS = {
    "none": None,
    "TRACE": {},
    "PMLFSLA": SEEDED,
    "PMLFSSO": SEEDED,
    "PMLFSMIR": SEEDED,
    "PMFSLRS": {},
    "MIFS": SEEDED,
    "DRMFS": SEEDED,
    "PMLFSNF": SEEDED,
    "LCFSPML": SEEDED,
}
SHARE = 0.2  # of the features that a selector keeps


def load(folder, name, rows=ROWS, features=FEATURES, labels=LABELS):
    """Rows, true labels and candidates of a set, cut to size by a fixed draw."""
    with np.load(folder / f"{name}.npz") as stored:
        Y = stored["Y"].astype(bool)
        S = stored["S"].astype(bool) if "S" in stored.files else None
        if "X" in stored.files:
            X = sp.csr_array(stored["X"].astype(float))
        else:
            part = [stored[f"X_{key}"] for key in ("data", "indices", "indptr")]
            X = sp.csr_array(
                (part[0].astype(float), *part[1:]), shape=tuple(stored["X_shape"])
            )
    some = np.flatnonzero(Y.any(axis=1))
    if len(some) > rows:
        some = np.sort(np.random.default_rng(0).permutation(some)[:rows])
    X, Y = X[some], Y[some]
    S = None if S is None else S[some]
    used = np.argsort(-Y.sum(axis=0), kind="stable")[:labels]
    used = np.sort(used[Y[:, used].sum(axis=0) >= LEAST])
    kept = Y[:, used].any(axis=1) & ~Y[:, used].all(axis=1)
    X, Y = X[kept], Y[kept][:, used]
    S = None if S is None else S[kept][:, used] | Y
    counts = np.diff(sp.csc_array(X).indptr)
    columns = np.argsort(-counts, kind="stable")[:features]
    return X[:, np.sort(columns[counts[columns] >= 5])].toarray(), Y, S


def noisy(Y, level, seed):
    """Add one or two false tags a row; twice as many where there are ten labels."""
    count = (level + 1) * (1 if Y.shape[1] < 10 else 2)
    return ml.add_noise_labels(Y, count, random_state=seed)


def scores(Y, D):
    """All metrics of the study; macro AUC over labels with both kinds of rows."""
    rows = Y.any(axis=1) & ~Y.all(axis=1)
    both = Y.any(axis=0) & ~Y.all(axis=0)
    Y, D, whole = Y[rows], D[rows], (Y[:, both], D[:, both])
    return {
        "average_precision": average_precision(Y, D),
        "ranking_loss": ranking_loss(Y, D),
        "one_error": one_error(Y, D),
        "coverage": coverage(Y, D),
        "macro_auc": float(roc_auc_score(*whole, average="macro")),
    }


def fit_and_score(learner, params, train, test):
    """Scores and seconds of one fit."""
    (X, C), (Z, Y) = train, test
    start = time.perf_counter()
    model = getattr(ml, learner.split()[0])(**params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, C)
        name = "decision_function"
        D = getattr(model, name if hasattr(model, name) else "predict_proba")(Z)
    return scores(Y, np.asarray(D)) | {"seconds": time.perf_counter() - start}


def done_already(file):
    """Results of a former run, by their key."""
    if not file.exists():
        return {}
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    return {tuple(line["key"]): line for line in lines}


def append(file, key, values):
    """Keep one result."""
    with file.open("a") as out:
        out.write(json.dumps({"key": key} | values) + "\n")


def split(X, Y, S, fold, level):
    """Scaled training and test rows of a fold, with candidates for the first."""
    folds = KFold(FOLDS, shuffle=True, random_state=7)
    train, test = list(folds.split(X))[fold]
    scaler = MaxAbsScaler().fit(X[train])
    C = noisy(Y[train], level, 9101 + fold) if S is None else S[train]
    return (scaler.transform(X[train]), C), (scaler.transform(X[test]), Y[test])


def levels(S):
    """Levels of noise of a set: one where it has its own candidates."""
    return (0,) if S is not None else (0, 1)


def run_learners(folder, file, learners, folds):
    """Fit all learners; folds are the outer loop, so that part of a run is balanced."""
    names = sorted(path.stem for path in folder.glob("*.npz"))
    data = {name: load(folder, name) for name in names}
    known = done_already(file)
    for fold in range(folds):
        for name, (X, Y, S) in data.items():
            for level in levels(S):
                train, test = split(X, Y, S, fold, level)
                for learner in learners:
                    params, key = LEARNERS[learner], [name, level, fold, learner]
                    if tuple(key) in known:
                        continue
                    try:
                        values = fit_and_score(learner, params, train, test)
                    except (ValueError, np.linalg.LinAlgError) as error:
                        values = {"error": f"{type(error).__name__}: {error}"}
                    append(file, key, values)


def run_selectors(folder, file, names, folds):
    """Select a fifth of the features, then fit CRISPMultiLabelClassifier."""
    known = done_already(file)
    for fold in range(folds):
        for name in names:
            X, Y, S = load(folder, name)
            train, test = split(X, Y, S, fold, 0)
            unit = np.clip(train[0], 0, None) if train[0].min() >= 0 else None
            rows = train[0] - train[0].min(axis=0) if unit is None else unit
            for selector, params in SELECTORS.items():
                key = [name, 0, fold, selector]
                if tuple(key) in known:
                    continue
                kept, start = slice(None), time.perf_counter()
                try:
                    if params is not None:
                        method = getattr(ml, selector)(SHARE, **params)
                        with warnings.catch_warnings():
                            warnings.simplefilter("ignore")
                            kept = method.fit(rows, train[1]).selected_
                    took = time.perf_counter() - start
                    values = fit_and_score(
                        OURS,
                        {},
                        (train[0][:, kept], train[1]),
                        (test[0][:, kept], test[1]),
                    )
                    values["selection_seconds"] = took
                except (ValueError, np.linalg.LinAlgError) as error:
                    values = {"error": f"{type(error).__name__}: {error}"}
                append(file, key, values)


def run_yeast(folder, file, learners):
    """Whole sets, own candidates, five folds, 2,000 most frequent features."""
    known = done_already(file)
    for name in ("YeastCC", "YeastBP"):
        X, Y, S = load(folder, name, rows=10**6, features=2000, labels=10**6)
        for fold in range(FOLDS):
            train, test = split(X, Y, S, fold, 0)
            for learner in learners:
                key = [name, 0, fold, learner]
                if tuple(key) not in known:
                    values = fit_and_score(learner, LEARNERS[learner], train, test)
                    append(file, key, values)


def cells(file, without, folds):
    """Results by set and level, then by method."""
    groups: dict[tuple, dict[str, list]] = {}
    for line in done_already(file).values():
        name, level, fold, method = line["key"]
        if "error" not in line and method not in without and fold < folds:
            groups.setdefault((name, level), {}).setdefault(method, []).append(line)
    return groups


def paired(groups, metric):
    """One row per set and level, one column per method, over the folds all have.

    A run that was ended leaves methods with fewer folds; they are compared on equal
    folds only.
    """
    methods = sorted({m for row in groups.values() for m in row})
    names, table = [], []
    for cell, row in sorted(groups.items()):
        if set(row) != set(methods):
            continue
        folds = set.intersection(*({x["key"][2] for x in row[m]} for m in methods))
        if not folds:
            continue
        values = [
            np.mean([x[metric] for x in row[m] if x["key"][2] in folds])
            for m in methods
        ]
        names.append((*cell, len(folds)))
        table.append(values)
    return methods, names, np.array(table)


def print_tables(file, reference, without=(), folds=FOLDS):
    """Average precision by cell, mean of all metrics, ranks, and the p values."""
    groups = cells(file, without, folds)
    methods, names, table = paired(groups, "average_precision")
    print("set,level,folds," + ",".join(methods))
    for name, row in zip(names, table, strict=True):
        print(",".join(map(str, name)), *(f"{v:.3f}" for v in row), sep=",")
    ranks = rankdata(-table.round(6), axis=1).mean(axis=0)
    print("\nmethod,rank," + ",".join(METRICS) + ",seconds")
    means = {m: paired(groups, m)[2].mean(axis=0) for m in (*METRICS, "seconds")}
    for j in np.argsort(ranks):
        line = [f"{means[m][j]:.3f}" for m in (*METRICS, "seconds")]
        print(methods[j], f"{ranks[j]:.2f}", *line, sep=",")
    print(f"\n{len(table)} cells of {len({n[0] for n in names})} sets")
    # One value per set: levels of one set are no independent answers.
    sets = sorted({n[0] for n in names})
    by_set = np.array([table[[n[0] == s for n in names]].mean(axis=0) for s in sets])
    print("Friedman over sets:", friedmanchisquare(*by_set.T))
    ours = methods.index(reference)
    others = [j for j in np.argsort(ranks) if j != ours]
    best = others[0]
    test = wilcoxon(by_set[:, ours], by_set[:, best])
    wins = (by_set[:, ours] > by_set[:, best]).sum()
    print(f"{reference} against {methods[best]}: {wins} of {len(sets)} sets, {test}")


def write_csv(file, target, without=(), folds=FOLDS):
    """Write ranks and means by method, and average precision by set, for the guide."""
    groups = cells(file, without, folds)
    methods, names, table = paired(groups, "average_precision")
    ranks = rankdata(-table.round(6), axis=1).mean(axis=0)
    order = np.argsort(ranks)
    means = {m: paired(groups, m)[2].mean(axis=0) for m in METRICS}
    lines = ["method,mean rank," + ",".join(m.replace("_", " ") for m in METRICS)]
    for j in order:
        line = [f"{means[m][j]:.3f}" for m in METRICS]
        lines.append(",".join([methods[j], f"{ranks[j]:.2f}", *line]))
    target.with_suffix(".csv").write_text("\n".join(lines) + "\n")
    first = order[:5]
    lines = ["set,level," + ",".join(methods[j] for j in first)]
    for name, row in zip(names, table, strict=True):
        level = "own" if name[0] in OWN else str(name[1] + 1)
        lines.append(",".join([name[0], level, *(f"{row[j]:.3f}" for j in first)]))
    target.with_name(target.stem + "_sets.csv").write_text("\n".join(lines) + "\n")


def main():
    """Run or print the study."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--selectors", nargs="+", metavar="SET")
    parser.add_argument("--yeast", nargs="+", metavar="LEARNER")
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS))
    parser.add_argument("--folds", type=int, default=FOLDS)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--csv", type=Path, help="file of the guide to write")
    parser.add_argument("--without", nargs="+", default=(), metavar="METHOD")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    files = {k: args.out / f"{k}.jsonl" for k in ("learners", "selectors", "yeast")}
    if args.csv:
        write_csv(files["learners"], args.csv, args.without, args.folds)
    elif args.table:
        for kind, reference in [("learners", OURS), ("selectors", "none")]:
            if files[kind].exists():
                print(f"\n== {kind}")
                print_tables(files[kind], reference, args.without, args.folds)
    elif args.selectors:
        run_selectors(args.data, files["selectors"], args.selectors, args.folds)
    elif args.yeast:
        run_yeast(args.data, files["yeast"], args.yeast)
    else:
        run_learners(args.data, files["learners"], args.learners, args.folds)


if __name__ == "__main__":
    main()
