"""Votes of a crowd and sets that miss the truth: the figures that must be reached.

    python -m benchmarks.crowd genre --data FOLDER
    python -m benchmarks.crowd misses --data FOLDER [SET ...]

``genre``: labels of the 700 pieces of music_genre (44 annotators, Rodrigues, Pereira
and Ribeiro 2013), without and with features, and accuracy on pieces held out in five
folds; crowd-kit and cleanlab beside ours where they are installed (the extra
``crowd``). ``misses``: the most likely labels of training rows where a fifth of the
candidate sets, their size kept, miss the truth, for three values of ``miss_rate``:
mean of ten training parts (all rows but a tenth), each with a draw of false labels and
misses of its own, since one draw moves a figure by as much as .02.
The folder and its sub-folders are searched. The exit code is 1 if a figure is missed.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.candidate_classifier import folds, with_false_labels
from partlearn.candidates import Votes, aggregate_votes, check_evidence, from_votes
from partlearn.classification import CandidateClassifier, CRISPClassifier

WITHOUT, WITH = 0.785, 0.81  # labels right, without and with features
RATES = (0.0, 0.05, 0.2)
# Set and false labels; labels right by miss_rate as specified; rows at most.
MISSES = {
    "usps": (2, (0.744, 0.773, 0.919)),
    "segment": (2, (0.738, 0.770, 0.909)),
    "texture": (2, (0.769, 0.783, 0.942)),
    "vehicle": (1, (0.659, 0.680, 0.762)),
    "vowel": (2, (0.725, 0.739, 0.824)),
}
NEAR = 0.02
MOST_ROWS = 1000
N_FOLDS = 10


def genre(folder: Path) -> tuple[np.ndarray, Votes, np.ndarray]:
    """Features, votes and truth."""
    with np.load(next(folder.rglob("music_genre.npz"))) as file:
        X, y, votes, names = (file[k] for k in ("X", "y", "votes", "classes"))
    labels = from_votes(*votes.T, n_rows=len(y), classes=np.arange(len(names)))
    return X, labels, y


def our_classifiers() -> dict[str, Callable[[], Any]]:
    forest = RandomForestClassifier(50, random_state=0)
    return {
        "CRISPClassifier": CRISPClassifier,
        "CandidateClassifier, forest": lambda: CandidateClassifier(
            forest, random_state=0
        ),
    }


def fitted(model: Any, X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def crowd_kit(votes: Votes) -> Iterator[tuple[str, np.ndarray]]:
    """Labels by the methods of crowd-kit."""
    import pandas
    from crowdkit import aggregation

    t = votes.table
    frame = pandas.DataFrame({"task": t.row, "worker": t.annotator, "label": t.label})
    for name in ("DawidSkene", "OneCoinDawidSkene", "GLAD", "MACE"):
        found = getattr(aggregation, name)().fit_predict(frame)
        yield f"crowd-kit {name}", found.sort_index().to_numpy()


def cleanlab(votes: Votes, X: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Consensus labels of cleanlab, with probabilities of a held-out classifier."""
    import pandas
    from cleanlab.multiannotator import get_label_quality_multiannotator

    t = votes.table
    wide = pandas.DataFrame(
        {"row": t.row, "annotator": t.annotator, "label": t.label}
    ).pivot_table("label", "row", "annotator", aggfunc="first")
    majority = t.counts.argmax(axis=1)
    for name, model in {
        "logistic regression": make_pipeline(
            StandardScaler(), LogisticRegression(max_iter=1000)
        ),
        "forest": RandomForestClassifier(200, random_state=0),
    }.items():
        parts = KFold(5, shuffle=True, random_state=0)
        P = cross_val_predict(model, X, majority, cv=parts, method="predict_proba")
        found = get_label_quality_multiannotator(wide, P, verbose=False)
        labels = found["label_quality"]["consensus_label"].to_numpy()
        yield f"cleanlab consensus, {name}", labels


