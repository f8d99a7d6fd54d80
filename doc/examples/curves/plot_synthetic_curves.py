"""
Private covariance and components
=================================

How curves differ from each other, released under differential privacy: the covariance
of two points of a curve, its principal components, and synthetic curves drawn from
them. The curves are simulated, so this page may show what is never shown otherwise: the
components behind the release.
"""

# %%
# Curves with known components
# ----------------------------
# `make_curves` adds cosine waves to a mean. The coefficient of the k-th wave has the
# standard deviation 0.2 / k^2, so the waves are the components, and the first one holds
# more than nine tenths of the variance.

import matplotlib.pyplot as plt
import numpy as np

from skfuncpriv import ComponentsDisplay, CovarianceDisplay, PrivateFPCA
from skfuncpriv.datasets import load_elnino, make_curves

made = make_curves(10_000, n_points=60, random_state=0)
model = PrivateFPCA(n_components=4, bounds=(-2, 2), epsilon=2.0, random_state=0)
_ = model.fit(made.data)

# %%
# The covariance
# --------------
# One budget pays for everything: the mean, how far people are from it, and the second
# moments of what is left. The lines in the colour bar are the noise of a cell. Seeds
# make this page repeatable; never publish a seeded release.

figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
CovarianceDisplay.from_estimator(model, axes[0])
_ = CovarianceDisplay.from_estimator(model, axes[1], correlation=True)

# %%
# The components
# --------------
# Each panel has the mean, and what two standard deviations of one component do to it.
# How many components stand out of the noise follows from the release before denoising
# and from the law of its noise. The others are drawn in grey.

_ = ComponentsDisplay.from_estimator(model)

# %%
# The cosine of the angle between a released component and the wave that it should be:


def cosine(component, k):
    """That of a component with the k-th wave; both have norm one."""
    wave = np.sqrt(2) * np.cos(np.pi * k * made.grid)
    return abs(np.trapezoid(component * wave, made.grid))


for k, component in enumerate(model.components_, start=1):
    verdict = "stands out" if k <= model.n_detectable_ else "noise"
    print(f"component {k}: cosine {cosine(component, k):.2f}, {verdict}")

# %%
# How many people it takes
# ------------------------
# The first component from fewer people at epsilon = 1, and how many components stand
# out, five seeds each.

for n_people in (250, 1000, 4000):
    cosines, counts = [], []
    for seed in range(5):
        few = PrivateFPCA(n_components=1, bounds=(-2, 2), random_state=seed)
        few.fit(made.data[:n_people])
        cosines.append(cosine(few.components_[0], 1))
        counts.append(few.n_detectable_)
    print(f"{n_people:5d} people: cosine {np.median(cosines):.2f}, stand out: {counts}")

# %%
# A small table
# -------------
# Sixty-one years of sea temperature, where a year takes the place of a person: few, so
# the budget has to be large. Warm and cold years differ by a shift of the whole curve.

elnino = load_elnino()
facts = {"bounds": (15, 32), "domain": (0, 12), "grid": elnino.grid}
years = PrivateFPCA(n_components=2, epsilon=9.0, random_state=0, **facts)
years.fit(elnino.data)
display = ComponentsDisplay.from_estimator(years)
for ax in display.ax_:
    ax.set_xlabel("month")
_ = display.ax_[0].set_ylabel("degrees Celsius")

# %%
# Synthetic curves
# ----------------
# `sample` draws curves with normal scores on the released components. That is free:
# they are made of the release alone.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
axes[0].plot(made.grid, made.data[:40].T, color="0.6", alpha=0.5)
axes[0].set(xlabel="t", title="forty people, not published")
axes[1].plot(made.grid, model.sample(40, random_state=0).T, color="#2a5c8a", alpha=0.4)
_ = axes[1].set(xlabel="t", title="forty synthetic curves")
