"""
What a noise band says, on a small table
========================================

A statistician has a small table of curves and wonders what a private mean of it would
be worth, and how to read the band around it. The table is real: sea-surface temperature
off Peru in sixty-one years. A year takes the place of a person, so what is "private"
here is a year's curve; bounds, months and the number of years are public. As nobody's
privacy is at stake, this page may show the mean without noise, too.
"""

# %%
# Releases at three budgets
# -------------------------
# Each ``fit`` draws noise once; the mean, the band and every later evaluation come from
# that one draw. The seed keeps the pictures of this page the same, and is said above
# each panel: whoever knows a seed can subtract the noise, so a real release has none.

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np

from skfuncpriv import ICLPMean, MeanCurveDisplay
from skfuncpriv.datasets import load_elnino

elnino = load_elnino()
true_mean = elnino.data.mean(axis=0)
model = ICLPMean(bounds=(15, 32), domain=(0, 12), grid=elnino.grid)

figure, axes = plt.subplots(3, 1, figsize=(8, 10), sharex=True, layout="constrained")
for ax, epsilon in zip(axes, (1, 2, 4), strict=True):
    model.set_params(epsilon=epsilon, random_state=7).fit(elnino.data)
    MeanCurveDisplay.from_estimator(model, ax, reference=true_mean)
    ax.set(xlabel="month" if epsilon == 4 else "", ylabel="temperature (°C)")

# %%
# Sixty-one curves are few. At epsilon = 1 the release tells little more than that the
# second half of the year is the cooler one; at epsilon = 4 the months follow each
# other.
#
# What the band says
# ------------------
# The band is *simultaneous*: given the release, it says where the mean without noise
# may be, over the whole year at once. Forty releases, and how often the band holds it:

held = 0
for seed in range(40):
    lower, upper = model.set_params(random_state=seed).fit(elnino.data).noise_band(0.95)
    held += bool(np.all((lower <= true_mean) & (true_mean <= upper)))
print(f"{held} of 40 bands hold the mean without noise")

# %%
# Its 95 % are approximate, since they are those of the denoiser; with ``denoise=False``
# they are exact. The band knows nothing of how much years differ, hence is no
# confidence band for the climate.
#
# What may be read into a wiggle
# ------------------------------
# ``sample`` draws noise curves like the one that was added. What a release shows is
# worth a thought where noise alone does not look like it.

noise = model.sample(30, random_state=0)
figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
ax.plot(elnino.grid, noise.T, color="#2a5c8a", alpha=0.3)
ax.plot(elnino.grid, true_mean - true_mean.mean(), color="black", label="true mean")
ax.plot([], [], color="#2a5c8a", alpha=0.6, label="noise alone, epsilon = 4")
ax.set(xlabel="month", ylabel="difference (°C)", xlim=(0, 12))
_ = ax.legend(frameon=False, ncols=2)

# %%
# Denoising is free
# -----------------
# What is released is public, and so is the law of the noise: a release may be smoothed
# at no cost to privacy. ``denoise=True``, the default, does so. Error of both, over
# eight releases for each epsilon:

epsilons = (0.5, 1, 2, 4, 8)


def error(epsilon, denoise):
    """Root mean squared distance to the mean without noise, in degrees."""
    model.set_params(epsilon=epsilon, denoise=denoise)
    fits = (model.set_params(random_state=k).fit(elnino.data).mean_ for k in range(8))
    return np.sqrt(np.mean([(mean - true_mean) ** 2 for mean in fits]))


figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for denoise, style, label in (
    (True, "o-", "denoised (default)"),
    (False, "s--", "denoise=False"),
):
    ax.loglog(epsilons, [error(eps, denoise) for eps in epsilons], style, label=label)
no_data = np.sqrt(np.mean((true_mean - 23.5) ** 2))
ax.axhline(no_data, color="grey", linestyle=":", label="middle of the bounds, no data")
ax.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
ax.set_yticks([0.5, 1, 2, 4], ["0.5", "1", "2", "4"])
ax.minorticks_off()
ax.set(xlabel="epsilon", ylabel="error at a point (°C)")
_ = ax.legend(frameon=False)

# %%
# The dotted line is a "release" that uses no data, the middle of the bounds. A private
# mean is worth its budget where it lies clearly below that line.
#
# What the guarantee says
# -----------------------
# With epsilon = 4, were one year's curve replaced by any other one within the bounds or
# outside of them, this release would become at most e^4 = 55 times as likely, or as
# unlikely. That is a weak promise: sixty-one people would deserve a smaller epsilon, or
# a larger table.
