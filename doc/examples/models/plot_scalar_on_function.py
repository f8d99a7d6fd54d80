"""
Which hours of the night go with a longer stay?
===============================================

A clinic has the course of its patients' temperature in the night before an operation,
and how many days they stayed. Which hours matter? The coefficient of such a regression
is a function of the hour: where it is large, the curve counts. A patient's curve and
days are private. Public are the number of patients, the course that is usual, and that
nobody is more than a degree from it or stays longer than twelve days. The patients are
simulated, so this page may show the truth beside the release.
"""

# %%
# Patients
# --------
# Curves are differences from the usual course. A warm beginning of the night goes with
# a longer stay, a warm end with a shorter one.

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np

from skfuncpriv.datasets import make_curves

made = make_curves(10_000, n_points=49, domain=(0, 8), scale=0.3, random_state=1)
hours, nights = made.grid, made.data - made.mean
rng = np.random.default_rng(2)
slope = 0.6 * np.cos(np.pi * hours / 8)
days = 7 + np.trapezoid(nights * slope, hours, axis=1) + rng.normal(0, 0.5, 10_000)

colours = plt.get_cmap("cividis")
figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
for night, stay in zip(nights[:60], days[:60], strict=True):
    ax.plot(hours, night, color=colours((stay - 4) / 6), alpha=0.6, linewidth=1)
scale = plt.cm.ScalarMappable(plt.Normalize(4, 10), colours)
figure.colorbar(scale, ax=ax, label="stay (days)")
ax.set_title("sixty patients, not published")
_ = ax.set(xlabel="hour of the night", ylabel="difference (°C)", xlim=(0, 8))

# %%
# A number on curves
# ------------------
# ``X_domain`` says that the covariate is a curve. Huber's loss counts large errors less
# than their square: one patient can then change the fit by less, so that less noise is
# needed. The seeds keep the pictures of this page the same: whoever knows them can
# subtract the noise, so a real release leaves ``random_state`` out.

from skfuncpriv import CoefficientDisplay, ICLPRegressor

model = ICLPRegressor(
    X_bounds=(-1, 1),
    X_domain=(0, 8),
    y_bounds=(2, 12),
    loss="huber",
    epsilon=1.0,
    random_state=0,
)
model.fit(nights, days)
display = CoefficientDisplay.from_estimator(model, reference=[slope])
_ = display.ax_.set(xlabel="hour of the night", ylabel="days per degree and hour")

# %%
# The band is the noise, and nothing else: that a penalty draws the curve towards zero,
# the more so the fewer people there are, is not in it.
#
# A class on curves
# -----------------
# Who stays for more than a week? The scale of a classifier's function depends on its
# penalty, but its shape says which hours speak for a long stay, and a new night may be
# asked for its probability.

from skfuncpriv import ICLPClassifier

classifier = ICLPClassifier(
    classes=[False, True],
    X_bounds=(-1, 1),
    X_domain=(0, 8),
    epsilon=1.0,
    random_state=0,
)
classifier.fit(nights[:8000], days[:8000] > 7)
display = CoefficientDisplay.from_estimator(classifier)
_ = display.ax_.set(xlabel="hour of the night", ylabel="log odds per degree and hour")

warm_at_first = 0.5 * np.cos(np.pi * hours / 8)
for name, night in (("warm at first", warm_at_first), ("warm at last", -warm_at_first)):
    probability = classifier.predict_proba(night[None])[0, 1]
    print(f"{name:13s}: stays for more than a week with probability {probability:.2f}")

# %%
# Of two thousand patients who were not in the fit it gets right as many as the truth
# behind the simulation, nearly. Such a score is a number about these patients, and not
# private.

truth = np.trapezoid(nights[8000:] * slope, hours, axis=1) > 0
print(f"released: {classifier.score(nights[8000:], days[8000:] > 7):.1%} right")
print(f"truth:    {np.mean(truth == (days[8000:] > 7)):.1%}")

# %%
# What the guarantee says
# -----------------------
# Each of the two fits promises epsilon = 1: replace one patient's night and days by
# anything else, and the published function becomes at most e = 2.72 times as likely, or
# as unlikely. Who publishes both about the same patients has spent epsilon = 2.
