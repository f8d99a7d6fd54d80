"""
A pipeline, and a private choice within it
==========================================

A data scientist predicts from two blood markers who needs a second appointment, and
works with pipelines and grid searches of scikit-learn. Markers are skewed, so their
logarithm comes first; and the width of a kernel has to be chosen. Both the markers and
the outcome of a patient are private. Public are the number of patients, the range in
which a laboratory reports, and the widths that are tried. The patients are simulated.
"""

# %%
# Patients
# --------

import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(0)
scores = rng.normal(size=(14_000, 2))
markers = np.exp(1 + 0.8 * scores)  # in mg/l


def log_odds(scores):
    """The truth, which bends: of a second appointment."""
    return 3 * np.sin(1.3 * scores[..., 0]) - 2.5 * scores[..., 1]


needed = rng.random(14_000) < 1 / (1 + np.exp(-log_odds(scores)))

# %%
# A step that learns nothing, then a private one
# ----------------------------------------------
# Bounds are those of what enters the last step: the laboratory reports from 0 to 53
# mg/l, and log(1 + x) of that is from 0 to 4. A step that *learns* from the table, such
# as ``StandardScaler``, would see raw data: what it learns is not protected by the
# private step behind it. In strict mode that is refused, as is a seed, or a release
# without a ledger.

import os
import tempfile

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from skfuncpriv import BudgetLedger, PrivacyError, PrivateKernelClassifier, config

ledger = os.path.join(tempfile.mkdtemp(), "clinic.db")
BudgetLedger(ledger, epsilon=3.0)
classifier = PrivateKernelClassifier(
    bounds=((0, 0), (4, 4)), classes=[False, True], ledger=ledger
)
with config(strict=True):
    try:
        make_pipeline(StandardScaler(), classifier).fit(markers, needed)
    except PrivacyError as error:
        print(error)

# %%
# How wide a kernel?
# ------------------
# scikit-learn's ``GridSearchCV`` would pay for every fit, and choose by scores that are
# not private. :class:`~skfuncpriv.PrivateGridSearchCV` pays for candidates, choice and
# last fit with the one epsilon that is stated. The seed keeps this page the same; a
# real search leaves ``random_state`` out, since whoever knows it can subtract the
# noise.

from sklearn.base import clone

from skfuncpriv import PrivateGridSearchCV
from skfuncpriv.gaussian_process import GaussianKernel

classifier.set_params(ledger=None)
pipeline = make_pipeline(FunctionTransformer(np.log1p), classifier)
widths = [GaussianKernel(width) for width in (0.7, 1.4, 2.8)]
search = PrivateGridSearchCV(
    pipeline,
    {"privatekernelclassifier__kernel": widths},
    epsilon=2.0,
    random_state=0,
)
search.fit(markers[:12_000], needed[:12_000])
print(search.best_params_)
print(search.guarantee_)
for part, cost in search.costs_.items():
    print(f"  {part}: epsilon = {cost.epsilon:g}")

# %%
# The released map
# ----------------
# The model is released as a whole: it may be asked anywhere, as often as anybody likes.
# The pale lines are the border of ten other fits like the last one, for the sake of
# this picture: how far they are apart is the noise.

side = np.linspace(0.6, 2.75, 80)
plane = np.stack(np.meshgrid(side, side), axis=-1)
asked = np.expm1(plane.reshape(-1, 2))
true_odds = log_odds((np.log(np.expm1(plane)) - 1) / 0.8)

figure, ax = plt.subplots(figsize=(7.5, 6), layout="constrained")
probability = search.predict_proba(asked)[:, 1].reshape(80, 80)
filled = ax.contourf(
    side, side, probability, levels=np.linspace(0, 1, 11), cmap="RdBu_r", alpha=0.8
)
again = clone(pipeline).set_params(
    **search.best_params_,
    privatekernelclassifier__epsilon=search.costs_["refit"].epsilon,
)
for seed in range(1, 11):
    again.set_params(privatekernelclassifier__random_state=seed)
    again.fit(markers[:12_000], needed[:12_000])
    border = again.predict_proba(asked)[:, 1].reshape(80, 80)
    ax.contour(side, side, border, levels=[0.5], colors="0.35", linewidths=0.6)
ax.contour(side, side, probability, levels=[0.5], colors="black", linewidths=2)
ax.contour(side, side, true_odds, levels=[0], colors="black", linestyles="--")
figure.colorbar(filled, label="released probability of a second appointment")
ticks = np.array([1, 2, 5, 10])
ax.set_xticks(np.log1p(ticks), ticks)
ax.set_yticks(np.log1p(ticks), ticks)
ax.set(xlabel="first marker (mg/l)", ylabel="second marker (mg/l)")
for style, width, label in (
    ("-", 2, "released border"),
    ("-", 0.6, "ten more releases"),
    ("--", 1.5, "true border"),
):
    ax.plot([], [], style, color="black", linewidth=width, label=label)
_ = ax.legend(loc="upper right")

# %%
# How good is it?
# ---------------
# On two thousand patients who were not in the fit, beside the best that anybody could
# do, who knows the truth. Such a score is a number about these patients, and not
# private: it is for the curator, or for data that may be shown.

best = np.mean((log_odds(scores[12_000:]) > 0) == needed[12_000:])
print(
    f"right: {search.score(markers[12_000:], needed[12_000:]):.1%}, at best {best:.1%}"
)

# %%
# What the guarantee says
# -----------------------
# With epsilon = 2 for everything, the odds of any statement about one patient, markers
# and outcome, change by a factor of at most e^2 = 7.4 when the chosen width and the
# model are published.
