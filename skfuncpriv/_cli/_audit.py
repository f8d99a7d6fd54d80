"""``audit``: an attack on the mechanism, beside the epsilon that it promises."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

import numpy as np

from skfuncpriv.iclp import ICLPMean
from skfuncpriv.privacy import audit

from ._files import refuse_strict


def run(args: Namespace) -> int:
    """Attack, print both epsilons; the exit code is 1 if there is a leak."""
    refuse_strict("audit", "its thousands of releases of made-up data have no ledger")
    # The longest difference a person can make, all of it along one coefficient.
    low, high = np.zeros((args.people, 2)), np.zeros((args.people, 2))
    high[0] = 1.0
    model = ICLPMean(
        bounds=(0, 1),
        n_basis=1,
        epsilon=args.epsilon,
        delta=args.delta,
        mechanism=args.mechanism,
        denoise=False,
    )

    def release(curves: Any) -> float:
        return float(model.fit(curves).coef_[0])

    release(low)  # refuses bad parameters before the bar appears
    guarantee = model.guarantee_
    result = audit(
        release,
        low,
        high,
        n_trials=args.trials,
        delta=guarantee.delta,
        progress=sys.stderr.isatty(),
    )
    is_leak = result.epsilon_lower > guarantee.epsilon
    if is_leak:
        print("LEAK: the mechanism tells more than it promises. Please report this.")
    else:
        share = result.epsilon_lower / guarantee.epsilon
        print(
            f"no leak: the attack reaches {share:.0%} of the promise; more --trials "
            "reach further"
        )
    print(f"  promised  {guarantee}")
    print(
        f"  found     epsilon >= {result.epsilon_lower:.4g}, with confidence "
        f"{result.confidence:g} ({result.n_trials} trials on each neighbour)"
    )
    if args.verbose:
        print(
            f"  event     {result.event}: probability at least {result.likely:.4g} "
            f"against at most {result.unlikely:.4g}"
        )
    return int(is_leak)
