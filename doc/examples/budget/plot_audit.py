"""
Auditing a mechanism
====================

A privacy engineer is given code that promises epsilon, and wants to know whether it may
be believed. An audit runs it many times on two data sets that differ in one person, and
looks for the event that tells them apart best. Nothing is private here: both data sets
are made up, and chosen to be as bad as possible. An audit can show that a promise is
broken; it is no proof that one is kept.
"""

# %%
# Three programs, one promise
# ---------------------------
# Each releases the mean of fifty numbers between 0 and 1 with Laplace noise. The first
# is right. The second lost a factor of the root of two on its way from a paper. The
# third looks up the bounds in the data.

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np

noise = np.random.default_rng(0)


def right(data, n_runs, epsilon):
    """One person moves the mean by at most 1/n."""
    return data.mean() + noise.laplace(scale=1 / (len(data) * epsilon), size=n_runs)


def wrong_scale(data, n_runs, epsilon):
    """Noise that is too small by the root of two."""
    scale = 1 / (len(data) * epsilon * np.sqrt(2))
    return data.mean() + noise.laplace(scale=scale, size=n_runs)


def wrong_bounds(data, n_runs, epsilon):
    """Bounds from the data: whoever is the largest decides about the noise."""
    scale = (data.max() - data.min()) / (len(data) * epsilon)
    return data.mean() + noise.laplace(scale=scale, size=n_runs)


# %%
# Neighbours
# ----------
# Two data sets that differ in the last person, who has the smallest value in one and
# the largest in the other. If both histograms differ nowhere by more than a factor of
# e, the promise epsilon = 1 holds for this pair.

one = np.linspace(0, 0.25, 50)
two = one.copy()
one[-1], two[-1] = 0.0, 1.0

programs = {
    "right": right,
    "scale too small": wrong_scale,
    "bounds from the data": wrong_bounds,
}
bins = np.linspace(0.0, 0.3, 90)
middle = (bins[1:] + bins[:-1]) / 2
figure, axes = plt.subplots(
    2, 3, figsize=(12, 5.5), sharex=True, height_ratios=(3, 2), layout="constrained"
)
for (name, program), (top, bottom) in zip(programs.items(), axes.T, strict=True):
    counts = [np.histogram(program(data, 200_000, 1.0), bins)[0] for data in (one, two)]
    top.stairs(counts[0], bins, color="#2a5c8a", fill=True, alpha=0.5, label="one")
    top.stairs(counts[1], bins, color="#b5532a", fill=True, alpha=0.5, label="two")
    top.set(title=name, yticks=[])
    often = np.minimum(*counts) > 100
    ratio = np.log(counts[1][often] / counts[0][often])
    bottom.axhspan(-1, 1, color="0.9")
    bottom.plot(middle[often], ratio, ".", color="0.2", markersize=4)
    bottom.set(xlabel="released mean", ylim=(-3, 3))
axes[0, 0].legend(frameon=False, title="data set")
axes[0, 0].set_ylabel("releases")
_ = axes[1, 0].set_ylabel("log of the ratio")

# %%
# The grey strip is what the promise allows.
#
# The audit
# ---------
# :func:`~skfuncpriv.audit` does that without looking at pictures: it chooses the event
# that tells most on one half of the runs, and bounds its probabilities on the other
# half. With a confidence of 99.9 % the epsilon of the program is at least what it
# finds.

from skfuncpriv import audit

promises = (0.25, 0.5, 1.0, 2.0)
figure, ax = plt.subplots(figsize=(7.5, 5), layout="constrained")
ax.plot([0.2, 2.5], [0.2, 2.5], color="0.3", label="what is promised")
ax.fill_between([0.2, 2.5], [0.2, 2.5], 20, color="#b5532a", alpha=0.08)
marks = zip(
    programs.items(), ("o", "s", "^"), ("#2a5c8a", "#b5532a", "#7a4d8f"), strict=True
)
for (name, program), marker, colour in marks:
    found = [
        audit(
            lambda data, n_runs, e=epsilon, run=program: run(data, n_runs, e),
            one,
            two,
            n_trials=200_000,
            batch=True,
        ).epsilon_lower
        for epsilon in promises
    ]
    ax.plot(promises, found, marker, color=colour, markersize=9, label=name)
    print(f"{name:21s}" + "".join(f"{value:7.2f}" for value in found))
ax.text(0.22, 11, "the promise is broken", color="#b5532a")
ax.set(xscale="log", yscale="log", xlim=(0.2, 2.5), ylim=(0.15, 20))
ax.set_xticks(promises, [f"{epsilon:g}" for epsilon in promises])
ax.set_yticks([0.25, 0.5, 1, 2, 5, 10], ["0.25", "0.5", "1", "2", "5", "10"])
ax.minorticks_off()
ax.set(xlabel="promised epsilon", ylabel="epsilon at least, by the audit")
_ = ax.legend(frameon=False, loc="lower right")

# %%
# Estimators of this package
# --------------------------
# For them, and for mechanisms made of its parts, there is more: the loss between two
# neighbours is computed exactly, releases are told apart by their likelihood ratio, and
# errors, warnings, pickles and ledgers are looked at as well.

from skfuncpriv import ICLPMean
from skfuncpriv.testing import PrivateCase, check_private_estimator

curves = noise.uniform(0.1, 0.9, (40, 12))
neighbour = curves.copy()
curves[-1], neighbour[-1] = 0.0, 1.0  # one person, replaced
case = PrivateCase(X=curves, neighbour=neighbour, queries={"mean_": ()})
outcomes = check_private_estimator(
    ICLPMean(bounds=(0, 1)),
    case,
    only=[
        "check_a_neighbour_loses_at_most_the_promise",
        "check_only_what_is_released_is_held",
        "check_every_release_is_charged_before_the_draw",
    ],
)
print(*outcomes, sep="\n")

# %%
# What the guarantee says
# -----------------------
# An epsilon that an audit finds is a fact about the program, whatever its authors say.
# That it finds less than was promised says that this pair of neighbours, these events
# and this number of runs did not suffice: a proof has to do the rest. Nor does it see
# the last digits of floating point, in which noise such as that of this page leaks; the
# noise of this package is drawn exactly and rounded once.
