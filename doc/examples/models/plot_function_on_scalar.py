"""
Private coefficient functions
=============================

A regression with curves in it has coefficients that are curves: what a column of a
table does to a daily curve at every hour, or how the hours of a curve add up to a
number. The data are simulated, so this page may show what is never shown otherwise: the
truth behind the releases.
"""

# %%
# Curves on numbers
# -----------------
# Half-hourly power of homes, in kW. Floor area counts in the daytime, electric heating
# in the morning. Bounds come from what is possible, not from the table: connections end
# at 3 kW, homes at 200 square metres.

import matplotlib.pyplot as plt
import numpy as np

from skfuncpriv import CoefficientDisplay, ICLPClassifier, ICLPRegressor
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


# %%
# Two thousand homes, and twenty thousand, at the same budget. The band is the noise
# before denoising; the released curve has less of it.

public = {"X_bounds": ([0, 0], [200, 1]), "y_bounds": (0, 3), "y_domain": (0, 24)}
names = ["intercept", "per square metre", "electric heating"]
figure, axes = plt.subplots(2, 1, figsize=(8, 8), layout="constrained")
for n_homes, ax in zip((2000, 20_000), axes, strict=True):
    model = ICLPRegressor(epsilon=1.0, random_state=0, **public)
    model.fit(*simulate(n_homes))
    CoefficientDisplay.from_estimator(model, ax, reference=truth, names=names)
    print(f"{n_homes:6d} homes: released {model.method_}")

# %%
# The intercept is a home of no area without heating: such a home is outside of the
# table, so of all curves this one is known least. The seeds make this page repeatable,
# and the guarantee says so: never publish a seeded release.
#
# A number on curves
# ------------------
# The other way round, a number y is the inner product of a curve with the coefficient
# function, plus an error.

made = make_curves(10_000, n_points=49, random_state=1)
slope = np.sqrt(8) * np.cos(np.pi * made.grid)
signal = np.trapezoid((made.data - made.mean) * slope, made.grid, axis=1)
y = signal + np.random.default_rng(2).normal(0, 0.1, len(signal))

public = {"X_bounds": (-2, 2), "X_domain": (0, 1)}
model = ICLPRegressor(y_bounds=(-2, 2), epsilon=4.0, random_state=0, **public)
model.fit(made.data, y)
_ = CoefficientDisplay.from_estimator(model, reference=[slope])

# %%
# A class on curves
# -----------------
# Whether y is positive. The scale of such a function depends on the penalty, which
# follows from the number of people and the budget; its shape says which parts of a
# curve speak for the class.

classifier = ICLPClassifier(classes=[False, True], random_state=0, **public)
classifier.fit(made.data, y > 0)
_ = CoefficientDisplay.from_estimator(classifier)

# %%
# More people
# -----------
# The error of the effect of heating, median of five seeds, root mean square over the
# day.

homes, curves = simulate(20_000)
for n_homes in (1250, 5000, 20_000):
    errors = []
    for seed in range(5):
        model = ICLPRegressor(
            X_bounds=([0, 0], [200, 1]),
            y_bounds=(0, 3),
            y_domain=(0, 24),
            random_state=seed,
        )
        model.fit(homes[:n_homes], curves[:n_homes])
        errors.append(np.sqrt(np.mean((model.coef_[1] - truth[2]) ** 2)))
    print(f"{n_homes:6d} homes: off by {np.median(errors):.3f} kW")
