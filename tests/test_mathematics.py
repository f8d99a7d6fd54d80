"""The pages on mathematics: every sensitivity is there, every test on them exists."""

import ast
import importlib
import inspect
import pkgutil
import re
from functools import lru_cache
from pathlib import Path

import pytest

import skfuncpriv

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "doc" / "mathematics").glob("*.rst"))
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)


def everything():
    """Classes and functions of the package that no underscore hides, by name."""
    things = {}
    for found in pkgutil.walk_packages(skfuncpriv.__path__, "skfuncpriv."):
        if any(part in ELSEWHERE for part in found.name.split(".")):
            continue
        for name, thing in vars(importlib.import_module(found.name)).items():
            is_own = getattr(thing, "__module__", None) == found.name
            if is_own and callable(thing) and not name.startswith("_"):
                things[name] = thing
    return things


def is_sensitive(name, thing):
    """Whether it states a sensitivity: a function, or a class that has or takes one."""
    if not inspect.isclass(thing):
        return "sensitivity" in name
    taken = inspect.signature(thing.__init__).parameters
    return "sensitivity" in vars(thing) or "sensitivity" in taken


ELSEWHERE = ("__main__", "_cli", "testing", "plotting", "datasets")
THINGS = everything()
SENSITIVE = sorted(name for name in THINGS if is_sensitive(name, THINGS[name]))
LAWS = sorted(n for n, law in THINGS.items() if "loss" in vars(law) and n[0].isupper())
NAMED_TESTS = sorted(set(re.findall(r"``(tests/[\w/]+\.py)::(\w+)``", TEXT)))


def test_many_are_found():
    """The lists below are not empty because something was renamed."""
    assert len(SENSITIVE) >= 20
    assert len(LAWS) >= 5
    assert len(NAMED_TESTS) >= 100


@pytest.mark.parametrize("name", SENSITIVE + LAWS)
def test_every_sensitivity_and_every_law_is_on_a_page(name):
    assert re.search(rf"\b{name}\b", TEXT), f"{name} is on no page of doc/mathematics"


@lru_cache
def functions_of(path):
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_test_that_is_named_exists():
    missing = [
        f"{path}::{name}"
        for path, name in NAMED_TESTS
        if not (ROOT / path).exists() or name not in functions_of(path)
    ]
    assert missing == []


def test_every_theorem_has_a_proof_and_a_test():
    parts = re.split(r"^\*\*Theorem (\w+'?)\*\*", TEXT, flags=re.MULTILINE)[1:]
    names, bodies = parts[::2], parts[1::2]
    assert len(set(names)) == len(names) >= 40
    for name, body in zip(names, bodies, strict=True):
        assert "*Proof.*" in body, name
        assert "∎" in body, name
        if name != "S3":  # that is Theorem A2
            assert "``tests/" in body, name
