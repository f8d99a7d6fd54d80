"""
A map of storms, each with many rows
====================================

An app has collected positions, many of each user, and its maker wants to publish a map
of where users are. If rows were protected one by one, somebody with a hundred positions
would still stand out. Here a storm takes the place of a user: 19,537 positions of 655
Atlantic storms. What a storm did, and how often it was seen, is "private"; the number
of storms and the corners of the map are public. Tracks of storms are public in truth,
so this page may show the map without noise, too.
"""

# %%
# Whose rows are they?
# --------------------
# Most storms were seen some thirty times, a few nearly a hundred times. A promise per
# position with epsilon = 1 would be one with epsilon = 96 for the last of them.

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt

from skfuncpriv import DensityDisplay, PrivateKDE
from skfuncpriv.datasets import load_storms

storms = load_storms(as_frame=True).data
positions = storms[["lon", "lat"]]

rows = storms["storm"].value_counts()
figure, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
ax.hist(rows, bins=40, color="#2a5c8a")
_ = ax.set(xlabel="positions of one storm", ylabel="storms")

# %%
# The map
# -------
# ``groups`` names the storm of each row: the positions of each are averaged, so that a
# storm that was seen 96 times moves the map no further than one that was seen four
# times. The bounds are the corners, all low ends first. The seed keeps the picture the
# same; a real release leaves it out, since whoever knows it can subtract the noise.

region = ((-110, 5), (0, 60))
kde = PrivateKDE(bounds=region, epsilon=1.0, random_state=0)
kde.fit(positions, groups=storms["storm"])

figure, axes = plt.subplots(
    1, 2, figsize=(12, 5), sharex=True, sharey=True, layout="constrained"
)
each = 1 / rows[storms["storm"]].to_numpy()  # a storm weighs one, however many rows
truth = axes[0].hist2d(
    *positions.to_numpy().T,
    bins=[kde.grid_[0][::4], kde.grid_[1][::4]],
    weights=each,
    density=True,
    cmap="Blues",
    vmax=kde.density_.max(),
)
axes[0].set_title("counted without noise, not published", fontsize="medium")
DensityDisplay.from_estimator(kde, axes[1])
for ax in axes:
    ax.set(xlabel="longitude (degrees)", ylabel="latitude (degrees)")

# %%
# Positions to play with
# ----------------------
# Points drawn from the release are free. They are positions one by one, not tracks.

synthetic = kde.sample(2000, random_state=0)
figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ax.scatter(*synthetic.T, s=4, color="#2a5c8a", alpha=0.5, linewidths=0)
_ = ax.set(
    xlabel="longitude (degrees)",
    ylabel="latitude (degrees)",
    xlim=(-110, 0),
    ylim=(5, 60),
    title="two thousand synthetic positions",
)

# %%
# What the guarantee says
# -----------------------
# Replace the whole track of one storm by any other track, of any length: the map that
# was published becomes at most e = 2.72 times as likely, or as unlikely. That holds for
# the track as a whole and for each of its positions.
