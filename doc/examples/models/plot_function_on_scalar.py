"""
What heating does to the day of a home
======================================

An energy agency wants to know how floor area and electric heating change the power of
homes at each hour of the day: a *function-on-scalar* regression, whose coefficients are
curves. What is private is a home's whole row, its area, its heating and its curve.
Public are the number of homes and what is possible: up to 200 square metres, up to 3
kW. The homes are simulated, so this page may show the truth beside the release.
"""

# %%
# Homes
# -----
# Half-hourly power in kW. Area counts in the daytime, electric heating in the morning,
# and everybody has habits of their own.

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np

from skfuncpriv.datasets import make_curves

hours = np.linspace(0, 24, 49)
truth = np.stack(
    [
        0.4 + 0.3 * np.exp(-(((hours - 19) / 3) ** 2)),
        0.002 * (1 - np.cos(2 * np.pi * hours / 24)),
        0.8 * np.exp(-(((hours - 7) / 3) ** 2)),
    ]
)


def simulate(n_homes):
    """Area and heating of each home, and its curve."""
    rng = np.random.default_rng(0)
    homes = np.stack([rng.uniform(40, 200, n_homes), rng.integers(0, 2, n_homes)], 1)
    habits = make_curves(
        n_homes, n_points=49, domain=(0, 24), scale=0.15, random_state=0
    )
    return homes, truth[0] + homes @ truth[1:] + habits.data - habits.mean


homes, curves = simulate(20_000)

# %%
# Released coefficient functions
# ------------------------------
# ``y_domain`` says that the targets are curves. Bounds of several columns are two
# arrays, all lows and all highs. The band is the noise before denoising; the released
# curves have less of it. The seed keeps the pictures of this page the same: whoever
# knows it can subtract the noise, so a real release leaves ``random_state`` out.

from skfuncpriv import CoefficientDisplay, ICLPRegressor

model = ICLPRegressor(
    X_bounds=([0, 0], [200, 1]),
    y_bounds=(0, 3),
    y_domain=(0, 24),
    epsilon=1.0,
    random_state=0,
)
model.fit(homes, curves)
names = ["intercept (kW)", "a square metre (kW)", "electric heating (kW)"]
figure, ax = plt.subplots(figsize=(10, 4.6), layout="constrained")
display = CoefficientDisplay.from_estimator(model, ax, reference=truth, names=names)
for panel in display.ax_:
    panel.set_xlabel("hour of the day")

# %%
# The intercept is a home of no area without heating. There is none in the table, so of
# all curves this one is known least.
#
# Predictions
# -----------
# What a home of 90 square metres draws with and without electric heating. Predictions
# are made of the release, and free.

figure, ax = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
for heating, colour in ((1, "#b5532a"), (0, "#2a5c8a")):
    (predicted,) = model.predict([[90, heating]])
    name = "with" if heating else "without"
    ax.plot(hours, predicted, color=colour, linewidth=2, label=f"{name} heating")
    ax.plot(hours, np.array([1, 90, heating]) @ truth, "--", color=colour)
ax.plot([], [], "--", color="0.4", label="the truth")
ax.set(xlabel="hour of the day", ylabel="power (kW)", xlim=(0, 24), ylim=(0, 2))
_ = ax.legend(frameon=False)

# %%
# How many homes does it take?
# ----------------------------
# The error of the effect of heating, root mean square over the day, median of five
# releases.

for n_homes in (1250, 5000, 20_000):
    errors = []
    for seed in range(5):
        model.set_params(random_state=seed).fit(homes[:n_homes], curves[:n_homes])
        errors.append(np.sqrt(np.mean((model.coef_[1] - truth[2]) ** 2)))
    print(f"{n_homes:6d} homes: off by {np.median(errors):.3f} kW")

# %%
# What the guarantee says
# -----------------------
# With epsilon = 1, replacing one home's area, heating and curve by anything else makes
# the published coefficients at most e = 2.72 times as likely, or as unlikely. One
# budget pays for all three curves.
