"""
A private trace
===============

One track, made private before it leaves the device. A storm takes the place of a
person; tracks of storms are public, so this page may show what is never shown
otherwise: the track behind the release.
"""

# %%
# From "these must look alike" to epsilon
# ---------------------------------------
# Geo-privacy hides small differences and lets large ones show. How small is a choice:
# here, week-long tracks that are nowhere further apart than 150 kilometres shall change
# anybody's odds between them by at most a factor of 3. Bounds, domain and the origin of
# the map are public, and chosen without the track.

import matplotlib.pyplot as plt
import numpy as np

from skfuncpriv import Curves, GeoPrivateCurve
from skfuncpriv.datasets import load_storms
from skfuncpriv.local import to_metres
from skfuncpriv.privacy import epsilon_for_radius

domain, origin = (0, 168), (-60.0, 25.0)
area = (-4000.0, 4000.0)  # kilometres around the origin, in both directions
epsilon = epsilon_for_radius(150, odds=3, domain=domain)
print(f"epsilon = {epsilon:.2e} per unit of L2 distance, km * sqrt(hour)")

# %%
# The tracks
# ----------
# Observations every six hours or so, each storm at hours of its own. Degrees become
# kilometres: a degree is no distance.

storms = load_storms().data
east, north = to_metres(storms["lon"], storms["lat"], origin=origin).T / 1000
table = {"id": storms["storm"], "t": storms["hours"], "east": east, "north": north}
tracks = Curves.from_long(table, "id", "t", ["east", "north"], duplicates="mean")
one = tracks[np.flatnonzero(tracks.ids == "Katrina-2005")]

# %%
# Releases
# --------
# Each call of `transform` is another release, and costs its epsilon again. What comes
# out lies on a grid of the caller's choice and tells nothing of the observation times.
# The seeds make this page repeatable; never publish a seeded release.

hours = np.linspace(*domain, 85)
figure, axes = plt.subplots(
    1, 3, figsize=(10, 4.8), sharex=True, sharey=True, layout="constrained"
)
for axis, factor in zip(axes, (1, 4, 16), strict=True):
    model = GeoPrivateCurve(
        epsilon=factor * epsilon, bounds=area, domain=domain, random_state=1
    ).fit(one)
    private = model.transform(one, grid=hours)[0]
    axis.plot(*one.values.T, color="0.7", lw=3, label="the track, not published")
    axis.plot(*private.T, color="C0", label="what is published")
    axis.plot(*private[0], "o", color="C0", label="its start")
    axis.set(aspect="equal", title=f"hides {150 / factor:.3g} km")
    axis.set_xlabel("km east")
    axis.locator_params(nbins=5)
axes[0].set_ylabel("km north")
axes[0].legend()

# %%
# How far off a release is
# ------------------------
# Root mean square distance over the week, all 655 storms, one release of each.

truth = np.stack(
    [
        [np.interp(hours, track.times, column) for column in track.values.T]
        for track in (tracks[i] for i in range(len(tracks)))
    ]
)
for factor in (0.25, 1, 4, 16):
    model = GeoPrivateCurve(
        epsilon=factor * epsilon, bounds=area, domain=domain, random_state=1
    ).fit(tracks)
    released = model.transform(tracks, grid=hours)
    off = np.square(released - truth.swapaxes(1, 2)).sum(axis=2).mean(axis=1)
    print(
        f"hides {150 / factor:6.1f} km: {np.sqrt(np.median(off)):6.0f} km off (median),"
        f" {model.n_coefficients_} coefficients per coordinate"
    )

# %%
# The guarantee counts the rounding errors of the projection too:

print(model.guarantee_)
