"""
Private densities: a measure, a map and a clock
===============================================

Three densities under differential privacy: the body mass index of patients, with
synthetic data; positions of storms, where one storm has many rows; and hours of the
day, whose ends meet. The data are public or simulated, so this page may show what is
never shown otherwise: the estimate without noise.
"""

# %%
# Body mass index
# ---------------
# 442 patients of the diabetes data of scikit-learn. The bounds are what is possible for
# an adult, not what occurs in the file. Everything else is left at its default: there
# is no bandwidth to choose.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.neighbors import KernelDensity

from skfuncpriv import DensityDisplay, PrivateKDE

diabetes = load_diabetes(scaled=False, as_frame=True).data
bmi = diabetes[["bmi"]].to_numpy()

figure, axes = plt.subplots(3, 1, figsize=(8, 10), sharex=True, layout="constrained")
for ax, epsilon in zip(axes, (0.1, 0.3, 1.0), strict=True):
    kde = PrivateKDE(bounds=(10, 60), epsilon=epsilon, random_state=0).fit(bmi)
    nodes = kde.grid_[0][:, None]
    without_noise = np.exp(KernelDensity(bandwidth=1.3).fit(bmi).score_samples(nodes))
    DensityDisplay.from_estimator(
        kde, ax, reference=without_noise, feature_names=["body mass index"]
    )
    ax.set_xlabel("body mass index" if epsilon == 1 else "")

# %%
# The smaller the budget, the less detail is believed. The band is the noise that is
# left; what was smoothed away is not in it: nothing of the shoulder at 31 is left in
# the first panel. The reference is scikit-learn's estimate with a bandwidth chosen by
# eye. The seed makes this page repeatable, and the guarantee says so: never publish a
# seeded release.
#
# Synthetic patients
# ------------------
# The released density is public, and sampling it is free. Ten thousand synthetic values
# look precise, but are no more so than the density that they come from.

sample = kde.sample(10_000, random_state=0)
print("             5 %   25 %   50 %   75 %   95 %")
for name, values in (("patients", bmi), ("synthetic", sample)):
    shown = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95])
    print(f"{name:9s}" + "".join(f"{value:7.1f}" for value in shown))

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
bars = {"bins": 50, "range": (10, 60), "density": True, "color": "0.85"}
ax.hist(sample[:, 0], label="synthetic", **bars)
_ = DensityDisplay.from_estimator(kde, ax, feature_names=["body mass index"])

# %%
# A map with groups
# -----------------
# 19,537 positions of 655 storms. The storm is what is protected, so ``groups`` names
# it: the positions of each are averaged, and a storm that was seen 96 times moves the
# map no further than one that was seen four times.

from skfuncpriv.datasets import load_storms

storms = load_storms(as_frame=True).data
region = ((-110, 5), (0, 60))  # corners: longitude, latitude
where = PrivateKDE(bounds=region, epsilon=1.0, random_state=0)
where.fit(storms[["lon", "lat"]], groups=storms["storm"])
_ = DensityDisplay.from_estimator(where)

# %%
# A clock
# -------
# Hours of the day, simulated: one group late at night, another after lunch. With
# ``boundary="periodic"`` midnight is a point like any other. The default reflects, so
# that the density is level at either end, and has two values for one moment.

rng = np.random.default_rng(0)
night, noon = rng.normal(22.5, 1.5, 600) % 24, rng.normal(13.5, 2, 400)
hours = np.concatenate([night, noon])[:, None]

figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
for boundary in ("periodic", "reflect"):
    clock = PrivateKDE(bounds=(0, 24), boundary=boundary, random_state=0).fit(hours)
    DensityDisplay.from_estimator(
        clock, ax, name=boundary, feature_names=["hour of the day"]
    )
    first, last = np.exp(clock.score_samples([[0.0], [24.0]]))
    print(f"{boundary:9s} at 0:00 {first:.4f}, at 24:00 {last:.4f}")
_ = ax.set_xticks(range(0, 25, 4))

# %%
# Two groups
# ----------
# Equal bounds give equal grids, so released densities can be subtracted. The noise of a
# difference is the root of the sum of squares.

groups = {}
for sex in (1, 2):
    rows = diabetes.loc[diabetes["sex"] == sex, ["age"]].to_numpy()
    groups[sex] = PrivateKDE(bounds=(0, 100), random_state=sex).fit(rows)
difference = groups[1].density_ - groups[2].density_
noise = np.hypot(groups[1].noise_std_, groups[2].noise_std_)

figure, axes = plt.subplots(2, 1, figsize=(8, 7), sharex=True, layout="constrained")
for sex, kde in groups.items():
    DensityDisplay.from_estimator(kde, axes[0], name=f"group {sex}")
axes[0].set_xlabel("")
(nodes,) = groups[1].grid_
axes[1].plot(nodes, difference)
axes[1].fill_between(nodes, -2 * noise, 2 * noise, color="0.9", label="noise")
axes[1].axhline(0, color="0.4", linewidth=1)
axes[1].legend(frameon=False)
_ = axes[1].set(xlabel="age", ylabel="group 1 minus group 2")

# %%
# Inside the grey band a difference may be noise alone. Whether the groups of a
# population differ is another question: there the error of sampling counts as well.
