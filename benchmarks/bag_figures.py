"""Rows of one picture: published protocol beside whole bags, and what lists are worth.

    python -m benchmarks.bag_figures --data FOLDER --out FOLDER [--jobs 2] [--minutes 9]

FOLDER of the data and its sub-folders are searched for ``lost.npz`` and so on; MSRCv2
is taken where it is there. A run that was stopped goes on where it stopped. At the end
both tables are printed, and written to the folder of the results as
``bags_protocols.inc`` and ``bags_lists.inc`` for the guide. ``--only`` names data sets,
``--learner`` learners; ``--tables`` computes nothing.

A bag is a run of equal sets in the real data. Elsewhere it is made: the first 2,000
rows of ``default_rng(1).permutation``, consecutive rows in bags of the size below, the
list of a bag is the union of its true labels. Five folds, shuffled, seed 0, features
standardised in each training part; everything else as by default.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold
from sklearn.preprocessing import StandardScaler

from benchmarks.pool import Cell, add_options, computed, share
from partlearn.candidates import bag_runs
from partlearn.classification import (
    IPAL,
    PLAGGD,
    PLKNN,
    PRODEN,
    SURE,
    CandidateClassifier,
    CoupledClassifier,
    CRISPClassifier,
)
from partlearn.decomposition import CENDA, CRISP, KernelCRISP

Means = dict[tuple[str, ...], tuple[float, ...]]
KEYS = ("data", "learner", "split", "fold")
N_FOLDS = 5
REAL = {"lost": "Lost", "birdsong": "BirdSong", "msrcv2": "MSRCv2"}
MADE = {
    "vowel": [8], "yeast_uci": [4], "abalone-28class": [4], "glass": [4],
    "letter": [4, 8], "mfeat-fourier": [6],
}  # fmt: skip
SHORT = {"yeast_uci": "yeast", "abalone-28class": "abalone"}
LEARNERS: dict[str, Callable[[], Any]] = {
    "PL-KNN": PLKNN,
    "IPAL": IPAL,
    "SURE": SURE,
    "PL-AGGD": PLAGGD,
    "PRODEN": lambda: PRODEN(random_state=0),
    "CENDA + PL-KNN": lambda: CoupledClassifier(CENDA(), PLKNN()),
    "CENDA + SURE": lambda: CoupledClassifier(CENDA(), SURE()),
    "CRISP + SURE": lambda: CoupledClassifier(CRISP(random_state=0), SURE()),
    "KernelCRISP + SURE": lambda: CoupledClassifier(
        KernelCRISP(random_state=0), SURE()
    ),
    "CandidateClassifier, logistic regression": lambda: CandidateClassifier(
        LogisticRegression(max_iter=2000), random_state=0
    ),
    "CRISPClassifier": lambda: CRISPClassifier(random_state=0),
}
TRUTH = "logistic regression with the truth"
# Learners that share the labels of a list among the rows of a bag.
WITH_LISTS = ["CRISPClassifier", "CandidateClassifier, logistic regression"]
# Ways to use the lists: not at all, with each label of a list on some row (a stray rate
# of 0), and with the rate estimated.
WAYS = {"bags": "", "bags, e = 0": ", e = 0", "bags, lists used": ", lists used"}


def read(folder: Path, name: str) -> tuple[np.ndarray, ...]:
    """Features, candidates, true labels and bags."""
    name, _, size = name.partition("/")
    with np.load(next(folder.rglob(f"{name}.npz")), allow_pickle=False) as z:
        X, y = z["X"].astype(float), z["y"].astype(int)
        if "S" in z:
            S = z["S"].astype(bool)
            return X, S, y, bag_runs(S)
    order = np.random.default_rng(1).permutation(len(X))[:2000]
    X, y = X[order], np.unique(y[order], return_inverse=True)[1]
    bags = np.arange(len(y)) // int(size)
    lists = np.zeros((bags.max() + 1, y.max() + 1), dtype=bool)
    lists[bags, y] = True
    return X, lists[bags], y, bags


def cells(folder: Path) -> Iterator[Cell]:
    """Cells of both tables, one for each fold."""
    real = [name for name in REAL if next(folder.rglob(f"{name}.npz"), None)]
    made = [f"{name}/{size}" for name, sizes in MADE.items() for size in sizes]
    kinds = [
        *product([*real, *made], WITH_LISTS, WAYS),
        *product(real, ["CRISPClassifier"], ["rows, lists used"]),
        *product(real, [*LEARNERS, TRUTH], ["bags", "rows"]),
    ]
    for values in dict.fromkeys(kinds):
        for fold in range(N_FOLDS):
            yield dict(zip(KEYS, (*values, fold), strict=True))


def measure(folder: Path, cell: Cell) -> Cell:
    """Accuracy on one fold: of new rows, and of the labels of training rows."""
    learner, split = cell["learner"], cell["split"]
    X, S, y, bags = read(folder, cell["data"])
    maker = KFold if split.startswith("rows") else GroupKFold
    groups = bags if maker is GroupKFold else None
    folds = maker(N_FOLDS, shuffle=True, random_state=0).split(X, groups=groups)
    train, test = list(folds)[cell["fold"]]
    scaler = StandardScaler().fit(X[train])
    A, B = scaler.transform(X[train]), scaler.transform(X[test])
    if learner == TRUTH:
        model = LogisticRegression(max_iter=2000).fit(A, y[train])
        return {"new": float((model.predict(B) == y[test]).mean())}
    model = LEARNERS[learner]()
    if split.endswith("e = 0"):
        model.set_params(stray_rate=0.0)
    model.fit(A, S[train], **({"bags": bags[train]} if "," in split else {}))
    predicted = np.asarray(model.classes_)[model.predict_proba(B).argmax(axis=1)]
    values = {"new": float((predicted == y[test]).mean())}
    F = getattr(model, "label_confidence_", None)
    if F is not None:
        values["training"] = float((F.argmax(axis=1) == y[train]).mean())
    return values


def means(finished: list[Cell]) -> Means:
    """Accuracies by data, learner and split, where all folds are there."""
    folds = defaultdict(list)
    for line in finished:
        pair = (line["new"], line.get("training", np.nan))
        folds[line["data"], line["learner"], line["split"]].append(pair)
    return {
        key: tuple(np.mean(pairs, axis=0))
        for key, pairs in folds.items()
        if len(pairs) == N_FOLDS
    }


def table(head: list[str], body: list[list[str]]) -> str:
    """Lines of a list table."""
    text = [".. list-table::", "   :header-rows: 1", ""]
    for row in [head, *body]:
        text += [f"   {'* -' if k == 0 else '  -'} {c}" for k, c in enumerate(row)]
    return "\n".join(text) + "\n"


def protocols(cells: Means) -> str:
    """Accuracy on new rows: random rows beside whole bags."""
    data = [name for name in REAL if any(key[0] == name for key in cells)]
    head = ["learner", *(f"{REAL[d]}, {s}" for d in data for s in ("rows", "bags"))]
    body = []
    for learner in [*LEARNERS, TRUTH]:
        values = [
            cells.get((d, learner, s), (float("nan"),))[0]
            for d in data
            for s in ("rows", "bags")
        ]
        if not np.isnan(values).all():
            body.append([learner, *map(share, values)])
    return table(head, body)


def lists(cells: Means) -> str:
    """Accuracy on new bags / labels of training rows, without lists and with."""
    used = [key for key in cells if key[2] == "bags, lists used"]
    names = dict.fromkeys(key[0] for key in used)
    learners = [w for w in WITH_LISTS if any(key[1] == w for key in used)]
    head = ["data", *(f"{w}{s}" for w in learners for s in WAYS.values())]
    body = []
    for name in names:
        short, _, size = name.partition("/")
        title = REAL.get(short) or f"{SHORT.get(short, short)}, bags of {size}"
        row = [title]
        for learner in learners:
            for split in WAYS:
                new, known = cells.get((name, learner, split), (np.nan,) * 2)
                row.append(" / ".join(filter(None, (share(new), share(known)))))
        body.append(row)
    return table(head, body)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--learner", nargs="*", default=[])
    options = parser.parse_args()
    chosen = [
        cell
        for cell in cells(options.data)
        if (not options.only or cell["data"].split("/")[0] in options.only)
        and (not options.learner or cell["learner"] in options.learner)
    ]
    found = means(computed(chosen, measure, options))
    for name, make in {"protocols": protocols, "lists": lists}.items():
        text = make(found)
        print(text)
        (options.out / f"bags_{name}.inc").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
