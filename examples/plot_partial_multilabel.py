"""
Do selected features help a learner that knows only candidate tags?
===================================================================

Pictures were tagged by people who were generous: every picture has all its true tags
and two false ones. Selectors rank the features by these candidates, and learners learn
from them. Whether this is worth anything is only seen beside all features, random
features, and a predictor that looks at no feature at all.
"""

# %%
# Pictures with tags
# ------------------
# Eight of sixty features decide six tags; the others say nothing. False tags are added
# to training rows only.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import MinMaxScaler

from partlearn.multilabel import add_noise_labels

rng = np.random.RandomState(0)
X = MinMaxScaler().fit_transform(rng.uniform(size=(500, 60)))
weights = rng.normal(size=(8, 6)) * (rng.uniform(size=(8, 6)) < 0.5)
signal = X[:, :8] @ weights + 0.15 * rng.normal(size=(500, 6))
Y = signal > np.quantile(signal, 0.7, axis=0)
train, test = slice(0, 350), slice(350, 500)
candidates = add_noise_labels(Y[train], 2, random_state=0)

# %%
# Which selectors find the eight features?
# ----------------------------------------
# Each takes eight features; ML-KNN behind them predicts the tags of new pictures. The
# curves show the objective of each fit.

from partlearn.feature_selection import RandomSelection
from partlearn.inspection import CalibrationDisplay, ConvergenceDisplay
from partlearn.metrics import average_precision
from partlearn.multilabel.classification import MLKNN
from partlearn.multilabel.feature_selection import (
    DRMFS,
    LCFSPML,
    MIFS,
    PMFSLRS,
    PMLFSLA,
    PMLFSMIR,
    PMLFSNF,
    PMLFSSO,
    TRACE,
)


def score(kept):
    model = MLKNN(10).fit(X[train][:, kept], candidates)
    return average_precision(Y[test], model.predict_proba(X[test][:, kept]))


selectors = [
    TRACE(8),
    PMLFSLA(8, n_latent=6, random_state=0),
    PMLFSSO(8, random_state=0),
    PMLFSMIR(8, random_state=0),
    PMFSLRS(8),
    PMLFSNF(8, alpha=1.0, random_state=0),
    LCFSPML(8, random_state=0),
    MIFS(8, tol=1e-3, random_state=0),
    DRMFS(8, random_state=0),
]
figure, axes = plt.subplots(3, 3, figsize=(12, 9), layout="constrained")
for selector, ax in zip(selectors, axes.flat, strict=False):
    selector.fit(X[train], candidates)
    support = selector.get_support()
    name, hits = type(selector).__name__, np.count_nonzero(support[:8])
    print(f"{name:10} {hits} of 8 relevant, average precision {score(support):.3f}")
    ConvergenceDisplay.from_estimator(selector, ax=ax)
    ax.set_title(f"{name}: {hits} of 8 relevant")
chance = [
    score(RandomSelection(8, random_state=k).fit(X[train], candidates).get_support())
    for k in range(10)
]
print(f"random     average precision {np.mean(chance):.3f}, ten draws")
print(f"all 60     average precision {score(np.ones(60, dtype=bool)):.3f}")
frequency = np.tile(candidates.mean(axis=0), (150, 1))
print(f"no feature average precision {average_precision(Y[test], frequency):.3f}")

# %%
# May I trust the probability of a tag?
# -------------------------------------
# Every learner on the features that TRACE selected: the probability of a tag beside the
# share of pictures that have it. Learners that take all candidates for true are too
# sure.

from partlearn.multilabel.classification import (
    FPML,
    PMLFP,
    PMLLC,
    PMLLENFN,
    PMLNI,
    PMLPLR,
    CRISPMultiLabelClassifier,
    LinearSVM,
    ParticleMAP,
    ParticleVLS,
    Schirn,
)

kept = selectors[0].get_support()
learners = [
    MLKNN(10),
    LinearSVM(),
    FPML(random_state=0),
    PMLLC(max_iter=100),
    PMLFP(max_iter=100, random_state=0),
    ParticleVLS(),
    ParticleMAP(),
    PMLNI(beta=1.2),
    PMLLENFN(v_step="backtracking", random_state=0),
    PMLPLR(random_state=0),
    Schirn(lam=1.0, fit_intercept=True, threshold=0.5),
    CRISPMultiLabelClassifier(false_rate=0.3),
]
figure, axes = plt.subplots(3, 4, figsize=(13, 9), layout="constrained")
for learner, ax in zip(learners, axes.flat, strict=False):
    P = learner.fit(X[train][:, kept], candidates).predict_proba(X[test][:, kept])
    CalibrationDisplay.from_predictions(P.ravel(), Y[test].ravel(), ax=ax)
    precision = average_precision(Y[test], P)
    ax.set_title(f"{type(learner).__name__}: average precision {precision:.2f}")
    ax.set(xlabel="probability of a tag", ylabel="share of pictures with it")
for ax in axes.flat[len(learners) :]:
    ax.set_axis_off()
plt.show()

# %%
# Here few features matter and a selector can find them. Real data are less kind:
# :doc:`/user_guide/pml_published_numbers` has the comparison on five public sets, with
# the published values beside it.
