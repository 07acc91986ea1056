"""
Do selected features help a learner that knows only candidate tags?
===================================================================

Pictures were tagged by people who were generous: every picture has all its true tags
and two false ones. A selector ranks the features by these candidates, ML-KNN learns
from the features that are left, and both sit in one scikit-learn pipeline. Whether
this is worth anything is only seen beside all features, random features, and a
predictor that looks at no feature at all.
"""

# %%
# Pictures with tags
# ------------------
# Eight of sixty features decide six tags; the others say nothing.
import numpy as np

rng = np.random.RandomState(0)
tags = ["beach", "city", "dog", "forest", "night", "snow"]
X = rng.uniform(size=(500, 60))
weights = rng.normal(size=(8, 6)) * (rng.uniform(size=(8, 6)) < 0.5)
signal = X[:, :8] @ weights + 0.15 * rng.normal(size=(500, 6))
Y = signal > np.quantile(signal, 0.7, axis=0)
print(f"{Y.sum(axis=1).mean():.2f} true tags a picture")

# %%
# One pipeline for each question
# ------------------------------
# Scaling, selection and learning are steps of one estimator: whatever is fitted is
# fitted on the rows given to ``fit``, and nothing leaks from the test rows.
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from partlearn.feature_selection import RandomSelection
from partlearn.multilabel import MLKNN, PMLFSLA, TRACE


def stacked(*selector):
    return make_pipeline(MinMaxScaler(clip=True), *selector, MLKNN(10))


pipelines = {
    "TRACE, 8 features": stacked(TRACE(8)),
    "PML-FSLA, 8 features": stacked(PMLFSLA(8, n_latent=6, random_state=0)),
    "random, 8 features": stacked(RandomSelection(8, random_state=0)),
    "all 60 features": stacked(),
}

# %%
# Train on candidates, test on true tags
# --------------------------------------
# False tags are added to training rows only. Random features and splits are drawn anew
# in every round: a single draw may be lucky.
from sklearn.base import clone
from sklearn.model_selection import ShuffleSplit

from partlearn.metrics import average_precision
from partlearn.multilabel import add_noise_labels

scores = {name: [] for name in [*pipelines, "tag frequency"]}
for seed, (train, test) in enumerate(
    ShuffleSplit(8, test_size=0.3, random_state=0).split(X)
):
    candidates = add_noise_labels(Y[train], 2, random_state=seed)
    for name, pipeline in pipelines.items():
        model = clone(pipeline)
        if name.startswith("random"):
            model.set_params(randomselection__random_state=seed)
        model.fit(X[train], candidates)
        probability = model.predict_proba(X[test])
        scores[name].append(average_precision(Y[test], probability))
    frequency = np.tile(candidates.mean(axis=0), (len(test), 1))
    scores["tag frequency"].append(average_precision(Y[test], frequency))

for name, values in scores.items():
    print(f"{name:22s} {np.mean(values):.3f} ± {np.std(values, ddof=1):.3f}")

# %%
# What was selected
# -----------------
# The last pipeline of each kind, fitted on all pictures: how many of the eight features
# that decide the tags are among the eight selected ones?
candidates = add_noise_labels(Y, 2, random_state=99)
for name in list(pipelines)[:3]:
    selector = clone(pipelines[name]).fit(X, candidates)[1]
    found = np.count_nonzero(selector.get_support()[:8])
    print(f"{name:22s} {found} of 8 are relevant")

# %%
# In one picture
# --------------
# Dots are rounds. A selector has to be right of random features, and better than
# leaving the selection out.
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
for i, values in enumerate(reversed(scores.values())):
    ax.plot(values, np.full(len(values), i), "o", alpha=0.5, color="#0072B2")
    ax.plot(np.mean(values), i, "|", markersize=22, color="black")
ax.set_yticks(range(len(scores)), list(reversed(scores)))
ax.set_xlabel("average precision on true tags")
plt.show()

# %%
# Here few features matter and a selector can find them. Real data are less kind:
# :doc:`/user_guide/pml_published_numbers` has the same comparison on five public sets,
# with the published values beside it.
