"""
Body mass index: a density and synthetic patients
=================================================

A data scientist has the body mass index of patients, draws it with scikit-learn's
``KernelDensity``, and would like to publish the picture and a file to play with. A
density estimate is made of patients, and so are its bumps.
:class:`~skfuncpriv.PrivateKDE` takes its place. The index of each patient is private;
how many there are, and what is possible for an adult, is public. The 442 patients come
with scikit-learn and are public, so this page may show the estimate without noise, too.
"""

# %%
# Change one import
# -----------------
# Instead of a bandwidth there are bounds and a budget. The bounds are what is possible,
# not what occurs in the file. The seed keeps the pictures of this page the same; a real
# release leaves ``random_state`` out, since whoever knows it can subtract the noise.

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.neighbors import KernelDensity

from skfuncpriv import DensityDisplay, PrivateKDE

bmi = load_diabetes(scaled=False, as_frame=True).data[["bmi"]].to_numpy()
without_privacy = KernelDensity(bandwidth=1.3).fit(bmi)

kde = PrivateKDE(bounds=(10, 60), epsilon=1.0, random_state=0).fit(bmi)
print(kde.guarantee_)
print(f"median {kde.quantile(0.5):.1f}, of the patients {np.median(bmi):.1f}")

# %%
# Three budgets
# -------------
# The smaller the budget, the less detail is believed. The band is the noise that is
# left; what was smoothed away is not in it: in the first panel there is no trace of the
# shoulder at 31. The dashed reference is scikit-learn's estimate, its bandwidth chosen
# by eye.

figure, axes = plt.subplots(3, 1, figsize=(8, 10), sharex=True, layout="constrained")
for ax, epsilon in zip(axes, (0.1, 0.3, 1.0), strict=True):
    kde = PrivateKDE(bounds=(10, 60), epsilon=epsilon, random_state=0).fit(bmi)
    (nodes,) = kde.grid_
    reference = np.exp(without_privacy.score_samples(nodes[:, None]))
    DensityDisplay.from_estimator(kde, ax, reference=reference)
    ax.set(xlabel="", ylabel="density (m²/kg)")
_ = axes[-1].set_xlabel("body mass index (kg/m²)")

# %%
# Synthetic patients
# ------------------
# The released density is public, and to draw from it is free. Ten thousand synthetic
# values look precise, but are no more so than the density that they come from.

synthetic = kde.sample(10_000, random_state=0)

figure, ax = plt.subplots(figsize=(8, 4.4), layout="constrained")
bars = {"bins": np.arange(14, 46), "density": True}
ax.hist(bmi[:, 0], color="0.8", label="442 patients", **bars)
ax.hist(
    synthetic[:, 0],
    histtype="step",
    linewidth=2,
    color="#2a5c8a",
    label="10,000 synthetic patients",
    **bars,
)
ax.set(xlabel="body mass index (kg/m²)", ylabel="density (m²/kg)")
ax.legend(frameon=False)

# %%
# Quantiles of both, and the share that is obese (30 or more):

print("              5 %   25 %   50 %   75 %   95 %   obese")
for name, values in (("patients", bmi), ("synthetic", synthetic)):
    shown = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95])
    cells = "".join(f"{value:7.1f}" for value in shown)
    print(f"{name:10s}{cells} {100 * np.mean(values >= 30):6.0f} %")

# %%
# What the guarantee says
# -----------------------
# With epsilon = 1 the odds of any statement about one patient change by a factor of at
# most e = 2.72, whatever is drawn, computed or sampled from the release. It is a
# promise for one release: the three panels together would cost 0.1 + 0.3 + 1 = 1.4.
