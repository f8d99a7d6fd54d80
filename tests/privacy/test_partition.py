"""Disjoint groups of people: the dearest release is the cost of all of them."""

import math
import pickle

import numpy as np
import pytest

from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.privacy import PeoplePartition, PrivacyGuarantee, compose, parallel


def pure(epsilon, **rest):
    return PrivacyGuarantee(definition="pure-dp", epsilon=epsilon, **rest)


def approx(epsilon, delta, **rest):
    return PrivacyGuarantee(
        definition="approx-dp", epsilon=epsilon, delta=delta, **rest
    )


def zcdp(rho, **rest):
    return PrivacyGuarantee(definition="zcdp", rho=rho, **rest)


def geo(epsilon, **rest):
    return PrivacyGuarantee(definition="geo", epsilon=epsilon, metric="L2", **rest)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([pure(0.5)], pure(0.5)),
        ([pure(0.5), pure(0.8), pure(0.1)], pure(0.8)),
        ([approx(0.5, 1e-6), approx(0.2, 1e-5)], approx(0.5, 1e-5)),
        ([pure(0.9), approx(0.2, 1e-6)], approx(0.9, 1e-6)),
        ([zcdp(0.1), pure(0.2)], zcdp(0.1)),
        ([zcdp(0.1), pure(0.5)], zcdp(0.125)),
        ([geo(0.1), geo(0.3)], geo(0.3)),
        (
            [geo(0.1, distance_error=1e-9), geo(0.3, distance_error=1e-10)],
            geo(0.3, distance_error=1e-9),
        ),
        ([pure(0.5), pure(0.1, seeded=True)], pure(0.5, seeded=True)),
    ],
)
def test_the_largest_covers_every_group(parts, expected):
    assert parallel(*parts) == expected
    assert parallel(*reversed(parts)) == expected


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([pure(0.5, neighbours="add-remove")], "neighbours='add-remove'"),
        ([pure(0.5, neighbours="replace-one or two")], "add the guarantees"),
        ([pure(0.5), pure(0.5, unit="person")], "different unit"),
        ([zcdp(0.5), approx(0.5, 1e-6)], "do not compose"),
        ([pure(0.5), geo(0.5)], "do not compose"),
    ],
)
def test_refused(parts, text):
    with pytest.raises(PrivacyError, match=text):
        parallel(*parts)


def test_only_guarantees_compose():
    with pytest.raises(ValueError, match="at least one"):
        parallel()
    with pytest.raises(TypeError, match="must be PrivacyGuarantee"):
        parallel(pure(0.1), 0.2)
    for compose_all in (parallel, compose):
        with pytest.raises(TypeError, match=r"\(\*guarantees\); got a list$"):
            compose_all([pure(0.1)] * 9)


def test_neighbours_within_a_distance_stay_in_their_group():
    near = geo(0.1).to_approx_dp(1e-6, radius=3.0)
    assert parallel(near, near) == near


# --- people -------------------------------------------------------------------------


def test_public_labels():
    people = PeoplePartition(["north", "south", "north", np.str_("north")])
    assert people.sizes == {"north": 3, "south": 1}
    assert people.members("north").tolist() == [0, 2, 3]
    assert people.members("south").tolist() == [1]
    assert people == PeoplePartition(("north", "south", "north", "north"))
    assert people != PeoplePartition(["south", "north", "north", "north"])
    assert pickle.loads(pickle.dumps(people)) == people
    assert repr(people) == "PeoplePartition(sizes={'north': 3, 'south': 1})"
    with pytest.raises(AttributeError):
        people.labels = ()


def test_a_split_is_a_partition():
    people = PeoplePartition.split(11, ["a", "b", "c"])
    assert people.sizes == {"a": 4, "b": 4, "c": 3}
    members = np.concatenate([people.members(name) for name in people.sizes])
    assert sorted(members) == list(range(11))
    assert [len(people.members(name)) for name in "abc"] == [4, 4, 3]
    sized = PeoplePartition.split(10, {"train": 9, "select": 1})
    assert sized.sizes == {"train": 9, "select": 1}
    assert len(sized.members("select")) == 1


def test_a_split_is_fair_and_fresh():
    assert PeoplePartition.split(200, ["a", "b"]) != PeoplePartition.split(
        200, ["a", "b"]
    )
    seeded = [
        PeoplePartition.split(40, ["a", "b"], random_state=seed) for seed in (3, 3, 4)
    ]
    assert seeded[0] == seeded[1] != seeded[2]
    n = 2000
    counts = np.zeros(5)
    for seed in range(n):
        one = PeoplePartition.split(5, {"a": 2, "b": 3}, random_state=seed)
        counts[one.members("a")] += 1
    error = 5 * math.sqrt(n * 0.4 * 0.6)
    assert np.abs(counts - 0.4 * n).max() < error


def test_parts_compose_in_parallel():
    people = PeoplePartition.split(10, ["a", "b", "c"])
    assert people.parallel({"a": pure(0.5), "b": pure(0.7)}) == pure(0.7)
    with pytest.raises(ValueError, match="the parts are"):
        people.parallel({"d": pure(0.5)})
    with pytest.raises(ValueError, match="at least one"):
        people.parallel({})
    with pytest.raises(ValueError, match="the parts are"):
        people.members("d")


@pytest.mark.parametrize(
    "labels",
    ["north", [], [["a"]], [1, 2], [None], ["a", ""], ["a:b"], ["a/b"], [" a"], ["\n"]],
)
def test_labels_are_names(labels):
    with pytest.raises(ValueError, match="label"):
        PeoplePartition(labels)


@pytest.mark.parametrize(
    ("n_people", "parts"),
    [
        (0, ["a"]),
        (1, ["a", "b"]),
        (3, {"a": 1, "b": 1}),
        (3, {"a": 3, "b": 0}),
        (3, ["a", "a"]),
        (3, []),
        (3, ["a::b"]),
        (3, [1]),
    ],
)
def test_impossible_splits(n_people, parts):
    with pytest.raises(ValueError, match=r"parts|n_people|integer"):
        PeoplePartition.split(n_people, parts)
