"""
A private mean curve
====================

The mean of sixty-one yearly curves of sea temperature, released under differential
privacy. A year takes the place of a person. The curves are public, so this page may
show what is never shown otherwise: the mean without noise, and the error.
"""

# %%
# Before there are any data
# -------------------------
# Everything that decides the noise is public: the bounds of the values, the domain, the
# number of people and epsilon. So the noise is known before any data are touched.
# `expected_error` returns what denoising is expected to leave of its squared L2 norm;
# divided by the length of the domain, the root is the noise of a point, in degrees.

import numpy as np

from skfuncpriv import ICLPMean
from skfuncpriv.datasets import load_elnino

elnino = load_elnino()
public = {"bounds": (15, 32), "domain": (0, 12), "grid": elnino.grid}


def forecast(epsilon, n_people):
    """Noise of a point, root mean square, in degrees."""
    return np.sqrt(ICLPMean(epsilon=epsilon, **public).expected_error(n_people) / 12)


epsilons = (0.5, 1, 2, 4, 8)
print("people " + "".join(f"   eps = {epsilon:<3}" for epsilon in epsilons))
for n_people in (61, 1000, 10000):
    cells = (f"{forecast(epsilon, n_people):12.3f}" for epsilon in epsilons)
    print(f"{n_people:6d} " + "".join(cells))

# %%
# Sixty-one is few: at epsilon = 1 the noise is more than a degree and a half. With a
# thousand curves it would be a fifth of a degree.
#
# Releases at three epsilons
# --------------------------
# Each `fit` draws noise once; the mean, the band and every later evaluation come from
# that one draw. The seed makes this page repeatable, and the guarantee above each panel
# says that whoever knows the seed can undo the noise: never publish a seeded release.

import matplotlib.pyplot as plt

from skfuncpriv.plotting import MeanCurveDisplay

true_mean = elnino.data.mean(axis=0)
figure, axes = plt.subplots(3, 1, figsize=(8, 10), sharex=True, layout="constrained")
for axis, epsilon in zip(axes, (1, 2, 4), strict=True):
    model = ICLPMean(epsilon=epsilon, random_state=7, **public).fit(elnino.data)
    MeanCurveDisplay.from_estimator(model, axis, reference=true_mean)
    axis.set(xlabel="month" if epsilon == 4 else "", ylabel="degrees Celsius")

# %%
# What the band says
# ------------------
# The band is *simultaneous*: it says where, over the whole year, the curve without
# noise may be, given the release. Its probability of 95% is approximate, since it is
# that of the denoiser; that of ``denoise=False`` is exact. It knows nothing of how much
# years differ, hence is no confidence band for the climate.
#
# A hundred releases, how often the band holds the mean without noise:

held = 0
model = ICLPMean(epsilon=4, **public)
for seed in range(100):
    lower, upper = model.set_params(random_state=seed).fit(elnino.data).noise_band(0.95)
    held += bool(np.all((lower <= true_mean) & (true_mean <= upper)))
print(f"{held} of 100 bands hold the mean without noise")

# %%
# With twelve points and twelve coefficients nothing is left out, so that the mean
# without noise is the mean itself. When fewer coefficients are released than there are
# points, the band is about the projection on them.
#
# `sample` draws noise curves like the one that was added, which shows what may be read
# into a wiggle:

figure, axis = plt.subplots(figsize=(7, 3.8), layout="constrained")
axis.plot(elnino.grid, model.sample(30, random_state=0).T, color="#2a5c8a", alpha=0.3)
axis.plot(elnino.grid, np.zeros(12), color="black", linewidth=1)
_ = axis.set(xlabel="month", ylabel="degrees Celsius", title="noise alone, epsilon = 4")

# %%
# Denoising
# ---------
# What is released is public, and so is the law of the noise: a release may be smoothed
# at no cost to privacy. ``denoise=True``, the default, averages it over many prior laws
# of smooth curves. Error of both, over forty releases for each epsilon:


def error(epsilon, **parameters):
    """Root mean squared distance to the mean without noise, in degrees."""
    model = ICLPMean(epsilon=epsilon, **public, **parameters)
    squares = [
        np.mean(
            (model.set_params(random_state=k).fit(elnino.data).mean_ - true_mean) ** 2
        )
        for k in range(40)
    ]
    return np.sqrt(np.mean(squares))


styles = {True: ("o-", "denoised (default)"), False: ("s--", "denoise=False")}
figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
for denoise, (style, label) in styles.items():
    found = [error(epsilon, denoise=denoise) for epsilon in epsilons]
    axis.loglog(epsilons, found, style, label=label)
middle = np.sqrt(np.mean((true_mean - 23.5) ** 2))
axis.axhline(middle, color="grey", linestyle=":", label="middle of the bounds, no data")
axis.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
axis.set_yticks([0.5, 1, 2, 4], ["0.5", "1", "2", "4"])
axis.minorticks_off()
axis.set(xlabel="epsilon", ylabel="error of a point, degrees Celsius")
_ = axis.legend(frameon=False)

# %%
# The dotted line is the middle of the bounds, 23.5 degrees: a "release" that uses no
# data. A private mean is worth its budget where it lies clearly below that line.
