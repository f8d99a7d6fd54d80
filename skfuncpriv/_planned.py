"""What public facts say about a release before there are any data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PlannedRelease:
    """The parameters that an estimator would choose, and the error it expects.

    Errors are squared L2 norms in the units of what is released. Everything follows
    from public facts; an estimator makes one in ``_planned_release``.

    Parameters
    ----------
    n_people : int
        The number of contributions.
    epsilon, delta : float
        What it would spend of the budget; pure noise has delta 0.
    mechanism : str
        The noise law.
    n_functions : int
        M, how many functions are used: of a basis for each output, or features.
    bias : float
        A bound on the squared bias over the stated smooth functions, that of expected
        denoising included where noise is counted after it.
    sampling : float
        A bound on the expected squared error of the same people without noise.
    noise : float
        The expected squared error that noise adds, before denoising unless `denoised`.
    eta, psi, bandwidth : float, default=None
        The exponent and strength of the penalty, or the bandwidth (a tuple where axes
        differ); None has none.
    released : str, default="the released function"
        What the errors are those of.
    size : float, default=None
        The measure of its domain, in units of the domain; 1 for the answers to rows.
    place : str, default="at a point"
        Where the square root of error / size is the error, of all outputs together.
    denoised : bool, default=False
        Whether `noise` is what denoising is expected to leave of it.
    """

    n_people: int
    epsilon: float
    delta: float
    mechanism: str
    n_functions: int
    bias: float
    sampling: float
    noise: float
    eta: float | None = None
    psi: float | None = None
    bandwidth: float | tuple[float, ...] | None = None
    released: str = "the released function"
    size: float | None = None
    place: str = "at a point"
    denoised: bool = False

    @property
    def risk(self) -> float:
        """The sum of the three errors."""
        return self.bias + self.sampling + self.noise
