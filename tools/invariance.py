"""Measure how far results depend on the order of rows, columns and classes.

Each method is fitted on small data of several kinds (plain, wide, with duplicated rows,
binary), as they are and in other orders. The table gives the largest share of changed
results over the kinds and orders: predicted labels of the training rows for
classifiers, selected features for selectors, most likely training labels and positions
for reducers. A method may depend on an order only if its class declares it:
``_order_matters`` where random numbers are drawn along an axis, ``_ties_follow`` where
ties are broken by the order.

``python tools/invariance.py [NAMES]`` prints the table; a star marks declared axes.
"""

import argparse
import inspect
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn._registry import Method, methods
from partlearn.candidates import make_candidates

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.estimators import build

AXES = ("rows", "columns", "classes")
KINDS = ("plain", "wide", "duplicates", "binary")
ORDERS = 5  # other orders of each axis
TIE = 1e-9  # confidences that differ by less are level
# With its defaults it removes all features of so few rows.
SETTINGS: dict[str, dict[str, Any]] = {"PMLFSNF": {"alpha": 0.5}}
SAME = 1e-6  # relative difference of positions that counts as equal


def make_data(kind: str, several: bool) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return features and candidates of 60 rows and four classes."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 4
    X = rng.normal(size=(60, 150 if kind == "wide" else 12))
    X[:, :4] += 2 * np.eye(4)[y]
    if kind == "binary":
        X = (X > 0.5).astype(float)
    candidates = make_candidates(y, n_false=1, random_state=0)
    if several:
        X -= X.min(axis=0)  # some methods take no negative numbers
        candidates |= rng.random(candidates.shape) < 0.2
    if kind == "duplicates":
        X[30:], candidates[30:] = X[:30], candidates[:30]
    return X, candidates


def result(model: Any, X: NDArray[Any], role: str, axis: str) -> NDArray[Any]:
    """Return what a user takes from a fitted method, one entry per row or feature.

    Of labels with the same score, `predict` names the first: in another order of the
    classes, all of the most likely labels are compared.
    """
    if role.endswith("selector"):
        return np.asarray(model.get_support())
    if role == "learner" and axis == "classes" and hasattr(model, "predict_proba"):
        return most_likely(model.predict_proba(X))
    if role == "learner":
        return np.arange(len(model.classes_)) == model.predict(X)[:, None]
    if role == "multilabel learner":
        return np.asarray(model.predict(X))
    return most_likely(model.label_confidence_)


def most_likely(F: NDArray[Any]) -> NDArray[Any]:
    """Return which labels of each row have the largest entry, ties included."""
    return np.asarray(F.max(axis=1, keepdims=True) - TIE <= F)


def positions(model: Any, X: NDArray[Any]) -> NDArray[Any]:
    """Inner products of the reduced rows, which signs and turns leave alone."""
    Z = np.asarray(model.transform(X))
    return Z @ Z.T


def fitted(method: Method, X: NDArray[Any], S: NDArray[Any]) -> Any:
    """Fit a method with a fixed seed and without its warnings."""
    parameters = inspect.signature(method.cls).parameters
    seed = {"random_state": 0} if "random_state" in parameters else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return build(method.name, **seed, **SETTINGS.get(method.name, {})).fit(X, S)


def other_orders(size: int, count: int) -> list[NDArray[Any]]:
    """Draw orders, none of which leaves everything in its place."""
    rng, found = np.random.default_rng(1), []
    while len(found) < count:
        order = rng.permutation(size)
        if not np.array_equal(order, np.arange(size)):
            found.append(order)
    return found


def changed(method: Method, kind: str, orders: int) -> dict[str, float]:
    """Return the largest share of results that other orders change, by axis."""
    X, S = make_data(kind, method.role.startswith("multilabel"))
    one = fitted(method, X, S)
    sizes = {"rows": X.shape[0], "columns": X.shape[1], "classes": S.shape[1]}
    return {
        axis: max(
            _changed(one, method, X, S, axis, order)
            for order in other_orders(size, orders)
        )
        for axis, size in sizes.items()
    }


def _changed(
    one: Any,
    method: Method,
    X: NDArray[Any],
    S: NDArray[Any],
    axis: str,
    order: NDArray[Any],
) -> float:
    """Compare a fitted method with one that was fitted in another order."""
    back = np.argsort(order)
    T, R = X, S
    if axis == "rows":
        T, R = X[order], S[order]
    elif axis == "columns":
        T = X[:, order]
    else:
        R = S[:, order]
    two = fitted(method, T, R)
    # New rows in the old order, so that only the fit differs.
    rows = X[:, order] if axis == "columns" else X
    old = result(one, X, method.role, axis)
    new = result(two, rows, method.role, axis)
    if axis == "classes" and new.ndim == 2:
        new = new[:, back]
    if method.role == "reducer":
        if axis == "rows":
            new = new[back]
        A, B = positions(one, X), positions(two, rows)
        moved = np.abs(A - B).max(axis=1) > SAME * np.abs(A).max()
        return float(np.mean((old != new).any(axis=1) | moved))
    if method.role.endswith("selector") and axis == "columns":
        new = new[back]
    if old.ndim == 1:  # the share of the selected features
        return float(np.sum(old & ~new) / max(1, old.sum()))
    return float(np.mean((old != new).any(axis=1)))


def table(
    names: list[str] | None = None, orders: int = ORDERS
) -> dict[str, dict[str, dict[str, float]]]:
    """Return the share by method, axis and kind of data."""
    shares = {}
    for name, method in methods().items():
        if not names or name in names:
            by_kind = {kind: changed(method, kind, orders) for kind in KINDS}
            shares[name] = {
                axis: {kind: by_kind[kind][axis] for kind in KINDS} for axis in AXES
            }
    return shares


def declared(cls: type) -> set[str]:
    """Return the axes whose order may change results of a class."""
    return {*getattr(cls, "_order_matters", ()), *getattr(cls, "_ties_follow", ())}


def undeclared(shares: dict[str, dict[str, dict[str, float]]]) -> list[str]:
    """Return the methods and axes that deviate without a declaration."""
    known = methods()
    return [
        f"{name}: {axis}"
        for name, by_axis in shares.items()
        for axis, by_kind in by_axis.items()
        if max(by_kind.values()) > 0 and axis not in declared(known[name].cls)
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--orders", type=int, default=ORDERS, help="of each axis")
    arguments = parser.parse_args()
    known = methods()
    bar = "=" * 28 + ("  " + "=" * 14) * len(AXES)
    print(bar)
    print(f"{'method':28}" + "".join(f"  {axis:14}" for axis in AXES))
    print(bar)
    for name in arguments.names or known:
        shares = table([name], arguments.orders)[name]
        cells = []
        for axis in AXES:
            worst = max(shares[axis], key=lambda kind: shares[axis][kind])
            share = shares[axis][worst]
            mark = "*" if axis in declared(known[name].cls) else ""
            cells.append(f"{share:.2f}{mark} {worst}" if share else f"0{mark}")
        print(f"{name:28}" + "".join(f"  {cell:14}" for cell in cells), flush=True)
    print(bar)


if __name__ == "__main__":
    main()
