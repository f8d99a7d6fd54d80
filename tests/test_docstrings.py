"""Everything public has a complete numpydoc docstring with an Example that runs."""

import doctest
import importlib
import inspect
import pkgutil

import pytest
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate

import skfuncpriv

MAX_EXAMPLE_LINES = 6
IGNORED = {
    "GL01": "our summaries start on the line of the quotes",
    "ES01": "a summary that says it all needs no more",
    "SA01": "not every object has a relative to see",
    "SS05": "it takes the plural of a noun, as in Values, for a verb",
    "RT02": "results are named, as in scikit-learn",
}
# Methods and properties are shown by the Example of their class.
IGNORED_IN_MEMBERS = {"EX01": "the class has the Example"}
IGNORED_IN_ABSTRACT_CLASSES = {"EX01": "the classes that fill them in have Examples"}
IGNORED_IN_PROPERTIES = {"RT01": "the summary says what it is"}


def module_names():
    names = ["skfuncpriv"]
    walk = pkgutil.walk_packages(skfuncpriv.__path__, "skfuncpriv.")
    names += [module.name for module in walk if not module.name.endswith("__main__")]
    return names


def public_objects():
    """Paths of all that an ``__all__`` names, each object once."""
    seen = set()
    for module_name in module_names():
        module = importlib.import_module(module_name)
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if inspect.ismodule(thing) or id(thing) in seen:
                continue
            if inspect.isclass(thing) or inspect.isfunction(thing):
                seen.add(id(thing))
                yield f"{module_name}.{name}", thing


def own_members(cls):
    """Public methods and properties where the package defines them first.

    One that fills in or overrides a member of a public base is documented there.
    """
    bases = [base for base in cls.__mro__[1:] if base in OBJECTS.values()]
    for name, member in vars(cls).items():
        function = getattr(member, "fget", getattr(member, "__func__", member))
        is_new = not any(hasattr(base, name) for base in bases)
        if not name.startswith("_") and is_new and inspect.isfunction(function):
            yield name, member


OBJECTS = dict(public_objects())
MEMBERS = {
    f"{path}.{name}": member
    for path, thing in OBJECTS.items()
    if inspect.isclass(thing)
    for name, member in own_members(thing)
}


def errors_of(path, ignored):
    return [error for error in validate(path)["errors"] if error[0] not in ignored]


def is_abstract(thing):
    return inspect.isabstract(thing) or getattr(thing, "_is_protocol", False)


@pytest.mark.parametrize("path", OBJECTS)
def test_object_is_documented(path):
    ignored = IGNORED
    if is_abstract(OBJECTS[path]):
        ignored = ignored | IGNORED_IN_ABSTRACT_CLASSES
    assert errors_of(path, ignored) == []


@pytest.mark.parametrize("path", MEMBERS)
def test_member_is_documented(path):
    ignored = IGNORED | IGNORED_IN_MEMBERS
    if isinstance(MEMBERS[path], property):
        ignored = ignored | IGNORED_IN_PROPERTIES
    assert errors_of(path, ignored) == []


@pytest.mark.parametrize("path", OBJECTS)
def test_example_is_short(path):
    example = NumpyDocString(inspect.getdoc(OBJECTS[path]))["Examples"]
    lines = [line for line in example if line.startswith((">>>", "..."))]
    assert (not is_abstract(OBJECTS[path])) <= len(lines) <= MAX_EXAMPLE_LINES


@pytest.mark.parametrize("module_name", module_names())
def test_examples_run(module_name):
    module = importlib.import_module(module_name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def test_validation_finds_what_is_wrong():
    assert ("GL08", "The object does not have a docstring") in errors_of(
        f"{__name__}.undocumented", IGNORED
    )


def undocumented(x):
    return x
