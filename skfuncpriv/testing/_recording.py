"""What passes through the two points where privacy is made: releases and choices.

`recorded` lets a test read the exact private values and the releases of a fit,
`silenced` replaces the noise by zero, and `replayed` gives a neighbour the very
releases of another data set: what then still differs came out of none. They act on
`NoiseLaw.release` and `permute_and_flip` in the whole process, so not in threads.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np

from ..noise import FixedPoint, Lattice, NoiseLaw
from ..privacy import permute_and_flip
from ._tools import ensure, same

_READ: set[str] = set()  # names of modules
_HOLDERS: list[tuple[Any, str]] = []


@dataclass(frozen=True, eq=False)
class Released:
    """One call of `NoiseLaw.release`.

    Parameters
    ----------
    law : NoiseLaw
        The law of the noise.
    value : FixedPoint or ndarray of float64
        What was released, without noise.
    lattice : Lattice
        The lattice of the release.
    integers : ndarray of int64
        The release, in steps of the lattice.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.noise import Lattice, SphericalLaplace
    >>> from skfuncpriv.testing import Released
    >>> values, law = np.array([0.5]), SphericalLaplace(1)
    >>> Released(law, values, Lattice(-20), np.array([7])).exact
    [Fraction(1, 2)]
    """

    law: NoiseLaw
    value: Any
    lattice: Lattice
    integers: Any

    @property
    def exact(self) -> list[Fraction]:
        """The private values, exactly."""
        if not isinstance(self.value, FixedPoint):
            return [Fraction(float(x)) for x in np.ravel(self.value)]
        step = Fraction(2) ** self.value.lattice.exponent
        return [int(k) * step for k in self.value.values.ravel()]

    @property
    def public(self) -> list[Any]:
        """What neighbours must share: the law, the lattices, the bound, the shape."""
        facts = [self.law, self.lattice, np.shape(self.integers)]
        if isinstance(self.value, FixedPoint):
            facts += [self.value.lattice, self.value.bound]
        return facts


@dataclass(frozen=True, eq=False)
class Chosen:
    """One call of `permute_and_flip`: scores, what it promises, the columns chosen."""

    scores: Any
    epsilon: float
    sensitivity: float
    columns: Any

    @property
    def public(self) -> list[Any]:
        """What neighbours must share."""
        return [float(self.epsilon), float(self.sensitivity), np.shape(self.scores)]


@dataclass
class Transcript:
    """Everything that a mechanism let out, in order, and the private values behind."""

    steps: list[Released | Chosen] = field(default_factory=list)
    releases: list[Released] = field(default_factory=list)

    def add(self, step: Released | Chosen) -> None:
        """Note one release or choice."""
        self.steps.append(step)
        if isinstance(step, Released):
            self.releases.append(step)


@contextmanager
def recorded() -> Iterator[list[Released]]:
    """Collect every release that is made in this context.

    Yields
    ------
    list of Released
        Filled as releases are made, in order. What it holds is private.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv import ICLPMean
    >>> from skfuncpriv.testing import recorded
    >>> with recorded() as releases:
    ...     _ = ICLPMean(bounds=(0, 1), epsilon=9).fit(np.ones((50, 4)))
    >>> len(releases)
    1
    """
    transcript = Transcript()
    with mock.patch.object(NoiseLaw, "release", _noting(transcript)):
        yield transcript.releases


def _noting(transcript: Transcript) -> Callable[..., Any]:
    """The draw of noise, which is written down."""
    release = NoiseLaw.release

    def noted(law: NoiseLaw, value: Any, lattice: Lattice, bits: Any) -> Any:
        integers = release(law, value, lattice, bits)
        transcript.add(Released(law, value, lattice, integers.copy()))
        return integers

    return noted


@contextmanager
def transcribed() -> Iterator[Transcript]:
    """Collect every release and every choice that is made in this context."""
    transcript = Transcript()

    def chosen(
        scores: Any, *, epsilon: float, bits: Any, sensitivity: float = 1.0
    ) -> Any:
        columns = permute_and_flip(
            scores, epsilon=epsilon, bits=bits, sensitivity=sensitivity
        )
        facts = (np.array(scores, float), epsilon, sensitivity)
        transcript.add(Chosen(*facts, columns.copy()))
        return columns

    with _instead(_noting(transcript), chosen):
        yield transcript


@contextmanager
def replayed(first: Transcript) -> Iterator[Transcript]:
    """Let a neighbour's fit see what another fit released, draw by draw.

    Whatever the fit may know has been released: each release of the neighbour must
    have the same law on the same lattice, and the fit must end in the same state.
    """
    transcript, left = Transcript(), iter(first.steps)

    def noted(law: NoiseLaw, value: Any, lattice: Lattice, _: Any) -> Any:
        before = next(left, None)
        ensure(
            isinstance(before, Released),
            "a neighbour makes a release that the other data set does not make: "
            "how many there are, and in which order, is decided by private data",
        )
        step = Released(law, value, lattice, before.integers)  # type: ignore[union-attr]
        ensure(
            same(step.public, before.public),  # type: ignore[union-attr]
            f"noise is not public: a neighbour draws from {law} on {lattice} where "
            f"the other data set draws from {before.law} on {before.lattice}",  # type: ignore[union-attr]
        )
        transcript.add(step)
        return step.integers.copy()

    def chosen(
        scores: Any, *, epsilon: float, sensitivity: float = 1.0, **_: Any
    ) -> Any:
        before = next(left, None)
        ensure(
            isinstance(before, Chosen),
            "a neighbour makes a choice that the other data set does not make",
        )
        step = Chosen(
            np.array(scores, float),
            epsilon,
            sensitivity,
            before.columns,  # type: ignore[union-attr]
        )
        ensure(
            same(step.public, before.public),  # type: ignore[union-attr]
            "the cost of a choice depends on private data",
        )
        transcript.add(step)
        return step.columns.copy()

    with _instead(noted, chosen):
        yield transcript
    ensure(
        next(left, None) is None,
        "a neighbour makes fewer releases than the other data set",
    )


@contextmanager
def silenced() -> Iterator[None]:
    """Release without noise: the exact value, rounded to the lattice of the release.

    What a fit then "releases" are the private statistics.

    Yields
    ------
    None
        Noise is back when the context is left.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv import ICLPMean
    >>> from skfuncpriv.testing import silenced
    >>> model = ICLPMean(bounds=(0, 1), epsilon=1e4)
    >>> with silenced():
    ...     float(model.fit(np.full((50, 4), 0.75)).mean_[0].round(6))
    0.75
    """

    def release(law: NoiseLaw, value: Any, lattice: Lattice, _: Any) -> Any:
        quiet = Released(law, value, lattice, None)
        step = Fraction(2) ** lattice.exponent
        rounded = [round(exact / step) for exact in quiet.exact]
        shape = np.shape(getattr(value, "values", value))
        return np.array(rounded, dtype=np.int64).reshape(shape)

    with mock.patch.object(NoiseLaw, "release", release):
        yield


@contextmanager
def _instead(release: Callable[..., Any], choose: Callable[..., Any]) -> Iterator[None]:
    """Replace both, the function wherever it was imported."""
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(NoiseLaw, "release", release))
        for module, name in _holders():
            stack.enter_context(mock.patch.object(module, name, choose))
        yield


def _holders() -> list[tuple[Any, str]]:
    """Which modules have imported the choice, under which name; each is read once."""
    for key in set(sys.modules) - _READ - {__name__}:
        _READ.add(key)
        names = vars(sys.modules[key]).items() if sys.modules[key] is not None else ()
        _HOLDERS.extend(
            (sys.modules[key], name)
            for name, thing in list(names)
            if thing is permute_and_flip
        )
    return list(_HOLDERS)
