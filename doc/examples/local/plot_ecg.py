"""
Heartbeats of five thousand wristbands
======================================

A study of heart rhythms wants the typical heartbeat of people who wear a wristband, and
its participants want to trust nobody with theirs: the shape of a beat tells of illness,
and is nearly a fingerprint. So each band makes one beat private before it sends it. The
beat is private. Public are the range of the sensor and that a second around the beat is
cut out. The beats are simulated, like those of an electrocardiogram.
"""

# %%
# Beats
# -----
# Five waves, named P to T, each at a time and of a height of its own. Seconds are
# counted from the middle of the large one.

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(0)
n_people = 5000
t = np.linspace(-0.5, 0.5, 251)
waves = {
    "P": (-0.17, 0.03, 0.15),
    "Q": (-0.045, 0.015, -0.15),
    "R": (0.0, 0.018, 1.1),
    "S": (0.045, 0.015, -0.25),
    "T": (0.22, 0.045, 0.3),
}
beats = np.zeros((n_people, len(t)))
for place, width, height in waves.values():
    places = place * rng.normal(1, 0.1, (n_people, 1))
    heights = height * rng.normal(1, 0.25, (n_people, 1))
    beats += heights * np.exp(-(((t - places) / width) ** 2) / 2)

# %%
# A basis that is local in time
# -----------------------------
# :class:`~skfuncpriv.basis.SincBasis` has one function for each of forty moments; its
# coefficient is what the signal is at that moment, without the frequencies above 20
# hertz. So a spike is in few coefficients, and so is the noise of a moment.
#
# What must look alike? Here beats that are nowhere more than 0.03 millivolts apart:
# they change a reader's odds by at most a factor of 3.

from skfuncpriv.basis import SincBasis
from skfuncpriv.local import geo_private_pipeline, pipeline_guarantee
from skfuncpriv.privacy import epsilon_for_radius

basis = SincBasis(40, domain=(-0.5, 0.5), whole_line=True)
epsilon = epsilon_for_radius(0.03, odds=3, domain=(-0.5, 0.5))
band = geo_private_pipeline(
    epsilon=epsilon, bounds=(-5, 5), basis=basis, grid=t, random_state=0
)
band

# %%
# What a band sends
# -----------------
# Each row is another person, and gets noise of its own. The seed keeps the pictures of
# this page the same; a real band has none, since whoever knows it can subtract the
# noise. The pipeline denoises each beat, which is best for looking at one. Whoever
# wants to average should not denoise first: what each beat loses, the mean would lose
# as well.

band.set_params(release__denoise=False)
sent = band.inverse_transform(band.fit_transform(beats))
print(pipeline_guarantee(band))

figure, axes = plt.subplots(
    1, 3, figsize=(12, 3.6), sharex=True, sharey=True, layout="constrained"
)
for person, ax in enumerate(axes):
    ax.plot(t, sent[person], color="#2a5c8a", linewidth=1, label="what is sent")
    ax.plot(t, beats[person], color="0.3", linewidth=2, label="the beat, not sent")
    ax.set(title=f"person {person + 1}", xlabel="time (seconds)")
axes[0].set_ylabel("voltage (mV)")
_ = axes[0].legend(frameon=False)

# %%
# What the study sees
# -------------------
# The mean of all that was sent. Its noise is that of one beat over the root of the
# number of people, and known without any data.

mean = sent.mean(axis=0)
noise_of_one = np.sqrt(basis.evaluate(t) ** 2 @ band[-1].noise_std_ ** 2)
noise = noise_of_one / np.sqrt(n_people)

figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
ax.fill_between(
    t,
    mean - 2 * noise,
    mean + 2 * noise,
    color="#2a5c8a",
    alpha=0.2,
    linewidth=0,
    label="privacy noise, 2 deviations",
)
ax.plot(t, mean, color="#2a5c8a", linewidth=2, label="mean of what was sent")
ax.plot(t, beats.mean(axis=0), "--", color="0.3", label="mean of the beats, not known")
for name, (place, _, height) in waves.items():
    ax.annotate(
        name,
        (place, height),
        (0, 8 if height > 0 else -16),
        textcoords="offset points",
        ha="center",
        color="0.35",
    )
ax.set(
    xlabel="time (seconds)", ylabel="voltage (mV)", xlim=(-0.5, 0.5), ylim=(-0.5, 1.4)
)
_ = ax.legend(frameon=False, loc="upper left")

# %%
# How private is a beat?
# ----------------------
# Epsilon is per unit of distance, so the promise for two given beats depends on how far
# apart they are. For pairs of people of this simulation:

pairs = beats[:2500] - beats[2500:]
distances = np.sqrt(np.trapezoid(pairs**2, t, axis=1))
odds = np.exp(epsilon * np.median(distances))
print(f"median distance {np.median(distances):.3f}, odds between them {odds:.0f} to 1")

# %%
# What the guarantee says
# -----------------------
# Nobody but the band has seen a beat. From what was sent a reader tells two beats that
# are nowhere more than 0.03 mV apart with odds of at most 3 to 1, if both were as
# likely before, and beats that are k times as far apart with 3^k to 1: details of a
# beat are hidden, that its large wave is missing would not be.
