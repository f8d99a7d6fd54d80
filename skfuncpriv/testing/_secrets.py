"""The search for private numbers in all that an estimator holds.

Private numbers are found without knowing the estimator: its noise is silenced at the
one place where noise is added, and what it then "releases" are the private statistics.
"""

from __future__ import annotations

import re
import types
from typing import Any

import numpy as np
from sklearn.base import clone

from ..noise import RandomBits
from ._case import PrivateCase
from ._randomness import noted_words
from ._recording import recorded, silenced
from ._tools import ensure

_DIGITS = 15
_HIDDEN = 1e-10  # an exact value that is smaller, beside its noise, cannot be told
GENERATORS = (
    RandomBits,
    np.random.Generator,
    np.random.RandomState,
    np.random.BitGenerator,
)


def reachable(root: Any) -> tuple[Any, list[Any]]:
    """Every number and every object that can be reached from an object."""
    numbers: list[float] = []
    objects: list[Any] = []
    stack, seen = [root], set()
    while stack:
        item = stack.pop()
        if id(item) in seen or isinstance(item, type | types.ModuleType | str | bytes):
            continue
        seen.add(id(item))
        objects.append(item)
        if isinstance(item, bool | np.bool_) or item is None:
            continue
        if isinstance(item, int | float | np.number):
            numbers.append(float(item))
        elif isinstance(item, np.ndarray):
            stack.append(item.base)
            if item.dtype.kind in "fiu":
                numbers.extend(item.ravel().astype(float).tolist())
            else:
                stack.extend(item.ravel().tolist())
        elif isinstance(item, dict):
            stack.extend([*item.keys(), *item.values()])
        elif isinstance(item, list | tuple | set | frozenset):
            stack.extend(item)
        elif hasattr(type(item), "to_numpy"):  # frames, series and their indexes
            stack.append(item.to_numpy())
            stack.extend(getattr(item, name, None) for name in ("index", "columns"))
        if isinstance(item, types.FunctionType):
            stack.extend(cell.cell_contents for cell in item.__closure__ or ())
            stack.extend([item.__defaults__, item.__kwdefaults__])
        if isinstance(item, types.MethodType):
            stack.extend([item.__self__, item.__func__])
        stack.append(getattr(item, "__dict__", None))
        for owner in type(item).__mro__:
            for slot in np.atleast_1d(getattr(owner, "__slots__", ())):
                stack.append(getattr(item, str(slot), None))
    return np.array(numbers), objects


