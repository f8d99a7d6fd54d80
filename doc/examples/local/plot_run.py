"""
A runner's trace
================

An app maker wants users to show where they ran, and not where they live. Here the phone
itself makes a trace private before it is sent, so that nobody else has to be trusted.
The whole trace is private: its places, when it was recorded, how often. Public is the
town: an origin of the map, how far from it a run may lead, and how long it may take.
The run is simulated, in metres and seconds.
"""

# %%
# An hour around the lake
# -----------------------
# Out of the door, once around, and home again, with a position every four seconds and
# the errors of a phone. Positions of a real file come in degrees;
# :func:`~skfuncpriv.local.to_metres` turns them into metres about a public origin.

import matplotlib.pyplot as plt
import numpy as np

from skfuncpriv import GeoPrivateCurve, TraceDisplay
from skfuncpriv.privacy import epsilon_for_radius

rng = np.random.default_rng(3)
angle = 2 * np.pi * np.linspace(-0.12, 0.97, 700)
wobble = 1 + 0.12 * np.cos(3 * angle) + 0.08 * np.sin(5 * angle)
lake = np.stack([2000 * np.cos(angle), 1300 * np.sin(angle)], axis=1) * wobble[:, None]
door = np.array([2700.0, -1900.0])
there, back = (np.linspace(door, lake[k], 100, endpoint=False) for k in (0, -1))
run = np.concatenate([there, lake, back[::-1]])
run = run + rng.normal(0, 4, run.shape)
print(f"{len(run)} positions in an hour")

# %%
# What shall look alike?
# ----------------------
# The promise of this model is about distances: traces that are nowhere further apart
# than a radius change a reader's odds between them by at most a factor, here 3. Radius
# and odds give epsilon, per unit of distance.

hour = (0, 3600)
epsilon = epsilon_for_radius(25, odds=3, domain=hour)
phone = GeoPrivateCurve(
    epsilon=epsilon, bounds=(-5000, 5000), domain=hour, random_state=1
)
phone.fit(run[None])
_ = TraceDisplay.from_estimator(
    phone, run[None], compare=True, labels=("east", "north"), unit="m"
)

# %%
# What leaves the phone is a smooth curve, from circle to square. It starts and ends
# near the door, and not at it, and it does not tell when the phone has recorded a
# position. The bar is the typical size of the noise. The seed keeps the picture of this
# page the same: whoever knows it can subtract the noise, so that a real release leaves
# ``random_state`` out.
#
# Which radius?
# -------------
# One release each. Whoever asks for a hundred metres gets a place in the town; five
# metres hide the side of the street and little else.

t = np.linspace(*hour, 201)
figure, axes = plt.subplots(
    1, 3, figsize=(12, 4), sharex=True, sharey=True, layout="constrained"
)
for radius, ax in zip((100, 25, 5), axes, strict=True):
    phone.set_params(epsilon=epsilon_for_radius(radius, odds=3, domain=hour))
    released = phone.fit(run[None]).transform(run[None], grid=t)[0]
    ax.plot(*run.T, color="0.75", linewidth=4, label="the run, not published")
    ax.plot(*released.T, color="#2a5c8a", linewidth=2, label="what is published")
    ax.plot(*door, "*", color="#b5532a", markersize=12, label="the door")
    ax.set(aspect="equal", title=f"{radius} m look alike", xlabel="east (m)")
axes[0].set_ylabel("north (m)")
_ = figure.legend(
    *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3
)

# %%
# How well is the door hidden?
# ----------------------------
# Two hundred releases of the same run, for the sake of this table. In earnest each of
# them would cost its epsilon again, and their mean would find the door: a trace is
# released once.

again = np.repeat(run[None], 200, axis=0)
for radius in (100, 25, 5):
    phone.set_params(epsilon=epsilon_for_radius(radius, odds=3, domain=hour))
    starts = phone.fit(again).transform(again, grid=t)[:, 0]
    off = np.linalg.norm(starts - door, axis=1)
    noise = np.sqrt(phone.expected_error() / 3600)
    print(
        f"{radius:4d} m alike: noise {noise:3.0f} m, {phone.n_coefficients_:2d}"
        f" coefficients; the start is off by {np.median(off):4.0f} m (median)"
    )

# %%
# The noise of a point and the number of coefficients follow from public facts, so that
# they are known before there is a trace.
#
# What the guarantee says
# -----------------------
# For two runs that are nowhere further apart than the radius, say from this door or
# from one across the street, the odds between them change by a factor of at most 3. For
# runs twice as far apart it is 3 squared: in which part of the town somebody lives is
# not hidden.
