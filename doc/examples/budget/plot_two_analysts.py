"""
Two analysts, one budget
========================

A data trust holds the electricity curves of 4000 homes and lets two analysts work with
them. Releases about the same homes add up, whoever makes them, so a *ledger* keeps the
sum and refuses what does not fit. Private are the curves; the ledger, its budget and
who spent what for which purpose are public. The homes are simulated.
"""

# %%
# A budget in two shares
# ----------------------
# The ledger is a file. Each analyst gets a *scope*: a part of it with a limit of its
# own, addressed by a string that stands wherever a path of a ledger does.

import os
import tempfile

import matplotlib.pyplot as plt
import numpy as np

from skfuncpriv import BudgetExceededError, BudgetLedger, ICLPMean, PrivateKDE

folder = tempfile.mkdtemp()
ledger = BudgetLedger(os.path.join(folder, "homes.db"), epsilon=3.0, name="homes 2026")
ada = ledger.add_scope("Ada", epsilon=1.75)
ben = ledger.add_scope("Ben", epsilon=1.25)

rng = np.random.default_rng(0)
hours = np.arange(0.5, 24)
evening = rng.gamma(3, 0.3, (4000, 1)) * np.exp(-(((hours - 19) / 2.5) ** 2))
curves = 0.3 + evening + rng.exponential(0.1, (4000, 24))

# %%
# Ada's work
# ----------
# A mean day, and the density of what a home uses in a day. Each ``fit`` is charged
# before its noise is drawn. The seeds keep the pictures of this page the same; whoever
# knows them can subtract the noise, so real releases leave ``random_state`` out.

day = ICLPMean(
    bounds=(0, 4), domain=(0, 24), grid=hours, epsilon=1.0, ledger=ada, random_state=0
)
day.fit(curves)

use = PrivateKDE(bounds=(0, 40), epsilon=0.5, ledger=ada, random_state=1)
use.fit(curves.sum(axis=1)[:, None])

# %%
# Ben's work
# ----------
# Ben looks at the evening only, is not content, and tries once more with a larger
# epsilon. The third time is one too many. The refusal costs nothing, and Ada's share is
# safe from it.

evening_hours = hours >= 17
for epsilon in (0.25, 0.75, 0.5):
    mean = ICLPMean(
        bounds=(0, 4),
        domain=(17, 24),
        grid=hours[evening_hours],
        epsilon=epsilon,
        ledger=ben,
        random_state=2,
    )
    try:
        mean.fit(curves[:, evening_hours])
    except BudgetExceededError as error:
        reason, _ = str(error).split(":", maxsplit=1)
        print("refused:", reason)

# %%
# Who has spent what
# ------------------
# Reading a ledger never writes to it.

for record in ledger.history():
    print(f"{record.scope}: {record.label}, epsilon = {record.guarantee.epsilon:g}")
print("left:", ledger.remaining)

# %%
# The same as a picture, share by share. What was refused is not in it: it has cost
# nothing.

from skfuncpriv import BudgetDisplay

figure, panels = plt.subplots(
    2, figsize=(8, 4.4), sharex=True, sharey=True, layout="constrained"
)
for share, ax in zip((ada, ben), panels, strict=True):
    BudgetDisplay.from_ledger(BudgetLedger(share), ax)

# %%
# The releases
# ------------
# What Ada's share has bought. To draw, evaluate or sample them costs nothing more.

from skfuncpriv import DensityDisplay, MeanCurveDisplay

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
MeanCurveDisplay.from_estimator(day, left, reference=curves.mean(axis=0))
left.set(xlabel="hour of the day", ylabel="power (kW)")
DensityDisplay.from_estimator(use, right)
_ = right.set(xlabel="energy of a day (kWh)", ylabel="density (1/kWh)")

# %%
# What the guarantee says
# -----------------------
# Whatever Ada and Ben publish, alone or together, now or later, and whoever sees all of
# it: the odds of any statement about one home change by a factor of at most e^3 = 20,
# the promise of the ledger. It cannot know of releases that are made without it. In
# earnest ``config(strict=True)`` refuses these.
