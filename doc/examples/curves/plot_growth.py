"""
Curves on a grid and at points of their own
===========================================

Private curves come in two forms. In a wide table every person was observed on the same
public grid. In a long table each row is one observation, and when and how often a
person was observed is private too.
"""

# %%
# A wide table
# ------------
# Sixty-one years of monthly sea-surface temperature, where a year takes the place of a
# person. The grid and the domain are public.

from skfuncpriv.curves import Curves
from skfuncpriv.datasets import load_elnino, make_curves

elnino = load_elnino()
regular = Curves.from_wide(elnino.data, elnino.grid, domain=(0, 12))
regular

# %%
# A long table
# ------------
# Random curves, each observed between 5 and 20 times. The container keeps to itself how
# many observations there are.

import numpy as np

made = make_curves(8, random_state=0)
rng = np.random.default_rng(0)
rows = [
    (person, made.grid[k], curve[k])
    for person, curve in enumerate(made.data)
    for k in rng.choice(len(made.grid), size=rng.integers(5, 21), replace=False)
]
person, t, y = zip(*rows, strict=True)
table = {"person": person, "t": t, "y": y}
irregular = Curves.from_long(table, "person", "t", "y", domain=(0, 1))
irregular

# %%
# Between its observations a curve is a straight line.

import matplotlib.pyplot as plt

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
left.plot(regular.grid, regular.values[:, :, 0].T, color="#2a5c8a", alpha=0.25)
left.set(xlabel="month", ylabel="degrees Celsius", title="on a common grid")
for one in irregular:
    right.plot(one.times, one.values, ".-", linewidth=1)
right.set(xlabel="t", title="at points of their own")
