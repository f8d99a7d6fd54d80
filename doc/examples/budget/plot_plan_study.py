"""
Planning a study: how many people, which budget?
================================================

A hospital wants to publish the mean course of blood sugar over a day, and asks before
anybody is measured: how many people does it take, and which epsilon? All that decides
the noise is public, the bounds of the values, the domain, the number of people and the
budget, so the answer needs no data. What will be private are the curves. Sensors report
from 40 to 400 mg/dl; a mean that is off by 4 mg/dl is good enough.
"""

# %%
# The forecast
# ------------
# :meth:`~skfuncpriv.ICLPMean.expected_error` is the squared L2 norm of what denoising
# is expected to leave of the noise. Divided by the length of the domain, its root is
# the noise of a point, in mg/dl.

import matplotlib.pyplot as plt
import numpy as np

from skfuncpriv import ICLPMean, privacy_safe_parameters

public = {"bounds": (40, 400), "domain": (0, 24), "grid": np.linspace(0, 24, 97)}


def forecast(n_people, epsilon):
    """Noise of a point, root mean square, in mg/dl."""
    return np.sqrt(ICLPMean(epsilon=epsilon, **public).expected_error(n_people) / 24)


numbers = np.array([100, 200, 400, 800, 1600, 3200, 6400, 12_800])
figure, ax = plt.subplots(figsize=(7.5, 4.8), layout="constrained")
styles = {
    0.25: ("#b5532a", "o"),
    0.5: ("#8a7a1f", "s"),
    1.0: ("#2a5c8a", "^"),
    2.0: ("#7a4d8f", "D"),
}
for epsilon, (colour, marker) in styles.items():
    noise = [forecast(n_people, epsilon) for n_people in numbers]
    label = f"epsilon = {epsilon:g}"
    ax.loglog(numbers, noise, marker=marker, color=colour, label=label)
ax.axhline(4, color="0.3", linestyle="--", label="good enough")
ax.set_xticks(numbers, [f"{n:,}" for n in numbers])
ax.set_yticks([1, 2, 4, 10, 20, 50], ["1", "2", "4", "10", "20", "50"])
ax.minorticks_off()
ax.set(xlabel="people", ylabel="expected noise of a point (mg/dl)")
_ = ax.legend(frameon=False)

# %%
# The same question the other way round: the smallest number of people, in steps of a
# hundred.

for epsilon in (0.25, 0.5, 1.0, 2.0):
    enough = next(n for n in range(100, 50_000, 100) if forecast(n, epsilon) <= 4)
    print(f"epsilon = {epsilon:4g}: {enough:6,d} people")

# %%
# Half the epsilon takes about twice the people.
#
# Noise is not the only error
# ---------------------------
# The table shows all three, as root mean squares at a point: a bound on the bias of
# leaving out fine detail, what would remain without any privacy since people differ,
# also a bound, and the noise.

model = ICLPMean(**public)
privacy_safe_parameters(model, [800, 1600, 3200], epsilon=[0.5, 1.0])

# %%
# What wider bounds cost
# ----------------------
# Noise is in proportion to their width. If hardly anybody is above 300, it may be
# better to clip those few.

for high in (250, 300, 400, 600):
    model.set_params(bounds=(40, high))
    noise = np.sqrt(model.expected_error(1600) / 24)
    print(f"bounds 40 to {high}: {noise:.1f} mg/dl")

# %%
# A rehearsal
# -----------
# Before a study starts one may simulate people as one expects them to be, and release
# their mean. Nobody's data are used, so seeds and repetitions are no loss. From 2000
# people on at this epsilon the estimator spends a little on how far people are from
# each other at all, and has less noise than the forecast, which reckons with what the
# bounds allow.

rng = np.random.default_rng(0)
hours = public["grid"]


def simulate(n_people):
    """Three meals, of which people's sugar rises more or less, sooner or later."""
    curves = rng.normal(105, 12, (n_people, 1)) + np.zeros(97)
    for meal in (8, 13, 19):
        when = rng.normal(meal + 0.8, 0.7, (n_people, 1))
        rise = rng.gamma(4, 12, (n_people, 1))
        curves += rise * np.exp(-(((hours - when) / 1.3) ** 2))
    return curves


people = simulate(6400)
figure, ax = plt.subplots(figsize=(7.5, 4.8), layout="constrained")
noise = [forecast(n_people, 1.0) for n_people in numbers[:7]]
ax.loglog(numbers[:7], noise, color="#2a5c8a", label="forecast, no data")
for k, n_people in enumerate(numbers[:7]):
    mean = people[:n_people].mean(axis=0)
    for seed in range(4):
        released = ICLPMean(random_state=seed, **public).fit(people[:n_people]).mean_
        error = np.sqrt(np.mean((released - mean) ** 2))
        label = "rehearsals" if k == seed == 0 else None
        ax.loglog(n_people, error, "o", color="#b5532a", alpha=0.7, label=label)
ax.axhline(4, color="0.3", linestyle="--", label="good enough")
ax.set_xticks(numbers[:7], [f"{n:,}" for n in numbers[:7]])
ax.set_yticks([0.5, 1, 2, 4, 10, 20], ["0.5", "1", "2", "4", "10", "20"])
ax.minorticks_off()
ax.set(xlabel="people", ylabel="error of a point (mg/dl), epsilon = 1")
_ = ax.legend(frameon=False)

# %%
# What the guarantee says
# -----------------------
# Nothing on this page has touched a person, so nothing of it costs any budget. The
# study may be planned as often as anybody likes; the one release in the end has the
# epsilon that was chosen.
