"""
The mean day of smart meters
============================

A grid operator holds the power of 5000 homes, one value for each half hour, and wants
to publish their mean day. A home's curve is private: it shows when people get up, cook
and leave. The number of homes, the half hours and the bounds of the values are public.
The homes of this page are simulated, like those of a trial with real meters, so it may
show what is never shown otherwise.
"""

# %%
# The homes
# ---------
# Everybody has a breakfast and an evening, of different size and at different hours,
# and appliances that are switched on now and then.

# sphinx_gallery_thumbnail_number = 3
import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(0)
n_homes = 5000
hours = np.arange(0.25, 24, 0.5)


def peaks(hour, width, height):
    """One bump for each home: around an hour, give or take, of random height."""
    centres = rng.normal(hour, 1, (n_homes, 1))
    heights = rng.gamma(2, height / 2, (n_homes, 1))
    return heights * np.exp(-(((hours - centres) / width) ** 2) / 2)


idle = rng.uniform(0.1, 0.3, (n_homes, 1))
appliances = rng.exponential(1.0, (n_homes, 48)) * (rng.random((n_homes, 48)) < 0.08)
homes = idle + peaks(7.5, 1, 0.4) + peaks(19, 2, 0.8) + appliances

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.plot(hours, homes[:60].T, color="0.3", alpha=0.2, linewidth=1)
ax.set(xlabel="hour of the day", ylabel="power (kW)", xlim=(0, 24), ylim=(0, 4))
_ = ax.set_title("sixty homes, not published")

# %%
# Why not publish the plain mean?
# -------------------------------
# Somebody may know all other homes: an insider, or a neighbour with an older version of
# the mean. Then one subtraction gives the last home, half hour by half hour.

target = homes[0]
everybody_else = homes[1:].sum(axis=0)
stolen = n_homes * homes.mean(axis=0) - everybody_else
print(f"largest error of the stolen curve: {np.abs(stolen - target).max():.1e} kW")

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.plot(hours, target, color="0.6", linewidth=5, label="a home's own curve")
ax.plot(hours, stolen, color="#b5532a", label="stolen from the plain mean")
ax.set(xlabel="hour of the day", ylabel="power (kW)", xlim=(0, 24))
_ = ax.legend(frameon=False)

# %%
# A private mean
# --------------
# :class:`~skfuncpriv.ICLPMean` asks for what is public: bounds, domain, and a budget.
# Above 4 kW a curve is clipped. The bounds come from what a home may plausibly draw,
# never from the table.
#
# The seed, ``random_state``, is for this page only, so that its pictures stay the same.
# Whoever knows a seed can subtract the noise. So a real release leaves it out, and this
# one says in its title that it gives no privacy.

from skfuncpriv import ICLPMean, MeanCurveDisplay

model = ICLPMean(bounds=(0, 4), domain=(0, 24), grid=hours, epsilon=1.0, random_state=0)
model.fit(homes)

display = MeanCurveDisplay.from_estimator(model, reference=homes.mean(axis=0))
_ = display.ax_.set(xlabel="hour of the day", ylabel="power (kW)", xlim=(0, 24))

# %%
# The dashed reference is the plain mean. The band says how far noise may have moved the
# curve, over the whole day, with a probability of about 95 %. How far these homes are
# from those of a country is not in it.

error = np.sqrt(np.mean((model.mean_ - homes.mean(axis=0)) ** 2))
print(f"error of the release: {1000 * error:.0f} watts, root mean square of the day")

# %%
# The same attack again
# ---------------------
# Subtracting the others from the private mean leaves the home plus 5000 times the
# noise. A home that stood empty all day fits about as well as the true one.

guess = n_homes * model.mean_ - everybody_else
figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.plot(hours, guess, color="#b5532a", label="stolen from the private mean")
ax.plot(hours, target, color="0.4", linewidth=2, label="the home's own curve")
ax.set(xlabel="hour of the day", ylabel="power (kW)", xlim=(0, 24))
_ = ax.legend(frameon=False)

# %%
# What the guarantee says
# -----------------------
# With epsilon = 1, whatever a reader believed about one home, the odds of it change by
# a factor of at most e = 2.72 when the mean is published, also for a reader who knows
# all other homes. That a home took part is not hidden, and the mean itself is there to
# be seen.
