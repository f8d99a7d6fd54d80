"""Put the functions of a changed module in the place of those that are loaded.

Importing the package and collecting tests takes longer than most tests. Where a change
stays inside functions, the code of these is replaced in a process that has done so.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

OPTIMIZED = 1  # the flag of the code of functions, which that of classes does not have


def swap(path: str, original: str, changed: str) -> bool:
    """Whether the change could be made in the module that is loaded."""
    module = sys.modules.get(path.removesuffix(".py").replace("/", "."))
    if module is None:
        return False
    try:
        old, new = (compile(s, path, "exec") for s in (original, changed))
    except SyntaxError:
        return False
    if skeleton(old) != skeleton(new):
        return False
    pairs = list(zip(functions(old), functions(new), strict=True))
    pairs = [pair for pair in pairs if pair[0] != pair[1]]
    loaded = dict(reachable(module))
    names = [code.co_qualname for code in functions(old)]
    if any(names.count(a.co_qualname) > 1 or a.co_qualname not in loaded
           or a.co_freevars != b.co_freevars for a, b in pairs):  # fmt: skip
        return False
    for _, code in pairs:
        loaded[code.co_qualname].__code__ = code
    return bool(pairs)


def parts(code: CodeType) -> Iterator[CodeType]:
    """The code objects in a code object."""
    return (constant for constant in code.co_consts if isinstance(constant, CodeType))


def skeleton(code: CodeType) -> Any:
    """What a module or class does apart from the bodies of its functions."""
    if code.co_flags & OPTIMIZED:
        return code.co_qualname
    rest = [repr(c) for c in code.co_consts if not isinstance(c, CodeType)]
    return code.co_code, code.co_names, rest, [skeleton(part) for part in parts(code)]


def functions(code: CodeType) -> Iterator[CodeType]:
    """The functions of a module and of its classes, not those within functions."""
    for part in parts(code):
        if part.co_flags & OPTIMIZED:
            yield part
        else:
            yield from functions(part)


def reachable(owner: ModuleType | type) -> Iterator[tuple[str, FunctionType]]:
    """The loaded functions by their qualified names."""
    name = getattr(owner, "__module__", owner.__name__)
    for value in list(vars(owner).values()):
        if isinstance(value, type) and value.__module__ == name:
            if value.__qualname__ != getattr(owner, "__qualname__", ""):
                yield from reachable(value)
            continue
        for attribute in ("__func__", "fget", "func", "__wrapped__"):
            value = getattr(value, attribute, value)
        if isinstance(value, FunctionType) and value.__module__ == name:
            yield value.__qualname__, value
