"""A synthetic table: identifiers, dates, missing values, categories and text."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch, check_random_state

from partlearn._arguments import argument
from partlearn._typing import Array

_LABELS = ("account", "billing", "bug", "delivery", "feature", "refund")
_CHANNELS = ("email", "phone", "chat", "web form")
_PRODUCTS = ("basic", "family", "office", "pro", "school", "studio", "travel")
# Words that come with a label, and those that come with any.
_WORDS = {
    "account": ("login", "password", "locked", "email", "profile"),
    "billing": ("invoice", "charged", "card", "twice", "payment"),
    "bug": ("crash", "error", "screen", "freezes", "update"),
    "delivery": ("parcel", "courier", "late", "address", "tracking"),
    "feature": ("wish", "option", "export", "dark", "support"),
    "refund": ("money", "back", "return", "cancel", "order"),
}
_COMMON = ("please", "help", "since", "yesterday", "my", "the", "again", "order", "app")


def make_tickets(
    n_samples: int = 3000,
    *,
    single: float = 0.4,
    missing: float = 0.1,
    random_state: Any = 0,
) -> Bunch:
    """Make a table of support tickets with candidate labels.

    Parameters
    ----------
    n_samples : int, default=3000
        Rows.
    single : float, default=0.4
        Share of rows with a single candidate, the true label; the others have one or
        two false ones.
    missing : float, default=0.1
        Share of missing values in two columns of numbers.
    random_state : int, RandomState instance or None, default=0
        Seed.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        ``columns``, a dict of nine columns (``ticket``, ``opened``, ``channel``,
        ``product``, ``waited``, ``messages``, ``amount``, ``subject``, ``candidates``);
        ``truth``, the true labels; ``target_names``; ``DESCR``.

    Examples
    --------
    >>> from partlearn.datasets import make_tickets
    >>> tickets = make_tickets(3)
    >>> list(tickets.columns)[:4], tickets.columns["ticket"][0]
    (['ticket', 'opened', 'channel', 'product'], 'T-00001')
    """
    if n_samples < 1:
        raise ValueError(
            f"{argument('n_samples')} must be at least 1; got {n_samples}."
        )
    rng = check_random_state(random_state)
    q = len(_LABELS)
    y = rng.randint(q, size=n_samples)
    days = rng.randint(0, 730, size=n_samples) + 3 * y
    waited = np.exp(rng.normal(1 + 0.35 * y, 0.6)).round(1)
    amount = np.exp(rng.normal(2.5 + 0.5 * np.isin(y, (1, 5)), 0.6)).round(2)
    columns: dict[str, NDArray[Any]] = {
        "ticket": _objects(f"T-{i + 1:05d}" for i in range(n_samples)),
        "opened": _objects(
            str(np.datetime64("2023-01-01") + np.timedelta64(int(day), "D"))
            for day in days
        ),
        "channel": _drawn(_CHANNELS, y, rng),
        "product": _drawn(_PRODUCTS, y, rng),
        "waited": _with_gaps(waited, missing * (1 + (y == 2)), rng),
        "messages": rng.poisson(2 + 0.6 * y).astype(np.float64),
        "amount": _with_gaps(amount, missing, rng),
        "subject": _objects(_subject(_LABELS[label], rng) for label in y),
        "candidates": _objects(_candidates(y, single, rng)),
    }
    return Bunch(
        columns=columns,
        truth=np.asarray(_LABELS)[y],
        target_names=list(_LABELS),
        DESCR=f"{n_samples} made support tickets of {q} kinds.",
    )


def _objects(values: Iterable[str]) -> NDArray[Any]:
    return np.array(list(values), dtype=object)


def _drawn(
    names: tuple[str, ...], y: NDArray[Any], rng: np.random.RandomState
) -> NDArray[Any]:
    """Draw values; each label prefers one of them."""
    preferred = (y * 3 + 1) % len(names)
    chosen = np.where(
        rng.uniform(size=len(y)) < 0.35, preferred, rng.randint(len(names), size=len(y))
    )
    return np.asarray(names, dtype=object)[chosen]


def _with_gaps(values: Array, share: Any, rng: np.random.RandomState) -> Array:
    return np.where(rng.uniform(size=len(values)) < share, np.nan, values)


def _subject(label: str, rng: np.random.RandomState) -> str:
    # Some say what it is about, and people complain about more than one thing.
    own = rng.choice(_WORDS[label], size=int(rng.uniform() < 0.6))
    other = list(rng.choice(_COMMON, size=3 + rng.randint(3), replace=False))
    if rng.uniform() < 0.5:
        other.append(rng.choice(_WORDS[_LABELS[rng.randint(len(_LABELS))]]))
    words = [*own, *other]
    rng.shuffle(words)
    return " ".join(words)


def _candidates(
    y: NDArray[Any], single: float, rng: np.random.RandomState
) -> list[str]:
    rows = []
    for label in y:
        sets = {int(label)}
        if rng.uniform() >= single:
            others = [j for j in range(len(_LABELS)) if j != label]
            sets |= set(rng.choice(others, size=1 + rng.randint(2), replace=False))
        rows.append("|".join(_LABELS[j] for j in sorted(sets)))
    return rows
