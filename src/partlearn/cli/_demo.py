"""``partlearn demo``: find labels of data that ship with scikit-learn."""

# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path
from typing import Annotated, Any

import typer

from partlearn.cli._bench import run_and_report
from partlearn.cli._console import say
from partlearn.cli._options import Json, with_options

N_FALSE = 4  # false labels beside the true one
ON_A_PAGE = 8  # digits, in the second part


@with_options()
def demo(
    *,
    out: Path = Path("partlearn-demo"),
    jobs: Annotated[int, typer.Option(min=1)] = 2,
    quick: bool = False,
    as_json: Json = False,
) -> None:
    """Find the labels of handwritten digits that have five candidates each.

    Prints the accuracy on these images and on new ones, and writes a page on which
    doubtful digits can be inspected and corrected. Then come pages of digits with one
    list of labels per page (bags). Finally, a small benchmark on data where dimension
    reduction does not help, with a page of results.

    Parameters
    ----------
    out
        Folder for results and reports.
    jobs
        Number of processes.
    quick
        Use fewer rows and folds; takes a few seconds.
    """
    plan = "demo-quick" if quick else "demo"
    if as_json:
        run_and_report(plan, out, workers=jobs, as_json=True)
        return
    right, new, told = _label_digits(out / "labels.html", 300 if quick else 1000)
    _label_pages(out / "pages.html", 304 if quick else 600)
    print(
        "And where it does not help: reducing the 64 pixels to fewer numbers first.\n"
        "Each image with r false labels beside the true one, two learners (PL-KNN, "
        "IPAL):\n"
    )
    run_and_report(plan, out, workers=jobs, sections=("Conclusion", "Results"))
    print(
        f"\nIn one sentence: from sets of {N_FALSE + 1} labels, {right:.0%} of "
        f"the digits got their right label and {new:.0%} of new images were "
        "recognized, where logistic regression given the true labels recognizes "
        f"{told:.0%}."
    )


def _label_digits(page: Path, n_rows: int) -> tuple[float, float, float]:
    """Disambiguate digits, classify new ones and write the label report.

    Returns the share of right labels, the accuracy on new digits, and the accuracy of
    logistic regression with the true labels.
    """
    import numpy as np
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from partlearn import disambiguate
    from partlearn.candidates import make_candidates
    from partlearn.classification import CRISPClassifier

    X, y = load_digits(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(y))
    train, test = order[:n_rows], order[n_rows:]
    S = make_candidates(y[train], N_FALSE, random_state=0)
    result = disambiguate(X[train], S)
    model = CRISPClassifier().fit(X[train], S)

    def supervised(rows: Any, labels: Any) -> float:
        line = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        return float(line.fit(rows, labels).score(X[test], y[test]))

    row, label = np.nonzero(S)
    right = result.agreement(y[train]).accuracy
    new = float(model.score(X[test], y[test]))
    told = supervised(X[train], y[train])
    print(
        f"{n_rows:,} images of handwritten digits. Each came with "
        f"{N_FALSE + 1} possible labels, one of them true.\n\n"
        f"  labels found right                                {right:6.1%}\n"
        f"    a guess among the {N_FALSE + 1} would get                   "
        f"{1 / (N_FALSE + 1):6.1%}\n"
        f"  new images recognized, learned from the sets      {new:6.1%}\n"
        f"    logistic regression on all candidates           "
        f"{supervised(X[train][row], label):6.1%}\n"
        f"    logistic regression with the true labels        {told:6.1%}\n"
    )
    title = f"Handwritten digits with {N_FALSE + 1} possible labels each"
    _write_page(result, page, X[train], title)
    return right, new, told


def _label_pages(page: Path, n_rows: int) -> None:
    """Disambiguate digits on pages with one list each, without and with the pages."""
    import numpy as np
    from sklearn.datasets import load_digits

    from partlearn import disambiguate
    from partlearn.candidates import make_bags

    X, y = load_digits(return_X_y=True)
    rows = np.random.RandomState(0).permutation(len(y))[:n_rows]
    X, y = X[rows], y[rows]
    S, pages = make_bags(y, size=ON_A_PAGE, random_state=0)
    alone = disambiguate(X, S).agreement(y).accuracy
    result = disambiguate(X, S, bags=pages)
    print(
        f"{n_rows} images on {n_rows // ON_A_PAGE} pages of {ON_A_PAGE} digits. Each "
        "page came with a list of its digits, in no order,\nso that an image has "
        f"{S.sum() / n_rows:.1f} possible labels. Every digit of the list is on the "
        "page.\n\n"
        f"  labels found right, each image by itself          {alone:6.1%}\n"
        "  labels found right, images of a page together     "
        f"{result.agreement(y).accuracy:6.1%}\n"
    )
    title = f"Pages of {ON_A_PAGE} handwritten digits with a list each"
    _write_page(result, page, X, title)


def _write_page(result: Any, page: Path, X: Any, title: str) -> None:
    """Write the label report, with a picture of each digit."""
    try:
        result.to_html(page, images=list(X.reshape(-1, 8, 8)), title=title)
    except ImportError:
        say("The label report needs jinja2: pip install 'partlearn[report]'.")
        return
    print(f"Label report, to look at doubtful digits: {page}\n")
