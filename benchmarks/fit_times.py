"""Seconds to fit each learner and reducer with its defaults on the same digits."""

import time
import warnings

from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from partlearn._math.linalg import z_scores
from partlearn._registry import methods
from partlearn.candidates import make_candidates

ROWS = 1000


def main() -> None:
    """Print the least of two fits of every method that needs no part, in CPU time."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y = load_digits(return_X_y=True)
    X, S = z_scores(X[:ROWS]), make_candidates(y[:ROWS], 2, random_state=0)
    print(f"{ROWS} digits of 64 pixels, 10 classes, two false candidates")
    for name, method in methods("reducer", "learner").items():
        if method.required:
            continue
        seconds = []
        for _ in range(2):
            start = time.process_time()
            method.cls().fit(X, S)
            seconds.append(time.process_time() - start)
        print(f"{name:20} {min(seconds):6.2f} s")


if __name__ == "__main__":
    main()
