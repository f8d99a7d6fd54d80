"""
Synthetic curves from private components
========================================

Somebody needs curves to develop software with, to teach, or to plan the next study, and
the real ones cannot be handed out. :class:`~skfuncpriv.PrivateFPCA` learns from them
how people differ: a mean, principal components and their variances, under differential
privacy. From those any number of new curves may be drawn, and none of them is
anybody's. The curves are private; bounds, domain and the number of people are public.
The people of this page are simulated, so that it may show the truth beside the release.
"""

# %%
# Curves with known components
# ----------------------------
# :func:`~skfuncpriv.datasets.make_curves` adds cosine waves to a mean. Read a curve as
# the angle of a joint during a step, from one touch of the ground to the next. The size
# of the k-th wave has the standard deviation 2 / k^2 degrees, so the waves are the
# components, and the first one has more than nine tenths of the variance.

# sphinx_gallery_thumbnail_number = 3
import matplotlib.pyplot as plt
import numpy as np

from skfuncpriv import ComponentsDisplay, CovarianceDisplay, PrivateFPCA
from skfuncpriv.datasets import make_curves

made = make_curves(10_000, n_points=60, domain=(0, 100), random_state=0)
step, people = made.grid, 10 * made.data

# %%
# One budget for all of it
# ------------------------
# It pays for the mean, for how far people are from it, and for the covariance of what
# is left. The seed keeps the pictures of this page the same. Whoever knows a seed can
# subtract the noise: a real release leaves ``random_state`` out.

model = PrivateFPCA(
    n_components=4, bounds=(-20, 20), domain=(0, 100), epsilon=2.0, random_state=0
)
model.fit(people)
display = ComponentsDisplay.from_estimator(model)
for ax in display.ax_[2:]:
    ax.set_xlabel("time of the step (%)")
for ax in display.ax_[::2]:
    ax.set_ylabel("angle (degrees)")

# %%
# Each panel has the mean, and what two standard deviations of a component do to it. How
# many components are more than noise follows from the release, ``n_detectable_``, and
# is free to ask; the others are grey.

from scipy.integrate import trapezoid


def cosine(component, k):
    """That of the angle between a component and the k-th wave, both of norm one."""
    wave = np.cos(np.pi * k * step / 100) / np.sqrt(50)
    return abs(trapezoid(component * wave, step))


for k, component in enumerate(model.components_, start=1):
    verdict = "stands out" if k <= model.n_detectable_ else "noise"
    print(f"component {k}: cosine {cosine(component, k):.2f} with wave {k}, {verdict}")

# %%
# The covariance
# --------------
# At which two moments of a step do people's deviations go together? The lines in the
# colour bar mark the noise of a cell.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
CovarianceDisplay.from_estimator(model, left)
CovarianceDisplay.from_estimator(model, right, correlation=True)
for ax in (left, right):
    ax.set(xlabel="time of the step (%)", ylabel="time of the step (%)")

# %%
# Synthetic people
# ----------------
# ``sample`` draws curves with normal scores on the components that stand out. They are
# made of the release alone, and cost nothing, however many there are.

model.set_params(n_components=None).fit(people)
synthetic = model.sample(10_000, random_state=1)

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 4), sharex=True, sharey=True, layout="constrained"
)
left.plot(step, people[:50].T, color="0.35", alpha=0.4, linewidth=1)
left.set(title="fifty people, not published", ylabel="angle (degrees)")
right.plot(step, synthetic[:50].T, color="#2a5c8a", alpha=0.4, linewidth=1)
right.set(title="fifty synthetic people")
for ax in (left, right):
    ax.set_xlabel("time of the step (%)")

# %%
# How widely people and synthetic people scatter at each moment:

figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
ax.plot(step, people.std(axis=0), "--", color="0.35", label="people")
ax.plot(step, synthetic.std(axis=0), color="#2a5c8a", label="synthetic people")
ax.set(
    xlabel="time of the step (%)", ylabel="standard deviation (degrees)", ylim=(0, 4)
)
_ = ax.legend(frameon=False)

# %%
# What the guarantee says
# -----------------------
# With epsilon = 2 the odds of any statement about one person change by a factor of at
# most e^2 = 7.4 when the components are published, and not at all by what is made of
# them afterwards. A million synthetic curves look precise, and are as precise as the
# release: what was not detected, such as the smaller waves here, is not in them.
