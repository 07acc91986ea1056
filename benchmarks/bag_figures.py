"""Rows of one picture: published protocol beside whole bags, and what lists are worth.

    python -m benchmarks.bag_figures --data FOLDER --out FOLDER

FOLDER of the data and its sub-folders are searched for ``lost.npz`` and so on; MSRCv2
is taken where it is there. Lines are appended to ``folds.csv``; a run that was stopped
goes on where it stopped. At the end both tables are printed, and written as
``bags_protocols.inc`` and ``bags_lists.inc`` for the guide. ``--only`` names data sets,
``--part`` one of the two tables, ``--learner`` learners; ``--tables`` computes nothing.

A bag is a run of equal sets in the real data. Elsewhere it is made: the first 2,000
rows of ``default_rng(1).permutation``, consecutive rows in bags of the size below, the
list of a bag is the union of its true labels. Five folds, shuffled, seed 0, features
standardised in each training part; everything else as by default.
"""

import argparse
import csv
import time
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

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

FIELDS = ["part", "data", "learner", "split", "fold", "new", "training", "seconds"]
REAL = {"lost": "Lost", "birdsong": "BirdSong", "msrcv2": "MSRCv2"}
MADE = {
    "vowel": [8], "yeast_uci": [4], "abalone-28class": [4], "glass": [4],
    "letter": [4, 8], "mfeat-fourier": [6],
}  # fmt: skip
SHORT = {"yeast_uci": "yeast", "abalone-28class": "abalone"}
LEARNERS = {
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


def jobs(folder: Path):
    real = [name for name in REAL if next(folder.rglob(f"{name}.npz"), None)]
    for split in ("bags", "rows"):
        for data in real:
            for learner in [TRUTH, *LEARNERS]:
                yield "protocols", data, learner, split
    made = [f"{name}/{size}" for name, sizes in MADE.items() for size in sizes]
    for data in [*real, *made]:
        for learner in WITH_LISTS:
            for split in WAYS:
                yield "lists", data, learner, split
    for data in real:
        yield "lists", data, "CRISPClassifier", "rows, lists used"


def measure(data, learner: str, split: str):
    """Accuracy on each fold: of new rows, and of the labels of training rows."""
    X, S, y, bags = data
    maker = KFold if split.startswith("rows") else GroupKFold
    groups = bags if maker is GroupKFold else None
    folds = maker(5, shuffle=True, random_state=0).split(X, groups=groups)
    for fold, (train, test) in enumerate(folds):
        start = time.perf_counter()
        scaler = StandardScaler().fit(X[train])
        A, B = scaler.transform(X[train]), scaler.transform(X[test])
        given = {"bags": bags[train]} if "," in split else {}
        training = float("nan")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if learner == TRUTH:
                model = LogisticRegression(max_iter=2000).fit(A, y[train])
                predicted = model.predict(B)
            else:
                model = LEARNERS[learner]()
                if split.endswith("e = 0"):
                    model.set_params(stray_rate=0.0)
                model.fit(A, S[train], **given)
                predicted = np.asarray(model.classes_)[
                    model.predict_proba(B).argmax(axis=1)
                ]
                F = getattr(model, "label_confidence_", None)
                if F is not None:
                    training = float((F.argmax(axis=1) == y[train]).mean())
        new = float((predicted == y[test]).mean())
        yield fold, new, training, time.perf_counter() - start


def run(folder: Path, out: Path, options: argparse.Namespace) -> None:
    """Compute what `out` does not have yet."""
    path = out / "folds.csv"
    done = set(means(out))
    out.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_text(",".join(FIELDS) + "\n", encoding="utf-8")
    for job in jobs(folder):
        part, name, learner, split = job
        chosen = {name.split("/")[0]: options.only, part: options.part}
        chosen[learner] = options.learner
        if job[1:] in done or any(v and k not in v for k, v in chosen.items()):
            continue
        results = list(measure(read(folder, name), learner, split))
        done.add(job[1:])
        with path.open("a", encoding="utf-8", newline="") as file:
            for fold, new, training, seconds in results:
                csv.writer(file).writerow(
                    [*job, fold, f"{new:.6f}", f"{training:.6f}", f"{seconds:.2f}"]
                )
        print(*job, f"{np.mean([r[1] for r in results]):.3f}", flush=True)


def lines(out: Path) -> list[dict[str, str]]:
    path = out / "folds.csv"
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def means(out: Path) -> dict[tuple[str, ...], tuple[float, float]]:
    cells = defaultdict(list)
    for row in lines(out):
        key = tuple(row[f] for f in FIELDS[1:4])
        cells[key].append((float(row["new"]), float(row["training"])))
    return {key: tuple(np.mean(pairs, axis=0)) for key, pairs in cells.items()}


def share(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.3f}".lstrip("0")


def table(head: list[str], body: list[list[str]]) -> str:
    """Lines of a list table."""
    text = [".. list-table::", "   :header-rows: 1", ""]
    for row in [head, *body]:
        text += [f"   {'* -' if k == 0 else '  -'} {c}" for k, c in enumerate(row)]
    return "\n".join(text) + "\n"


def protocols(out: Path) -> str:
    """Accuracy on new rows: random rows beside whole bags."""
    cells = means(out)
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


def lists(out: Path) -> str:
    """Accuracy on new bags / labels of training rows, without lists and with."""
    cells = means(out)
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--part", nargs="*", default=[])
    parser.add_argument("--learner", nargs="*", default=[])
    parser.add_argument("--tables", action="store_true")
    options = parser.parse_args()
    if not options.tables:
        with threadpool_limits(1):
            run(options.data, options.out, options)
    for name, make in {"protocols": protocols, "lists": lists}.items():
        text = make(options.out)
        print(text)
        (options.out / f"bags_{name}.inc").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