def others(votes: Votes, X: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    try:
        yield from crowd_kit(votes)
        yield from cleanlab(votes, X)
    except ImportError as error:
        print(f"(left out: {error.name} is not installed)")


def held_out(model: Callable[[], Any], X: Any, votes: Votes, y: Any) -> float:
    hits = np.zeros(len(y), dtype=bool)
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        hits[test] = fitted(model(), X[train], votes[train]).predict(X[test]) == y[test]
    return float(hits.mean())


def run_genre(folder: Path) -> bool:
    X, votes, y = genre(folder)
    majority = votes.table.counts.argmax(axis=1)
    ours = aggregate_votes(votes).label
    print("labels right")
    _line("majority", (majority == y).mean())
    _line("aggregate_votes", (ours == y).mean(), WITHOUT)
    met = bool((ours == y).mean() >= WITHOUT)
    for name, labels in others(votes, X):
        _line(name, (labels == y).mean())
    for name, model in our_classifiers().items():
        F = fitted(model(), X, votes).label_confidence_
        right = float((F.argmax(axis=1) == y).mean())
        goal = WITH if name == "CRISPClassifier" else None
        _line(f"{name}, with features", right, goal)
        met &= goal is None or right >= goal
    print("accuracy on pieces held out, five folds")
    for name, model in our_classifiers().items():
        _line(name, held_out(model, X, votes, y))
        _line(f"{name}, on aggregated labels", _plain(model, X, votes, y))
    return met


def _plain(model: Callable[[], Any], X: Any, votes: Votes, y: Any) -> float:
    """The same classifier on the labels that the votes alone give."""
    hits = np.zeros(len(y), dtype=bool)
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        labels = aggregate_votes(votes[train]).label
        found = fitted(model(), X[train], labels)
        hits[test] = found.predict(X[test]) == y[test]
    return float(hits.mean())


def _line(name: str, value: float, goal: float | None = None) -> None:
    tail = "" if goal is None else f"  must be >= {goal}{'' if value >= goal else ' !'}"
    print(f"  {name:52s} {value:.3f}{tail}", flush=True)


def with_misses(
    S: np.ndarray, y: np.ndarray, seed: int, share: float = 0.2
) -> np.ndarray:
    """Exchange the true label of some sets for one that is not in the set."""
    rng = np.random.RandomState(seed)
    S = S.copy()
    for i in rng.permutation(len(y))[: round(share * len(y))]:
        S[i, rng.choice(np.flatnonzero(~S[i]))] = True
        S[i, y[i]] = False
    return S


def run_misses(folder: Path, names: list[str]) -> bool:
    print(f"labels right by miss_rate: {RATES}, standard error; specified in brackets")
    met = True
    for name in names or list(MISSES):
        r, goals = MISSES[name]
        with np.load(next(folder.rglob(f"{name}.npz"))) as file:
            X, y = file["X"].astype(float), file["y"].astype(int)
        rows = np.sort(np.random.RandomState(7).permutation(len(y))[:MOST_ROWS])
        X, y = X[rows], np.unique(y[rows], return_inverse=True)[1]
        found = []
        for seed, (train, _) in enumerate(folds(len(y), N_FOLDS)):
            S = with_misses(with_false_labels(y, r, seed), y, seed)
            labels = check_evidence(S)[train]
            models = [
                fitted(CRISPClassifier(miss_rate=rate), X[train], labels)
                for rate in RATES
            ]
            best = [model.label_confidence_.argmax(axis=1) for model in models]
            found.append([float((b == y[train]).mean()) for b in best])
        right, error = np.mean(found, axis=0), np.std(found, axis=0) / N_FOLDS**0.5
        cells = [
            f"{a:.3f} +- {e:.3f} ({b:.3f})"
            for a, e, b in zip(right, error, goals, strict=True)
        ]
        good = all(a >= b - NEAR for a, b in zip(right, goals, strict=True))
        met &= good
        print(
            f"  {name:8s} r={r}  {'  '.join(cells)}{'' if good else '  !'}", flush=True
        )
    return met


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["genre", "misses"])
    parser.add_argument("sets", nargs="*", help="data sets of `misses`; all if none")
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    if options.what == "genre":
        return 0 if run_genre(options.data) else 1
    return 0 if run_misses(options.data, options.sets) else 1


if __name__ == "__main__":
    sys.exit(main())
