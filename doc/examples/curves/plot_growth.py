"""
Growth of children, measured at ages of their own
=================================================

A health service holds the weights of children from check-ups in the first two years and
wants to publish a growth curve. No two children were weighed on the same days, and some
moved away early. The weights are private, and so are the ages at which a child was seen
and how often. Public are the number of children and what weights are possible. The
children are simulated.
"""

# %%
# One row for each check-up
# -------------------------
# Such tables are long: whose row, at what age, which weight. Two thousand children were
# seen between two and eight times; half of them leave the service before they are two.

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(0)
n_children = 2000


def weight_at(age):
    """Typical weight in kg at an age in months."""
    return 3.4 + 9.2 * (1 - np.exp(-age / 9))


n_visits = rng.integers(2, 9, n_children)
last = np.where(rng.random(n_children) < 0.5, 24, rng.uniform(3, 24, n_children))
child = np.repeat(np.arange(n_children), n_visits)
age = rng.uniform(0, last[child])
size = rng.normal(1, 0.11, n_children)
weight = size[child] * weight_at(age) + rng.normal(0, 0.1, len(child))
table = {"child": child, "age": age, "weight": weight}

# %%
# :meth:`~skfuncpriv.Curves.from_long` reads it. What it shows of itself is public: how
# many children there are, and not how many rows.

from skfuncpriv import Curves

children = Curves.from_long(table, "child", "age", "weight", domain=(0, 24))
children

# %%
# Between two check-ups a curve is a straight line; before the first and after the last
# one it is not invented.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for one in children[np.arange(60)]:
    ax.plot(one.times, one.values, ".-", color="#2a5c8a", alpha=0.35, linewidth=1)
_ = ax.set(
    xlabel="age (months)", ylabel="weight (kg)", title="sixty children, not published"
)

# %%
# The mean of those who are seen
# ------------------------------
# :class:`~skfuncpriv.PrivateSparseMean` releases the mean weight at each age over the
# children whose curve is known there, and from the same budget the share of children
# that this is. The seed keeps the picture of this page the same; a real release leaves
# ``random_state`` out.

from skfuncpriv import MeanCurveDisplay, PrivateSparseMean

model = PrivateSparseMean(bounds=(0, 20), domain=(0, 24), epsilon=2.0, random_state=0)
model.fit(children)

figure, (top, bottom) = plt.subplots(
    2,
    1,
    figsize=(8, 7),
    sharex=True,
    height_ratios=(3, 1),
    layout="constrained",
)
MeanCurveDisplay.from_estimator(model, top, reference=weight_at(model.grid_))
top.set(xlabel="", ylabel="weight (kg)")
bottom.plot(model.grid_, 100 * model.coverage_, color="#2a5c8a", linewidth=2)
_ = bottom.set(
    xlabel="age (months)", ylabel="known there (%)", ylim=(0, 100), xlim=(0, 24)
)

# %%
# The release lies a little below the reference: between check-ups a straight line cuts
# off the bend of a curve, and so does the mean of such lines. The band has no word of
# it.
#
# What the wrong mean would be
# ----------------------------
# To continue each curve at its last weight looks harmless, and is not: children who
# moved away at six months stay light for ever.

ages = model.grid_
continued = np.mean(
    [np.interp(ages, one.times, np.ravel(one.values)) for one in children], axis=0
)
for k in (25, 50, 75, 100):
    print(
        f"{ages[k]:4.0f} months: {weight_at(ages[k]):5.1f} kg in truth,"
        f" {model.mean_[k]:5.1f} released, {continued[k]:5.1f} if curves are continued"
    )

# %%
# What the guarantee says
# -----------------------
# Replace one child's whole record, other weights, other ages, more or fewer check-ups,
# by anything else: what is released becomes at most e^2 = 7.4 times as likely, or as
# unlikely. One fit pays for both curves. If children leave *because* of their weight,
# the mean of those who are seen is not that of all, with or without privacy.
