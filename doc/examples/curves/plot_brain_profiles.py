"""
Brain profiles of patients and controls
=======================================

Clinics have measured how intact a nerve tract in the brain is, at 93 places along it,
and want to show where patients differ from healthy people. People came back for up to
eight visits, so a person owns several rows, and what must be protected is the person,
not the visit. How many patients and controls there are, and who is which, is public;
the profiles, and how often somebody came, are private. The profiles are simulated, like
those of diffusion tensor imaging in a large study of multiple sclerosis.
"""

# %%
# A table of visits
# -----------------
# Fractional anisotropy has no unit and lies between 0 and 1. Patients have less of it
# in the middle of the tract.

import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(1)
place = np.linspace(0, 1, 93)
healthy = 0.55 + 0.1 * np.cos(2 * np.pi * place) + 0.03 * np.cos(6 * np.pi * place)
damage = -0.09 * np.exp(-(((place - 0.45) / 0.15) ** 2))


def clinic(n_people, mean):
    """Rows of visits, and whose they are."""
    waves = np.cos(np.pi * np.outer(np.arange(5), place))
    sizes = 0.04 / np.arange(1, 6)
    people = mean + (rng.normal(size=(n_people, 5)) * sizes) @ waves
    who = np.repeat(np.arange(n_people), rng.integers(1, 9, n_people))
    return people[who] + 0.02 * rng.normal(size=(len(who), 93)), who


patients, patient_of_row = clinic(1600, healthy + damage)
controls, control_of_row = clinic(1000, healthy)
print(f"{len(patients)} visits of 1600 patients, {len(controls)} of 1000 controls")

# %%
# The person is what counts
# -------------------------
# Without ``groups`` the promise is about single visits, and a patient who came eight
# times has eight times as much to lose. With them a person's visits are averaged first,
# and the promise is per person.

from skfuncpriv import ICLPMean

model = ICLPMean(bounds=(0.2, 0.9), domain=(0, 1), epsilon=1.0, random_state=0)
print(model.fit(patients).guarantee_)
print(model.fit(patients, groups=patient_of_row).guarantee_)

# %%
# Patients and controls
# ---------------------
# Nobody is in both groups, so that two releases with epsilon = 1 promise every person
# epsilon = 1, not 2: they compose in *parallel*. The seeds keep the pictures of this
# page the same; a real release leaves ``random_state`` out, as whoever knows it can
# subtract the noise.

from sklearn.base import clone

from skfuncpriv import MeanCurveDisplay
from skfuncpriv.privacy import parallel

sick = clone(model).fit(patients, groups=patient_of_row)
well = clone(model).set_params(random_state=1).fit(controls, groups=control_of_row)
together = parallel(sick.guarantee_, well.guarantee_)


def mean_of_people(rows, who):
    """Without noise, for comparison: the mean of everybody's mean."""
    weights = 1 / np.bincount(who)[who]
    return weights @ rows / weights.sum()


figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
for name, group, rows, who in (
    ("patients", sick, patients, patient_of_row),
    ("controls", well, controls, control_of_row),
):
    truth = mean_of_people(rows, who)
    MeanCurveDisplay.from_estimator(
        group, ax, reference=truth, name=name, guarantee=together
    )
_ = ax.set(xlabel="place along the tract, from end to end", ylabel="anisotropy")

# %%
# Where do they differ?
# ---------------------
# Both releases are public, and so is their difference. Its noise is independent in the
# two groups, so that variances add. Outside of two standard deviations noise alone is
# an unlikely reason.

difference = sick.mean_ - well.mean_
noise = np.hypot(sick.noise_std_, well.noise_std_)

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.fill_between(place, -2 * noise, 2 * noise, color="0.88", label="noise, 2 deviations")
ax.plot(place, damage, "--", color="0.35", label="what was simulated")
ax.plot(place, difference, color="#2a5c8a", linewidth=2, label="released")
ax.set(
    xlabel="place along the tract, from end to end", ylabel="patients minus controls"
)
_ = ax.legend(frameon=False)

# %%
# What the guarantee says
# -----------------------
# Replace all visits of one person, however many, by anything else: whatever follows
# from both releases together becomes at most e = 2.72 times as likely, or as unlikely.
# The numbers of patients and of controls are public, and so is in which group somebody
# is. Whether such a difference holds for people outside of the study is another
# question, to which sampling error belongs as well.
