"""
When do calls for help arrive?
==============================

A crisis line wants to plan its shifts with others, and to publish at which hours of the
day people call. Some call once, some every night, and the hours of one caller are
private. Public are the number of callers and that a day has 24 hours, at whose end
another day begins: midnight is a point like any other. The calls are simulated.
"""

# %%
# Callers
# -------
# Two thirds of the callers call around half past ten in the evening, the others after
# noon; most have called once or twice, a few very often.

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np

from skfuncpriv import DensityDisplay, PrivateKDE

rng = np.random.default_rng(0)
n_callers = 1500
calls_of = rng.geometric(0.4, n_callers)
caller = np.repeat(np.arange(n_callers), calls_of)
is_late = rng.random(n_callers) < 2 / 3
usual = np.where(
    is_late, rng.normal(22.5, 1.2, n_callers), rng.normal(13.5, 2, n_callers)
)
hours = (usual[caller] + rng.normal(0, 0.7, len(caller)))[:, None] % 24

# %%
# A clock has no ends
# -------------------
# With ``boundary="periodic"`` the density is the same at 0 and at 24 o'clock. The
# default reflects at the bounds, as is right for ages or waiting times, and has two
# values for one moment. The seeds keep this page the same; a real release leaves
# ``random_state`` out, as whoever knows it can subtract the noise.

figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
for boundary in ("periodic", "reflect"):
    kde = PrivateKDE(bounds=(0, 24), boundary=boundary, epsilon=0.5, random_state=0)
    kde.fit(hours, groups=caller)
    DensityDisplay.from_estimator(kde, ax, name=boundary)
    first, last = np.exp(kde.score_samples([[0.0], [24.0]]))
    print(f"{boundary:9s} at 0:00 {first:.3f}, at 24:00 {last:.3f} per hour")
ax.set(xlabel="hour of the day", ylabel="density (1/hour)")
_ = ax.set_xticks(range(0, 25, 4))

# %%
# The same as a clock
# -------------------
# A released density is an array on a public grid, and may be drawn in any way. In grey
# the callers themselves, everybody weighing the same.

clock = PrivateKDE(bounds=(0, 24), boundary="periodic", epsilon=0.5, random_state=0)
clock.fit(hours, groups=caller)
(nodes,) = clock.grid_
angles = 2 * np.pi * np.append(nodes, nodes[0] + 24) / 24
density = np.append(clock.density_, clock.density_[0])

figure, ax = plt.subplots(
    figsize=(6, 6), subplot_kw={"projection": "polar"}, layout="constrained"
)
bins = np.arange(25)
weights = 1 / calls_of[caller]
counted, _ = np.histogram(hours[:, 0], bins=bins, weights=weights / n_callers)
ax.bar(
    2 * np.pi * (bins[:-1] + 0.5) / 24,
    counted,
    width=2 * np.pi / 24,
    color="0.85",
    edgecolor="white",
    label="counted, not published",
)
ax.plot(angles, density, color="#2a5c8a", linewidth=2, label="released")
ax.fill_between(
    angles,
    np.maximum(density - 2 * clock.noise_std_, 0),
    density + 2 * clock.noise_std_,
    color="#2a5c8a",
    alpha=0.18,
    linewidth=0,
    label="noise, 2 deviations",
)
ax.set_theta_zero_location("N")
ax.set_theta_direction(-1)
ax.set_xticks(
    2 * np.pi * np.arange(0, 24, 3) / 24, [f"{h}:00" for h in range(0, 24, 3)]
)
ax.set_yticks([0.05, 0.1, 0.15], ["5 %", "10 %", "15 % per hour"], fontsize="small")
_ = ax.legend(loc="lower left", bbox_to_anchor=(-0.05, -0.08), frameon=False)

# %%
# A question that the release answers: which share of callers' calls arrives at night?

night = 1 - clock.cdf([[21.0]])[0] + clock.cdf([[3.0]])[0]
counted = weights @ ((hours[:, 0] >= 21) | (hours[:, 0] < 3)) / n_callers
print(
    f"from 21:00 to 3:00: {100 * night:.0f} % released, {100 * counted:.0f} % counted"
)

# %%
# What the guarantee says
# -----------------------
# With epsilon = 0.5, all calls of one person, once or every night, change the odds of
# whatever a reader sees by a factor of at most e^0.5 = 1.65.