class Secrets:
    """The private numbers behind one release: rows, exact values, noise, bits."""

    def __init__(self, model: Any, case: PrivateCase, X: Any, y: Any) -> None:
        names = case.released_names(model)
        known, _ = reachable(model)  # parameters are public
        rows = np.asarray(X, dtype=float)
        targets = np.ravel([] if y is None else np.asarray(y))
        if targets.dtype.kind not in "biuf":  # words are no numbers to search for
            targets = np.empty(0)
        numbers = [rows.ravel(), targets.astype(float)]
        quiet = None
        if not case.own_noise and names:
            with silenced():
                quiet = case.release(clone(model), X, y)
        with noted_words() as self.words, recorded() as releases:
            prepared = case.prepare(model, X, y)
            self.drawn = case.draw(prepared, X, y)
        self.integers: list[int] = []
        for released in releases:
            exact = np.array([float(x) for x in released.exact])
            noise = released.lattice.to_float(released.integers).ravel() - exact
            numbers += [exact, exact / case.n_people]
            noise = noise[abs(exact) > _HIDDEN * abs(noise)]  # or it is the release
            numbers += [noise, noise / released.lattice.step, noise / case.n_people]
            if hasattr(released.value, "lattice"):
                self.integers += [int(k) for k in released.value.values.ravel()]
        if quiet is not None:
            for name in names:
                statistic = np.ravel(getattr(quiet, name))
                ours = np.ravel(getattr(model, name))
                ensure(
                    (statistic != ours).all(),
                    f"{name} is released without noise: it is what it is without noise",
                )
                noise = ours - statistic
                hidden = noise[abs(statistic) > _HIDDEN * abs(noise)]
                numbers += [statistic, hidden]
        if quiet is None:  # the simplest statistics, and what clipping does not change
            tails = [np.linalg.norm(rows[:, k:], axis=1) for k in range(rows.shape[1])]
            numbers += [*tails, np.square(rows).ravel(), rows.sum(0), rows.mean(0)]
        if self.drawn is not None and np.shape(self.drawn) == rows.shape:
            numbers.append(np.nan_to_num(self.drawn - rows).ravel())
        self.numbers = np.unique(np.concatenate(numbers))
        common = np.isin(abs(self.numbers), [*abs(known), 1.0])  # 1 is everywhere
        self.numbers = self.numbers[(abs(self.numbers) > 1e-99) & ~common]
        ensure(
            self.numbers.size,
            "the case has no number that can be told from public ones: take other data",
        )
        self._bytes = [
            self.numbers.astype(order).view("<u8") for order in ("<f8", ">f8")
        ]

    def check_numbers(self, numbers: Any) -> None:
        """No private number is among them, to eleven digits: nine meet by chance."""
        for sign in (1, -1):
            place = np.searchsorted(self.numbers, sign * numbers)
            for shift in (-1, 0):
                near = self.numbers[np.clip(place + shift, 0, len(self.numbers) - 1)]
                found = abs(sign * numbers - near) < 1e-11 * abs(near)
                ensure(
                    not found.any(),
                    f"the fitted estimator holds a private number, "
                    f"{near[found][0] if found.any() else 0.0!r}: a row, an exact "
                    "statistic or its noise, from which others follow (or a public "
                    "number that is one by chance: take data that are less round)",
                )

    def check_bytes(self, data: bytes) -> None:
        """Neither a number, in either order of bytes, nor a word of random bits."""
        wanted = list(self._bytes)
        wanted += [word.ravel().view("<u8") for word in self.words]
        sought = np.unique(np.concatenate(wanted))
        for shift in range(8):
            whole = (len(data) - shift) // 8 * 8
            windows = np.frombuffer(data[shift : shift + whole], "<u8")
            place = np.searchsorted(sought, windows)
            found = sought[np.minimum(place, len(sought) - 1)] == windows
            ensure(
                not found.any(),
                "the pickled estimator holds a private number or the random bits of "
                "its noise: whoever is sent the file can read it",
            )
        needles = [
            integer.to_bytes(integer.bit_length() // 8 + 1, "little", signed=True)
            for integer in self.integers
            if abs(integer) > 2**32  # five bytes at least
        ]
        first = np.array([int.from_bytes(k[:5], "little") for k in needles], np.int64)
        near = np.flatnonzero(np.isin(first, _five_bytes(data)))
        ensure(
            not any(needles[k] in data for k in near),
            "the pickled estimator holds an exact private sum as an integer",
        )

    def check_text(self, text: str) -> None:
        """No fifteen digits of a number are printed."""
        printed = {
            run[k : k + _DIGITS]
            for run in re.findall(rf"[0-9.e+-]{{{_DIGITS},}}", text)
            for k in range(len(run) - _DIGITS + 1)
        }
        shown = printed & {repr(x)[:_DIGITS] for x in abs(self.numbers).tolist()}
        ensure(not shown, f"a printed text shows private numbers, {sorted(shown)[:3]}")

    def check_objects(self, objects: list[Any]) -> None:
        """No generator of random numbers is held."""
        ensure(
            not any(isinstance(item, GENERATORS) for item in objects),
            "the fitted estimator holds a source of random numbers, whose state "
            "reproduces the noise",
        )


def _five_bytes(data: bytes) -> Any:
    """The number that any five bytes in a row are."""
    octets = np.frombuffer(data, np.uint8).astype(np.int64)
    length = len(octets) - 4
    return sum(octets[k : k + length] << (8 * k) for k in range(5))
