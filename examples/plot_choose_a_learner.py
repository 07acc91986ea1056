"""
Which learner should I choose?
==============================

Six learners on handwritten digits whose labels are sets: the true digit and two false
ones. Which predicts new rows best, and which finds the true label of the training rows?
"""

# %%
# Digits, and candidate sets
# --------------------------
# Every row has three candidates. The truth is known here, and is used to judge only.
import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partlearn import disambiguate
from partlearn.candidates import make_candidates
from partlearn.classification import IPAL, PLAGGD, PLECOC, PLKNN, PLSVM, SURE
from partlearn.metrics import candidate_hit_rate
from partlearn.model_selection import CandidateKFold

X, y = load_digits(return_X_y=True)
X, y = X[:600], y[:600]
candidates = make_candidates(y, n_false=2, random_state=0)

# %%
# Compare
# -------
# Three folds, everything fitted on the training rows. The candidate-hit rate needs no
# truth: it is what you can look at on your own data.
learners = {
    "PL-KNN": PLKNN(),
    "PL-SVM": PLSVM(0.1, random_state=0),
    "PL-ECOC": PLECOC(random_state=0),
    "IPAL": IPAL(),
    "SURE": SURE(),
    "PL-AGGD": PLAGGD(),
}
rows = []
for name, learner in learners.items():
    accuracy, hits, seconds = [], [], 0.0
    for train, test in CandidateKFold(3).split(X):
        start = time.perf_counter()
        model = make_pipeline(StandardScaler(), learner).fit(
            X[train], candidates[train]
        )
        seconds += time.perf_counter() - start
        predicted = model.predict(X[test])
        accuracy.append(np.mean(predicted == y[test]))
        hits.append(candidate_hit_rate(candidates[test], predicted))
    rows.append((name, np.mean(accuracy), np.std(accuracy, ddof=1), np.mean(hits)))
    print(
        f"{name:8} accuracy {rows[-1][1]:.3f} +- {rows[-1][2]:.3f}   "
        f"candidate-hit rate {rows[-1][3]:.3f}   fit {seconds / 3:.2f} s"
    )

# %%
# The two scores order the learners much alike, although only one of them knows the
# truth.
fig, ax = plt.subplots(figsize=(7, 3.5))
place = np.arange(len(rows))
ax.bar(
    place - 0.2, [r[1] for r in rows], 0.4, yerr=[r[2] for r in rows], label="accuracy"
)
ax.bar(place + 0.2, [r[3] for r in rows], 0.4, label="candidate-hit rate", hatch="//")
ax.set_xticks(place, [r[0] for r in rows])
ax.set(ylim=(0.5, 1), ylabel="three folds", title="Digits, two false candidates")
ax.legend(loc="lower right")
fig.tight_layout()

# %%
# How sure are they?
# ------------------
# The same question for the training rows: which of my candidates is true, and can the
# confidence be trusted? Points below the diagonal are too sure.
fig, axes = plt.subplots(1, 3, figsize=(10, 3.6), sharey=True)
for ax, name in zip(axes, ("PL-KNN", "IPAL", "PL-AGGD"), strict=True):
    result = disambiguate(X, candidates, learners[name])
    result.plot_calibration(y, ax=ax)
    ax.set_title(f"{name}: {np.mean(result.label == y):.1%} of labels found")
fig.tight_layout()
plt.show()
