"""Oracles of the methods of 2024 to 2026: one file per method and data set."""

import numpy as np

FILES = {"em": "", "ye": "_yeast"}


def load(shared_dir, method, prefix):
    """Arrays of an oracle, by their names without the prefix."""
    folder = shared_dir / "specs" / "pml" / "oracles-2026"
    with np.load(folder / f"{method}{FILES[prefix]}.npz") as stored:
        return {name.removeprefix(f"{prefix}_"): stored[name] for name in stored.files}


def run(oracle, letter):
    """Outputs of one run, by their names."""
    start = f"{letter}_"
    return {k.removeprefix(start): v for k, v in oracle.items() if k.startswith(start)}
