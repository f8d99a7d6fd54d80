"""
A mean that no machine holds the curves of
==========================================

A national statistics office has the electricity curves of many homes, in pieces on the
machines of a cluster, and a home may have days on several of them. The office wants the
mean day of a *home*. Private are the curves and which home each belongs to; public are
the number of homes, the hours, the bounds and how the files are cut. The homes are
simulated.
"""

# sphinx_gallery_thumbnail_number = 1

# %%
# Curves that are made where they are needed
# ------------------------------------------
# A dask array is a recipe: each block is read (here: simulated) by the worker that
# needs it, and thrown away afterwards. Forty thousand days of 4000 homes, in twenty
# blocks; every home is in several of them.

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

from skfuncpriv import ICLPMean, MeanCurveDisplay

hours = np.arange(0.5, 24)
n_blocks, n_days, n_homes = 20, 2000, 4000


def days(block):
    """The curves of one block, and the home of each."""
    rng = np.random.default_rng(block)
    evening = rng.gamma(3, 0.3, (n_days, 1)) * np.exp(-(((hours - 19) / 2.5) ** 2))
    homes = (np.arange(n_days) + block * 1237) % n_homes
    return 0.3 + evening + rng.exponential(0.1, (n_days, 24)), homes


def block_of(block_info):
    """The number of a block."""
    return block_info[None]["chunk-location"][0]


curves = da.map_blocks(
    lambda block_info: days(block_of(block_info))[0],
    chunks=((n_days,) * n_blocks, (24,)),
    dtype=float,
)
homes = da.map_blocks(
    lambda block_info: days(block_of(block_info))[1],
    chunks=((n_days,) * n_blocks,),
    dtype=int,
)
print(curves)

# %%
# The release
# -----------
# ``fit`` is the one of arrays. The days of a home are brought together by the workers,
# each of them adds up integers, and integers are all that comes back: so the sum is
# exact, whatever the order. Noise is drawn once, here, after the ledger (if there is
# one) was charged. The seed keeps this page the same; real releases leave it out.

facts = {"bounds": (0, 4), "domain": (0, 24), "grid": hours, "epsilon": 1.0}
model = ICLPMean(**facts, random_state=0).fit(curves, groups=homes)
print(f"{model.n_people_} homes")
print(model.guarantee_)

# %%
# The same curves in memory
# -------------------------
# With the same seed the release from memory is the same, bit for bit: how rows are cut
# decides nothing.

whole = np.concatenate([days(block)[0] for block in range(n_blocks)])
owners = np.concatenate([days(block)[1] for block in range(n_blocks)])
same = ICLPMean(**facts, random_state=0).fit(whole, groups=owners)
print("equal:", np.array_equal(model.mean_, same.mean_))

# %%
# The picture
# -----------
# The band is that of the noise. The dashed mean is only shown because these homes are
# simulated.

totals = np.zeros((n_homes, 24))
np.add.at(totals, owners, whole)
truth = (totals / np.bincount(owners)[:, None]).mean(axis=0)

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
MeanCurveDisplay.from_estimator(model, ax=ax, reference=truth)
ax.set(xlabel="hour of the day", ylabel="power in kW")
plt.show()

# %%
# Start a ``dask.distributed.Client`` before, and the same lines run on the machines of
# a cluster: rows stay there, and a worker that dies has its blocks summed again,
# without a second release or a second charge. What is promised is the line above:
# whoever sees the mean learns little of any *home*, however many days it has.
