"""
Which learner should I choose, and may I trust its probabilities?
=================================================================

Learners on handwritten digits whose labels are sets: the true digit and two false ones.
Which predicts new rows best, and does a probability of 0.9 mean nine in ten?
"""

# %%
# Digits, and candidate sets
# --------------------------
# Every training row has three candidates. The truth is used to judge only.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from partlearn.candidates import make_candidates
from partlearn.classification import (
    CC,
    CLPL,
    IPAL,
    PLAGGD,
    PLECOC,
    PLKNN,
    PLSVM,
    PLSVMCV,
    PRODEN,
    SURE,
    CandidateClassifier,
    CandidatePruner,
    CoupledClassifier,
    CRISPClassifier,
    PooledClassifier,
    PredictionSets,
)
from partlearn.decomposition import CENDA
from partlearn.inspection import CalibrationDisplay, RiskCoverageDisplay
from partlearn.metrics import candidate_hit_rate

X, y = load_digits(return_X_y=True)
X, y = StandardScaler().fit_transform(X[:900]), y[:900]
candidates = make_candidates(y, n_false=2, random_state=0)
train, test = slice(0, 450), slice(450, 900)


def compare(learners):
    columns = 3
    lines = -(-len(learners) // columns)
    _, axes = plt.subplots(
        lines, columns, figsize=(11, 3.5 * lines), layout="constrained"
    )
    for (name, learner), ax in zip(learners.items(), axes.flat, strict=True):
        learner.fit(X[train], candidates[train])
        predicted = learner.predict(X[test])
        accuracy = (predicted == y[test]).mean()
        hits = candidate_hit_rate(candidates[test], predicted)
        print(f"{name:24} accuracy {accuracy:.3f}   candidate-hit rate {hits:.3f}")
        CalibrationDisplay.from_estimator(learner, X[test], y[test], ax=ax)
        ax.set_title(f"{name}: {accuracy:.0%} right")


# %%
# Published learners
# ------------------
# The candidate-hit rate needs no truth: it is what you can look at on your own data.
# Points below the diagonal are too sure, points above it not sure enough.

compare(
    {
        "PL-KNN": PLKNN(),
        "PL-SVM": PLSVM(0.1, random_state=0),
        "PL-ECOC": PLECOC(random_state=0),
        "IPAL": IPAL(),
        "SURE": SURE(),
        "PL-AGGD": PLAGGD(),
    }
)

# %%
# Likelihood learners, and one whose penalty is chosen by cross-validation.

compare(
    {
        "CC": CC(),
        "CLPL": CLPL(),
        "PRODEN": PRODEN(random_state=0),
        "PL-SVM, C chosen": PLSVMCV(random_state=0),
        "sets pruned, PL-KNN": CandidatePruner(PLKNN()),
        "CENDA coupled, PL-KNN": CoupledClassifier(CENDA(), PLKNN()),
    }
)

# %%
# Cross-fitted learners
# ---------------------
# CRISPClassifier, and classifiers of scikit-learn that never saw the rows whose labels
# they judge.

compare(
    {
        "CRISPClassifier": CRISPClassifier(),
        "a forest": CandidateClassifier(
            RandomForestClassifier(100, random_state=0), random_state=0
        ),
        "logistic regression": CandidateClassifier(
            LogisticRegression(max_iter=1000), random_state=0
        ),
    }
)

# %%
# Probabilities mended
# --------------------
# PooledClassifier chooses, on rows held out and without the truth, how sure a learner
# may be, and how much each of several learners counts.

compare(
    {
        "PL-KNN, calibrated": PooledClassifier([PLKNN()], random_state=0),
        "SURE, calibrated": PooledClassifier([SURE()], random_state=0),
        "both": PooledClassifier([PLKNN(), SURE()], random_state=0),
    }
)

# %%
# What if a learner may keep silent?
# ----------------------------------
# The surest rows are answered first: how many errors are among them? The dashed lines
# are the best order there could be.

_, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for name, learner in {"PL-KNN": PLKNN(), "CRISPClassifier": CRISPClassifier()}.items():
    learner.fit(X[train], candidates[train])
    RiskCoverageDisplay.from_estimator(learner, X[test], y[test], name=name, ax=ax)
plt.show()

# %%
# What if a learner may name several labels?
# ------------------------------------------
# Sets that hold the true label with a wanted probability, calibrated on candidates.

_, ax = plt.subplots(figsize=(6, 4), layout="constrained")
model = PredictionSets(CRISPClassifier(), random_state=0)
model.fit(X[train], candidates[train])
wanted = [0.8, 0.9, 0.95, 0.99]
sets = [model.predict_set(X[test], coverage=share) for share in wanted]
held = [chosen[range(450), y[test]].mean() for chosen in sets]
size = [chosen.sum(axis=1).mean() for chosen in sets]
ax.plot(wanted, held, "o-", label="share of sets that hold the true label")
ax.plot(wanted, wanted, "--", color="0.6", label="wanted")
for share, covered, mean in zip(wanted, held, size, strict=True):
    ax.annotate(f"{mean:.2f} labels", (share, covered))
ax.set(xlabel="wanted coverage", ylabel="coverage")
ax.legend()
plt.show()
