"""The basis that an estimator states by `basis`, or by `kernel` and `n_basis`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._validation import check_count
from ..basis import Basis, CosineBasis, KernelBasis


def check_basis(estimator: Any) -> None:
    """Refuse what is no basis, or a basis beside what would make another one."""
    if estimator.n_basis != "pss":
        check_count(estimator.n_basis, "n_basis")
    if estimator.basis is not None:
        if not isinstance(estimator.basis, Basis):
            raise TypeError(f"basis must be a Basis object, got {estimator.basis!r}")
        if estimator.kernel is not None or estimator.n_basis != "pss":
            raise ValueError("basis says it all: give no kernel and no n_basis with it")


def stated_size(estimator: Any) -> int | None:
    """How many functions are stated; None leaves the choice to public facts."""
    if estimator.basis is not None:
        return int(estimator.basis.n_basis)
    return None if estimator.n_basis == "pss" else int(estimator.n_basis)


def stated_basis(
    estimator: Any,
    size: int,
    domain: tuple[float, float],
    default: Callable[[int, tuple[float, float]], Basis] = CosineBasis,
) -> Basis:
    """The stated basis; otherwise so many functions of the kernel, or the default."""
    if estimator.basis is not None:
        return estimator.basis
    if estimator.kernel is None:
        return default(size, domain)
    return KernelBasis(estimator.kernel, size, domain)
