"""Answers in a file: restarts, kill -9, two processes at once, and what it may hold."""

import os
import sqlite3
import stat
import subprocess
import sys

import numpy as np
import pytest

from skfuncpriv import OnlineGaussianProcess
from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.gaussian_process import ExponentialKernel, GaussianKernel
from skfuncpriv.privacy import BudgetLedger
from tests.gaussian_process.online import KERNELS, points_for, recorded, wave

each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)

# Asks for points in an order of its own and prints each answer as soon as it has it.
ASK = """
import sys
import numpy as np
from tests.gaussian_process.test_online_file import release

path, name, seed, count = sys.argv[1:]
gp, points = release(path, name)
gp.resume(gp.function)
print("READY", flush=True)
sys.stdin.readline()
for i in np.random.default_rng(int(seed)).permutation(len(points))[: int(count)]:
    print(i, repr(float(gp.predict(points[i]).item())), flush=True)
"""


def made(path, kernel=None, **parameters):
    facts = {"sensitivity": 0.1, "delta": 1e-6} | parameters
    kernel = kernel or KERNELS["exponential"]
    return OnlineGaussianProcess(kernel=kernel, path=str(path), **facts)


def release(path, name):
    """The release of the child processes, and the points that all of them ask for."""
    gp = made(path, KERNELS[name])
    gp.function = wave
    return gp, points_for(KERNELS[name], 120, seed=9)


def start(path, name, seed, count):
    return subprocess.Popen(
        [sys.executable, "-c", ASK, str(path), name, str(seed), str(count)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def go(child):
    assert child.stdout.readline() == "READY\n"
    child.stdin.write("go\n")
    child.stdin.flush()


def read(lines, answers):
    """Add printed answers to those that are known; no point has two of them."""
    for line in lines:
        if line.endswith("\n"):
            index, answer = line.split()
            assert answers.setdefault(int(index), float(answer)) == float(answer)


# Restarts


@each_kernel
def test_a_restart_goes_on_with_the_release(kernel, tmp_path):
    points = points_for(kernel, 20)
    first = made(tmp_path / "a.db", kernel).fit(wave).predict(points[:12])
    again = made(tmp_path / "a.db", kernel).resume(wave)
    with recorded() as draws:
        everything = again.predict(points)
    np.testing.assert_array_equal(everything[:12], first)
    assert len(draws) == 8
    assert again.guarantee_ == made(tmp_path / "b.db", kernel).fit(wave).guarantee_
    # The new answers are conditioned on the old ones.
    memory = OnlineGaussianProcess(kernel=kernel, sensitivity=0.1, delta=1e-6).fit(wave)
    with recorded(first):
        memory.predict(points[:12])
    with recorded() as expected:
        memory.predict(points[12])
    np.testing.assert_allclose(draws[0], expected[0], rtol=1e-9)


def test_a_seeded_restart_does_not_repeat_its_noise(tmp_path):
    gp = made(tmp_path / "a.db", random_state=4).fit(wave)
    first = gp.predict(0.0)
    gp = made(tmp_path / "a.db", random_state=4).resume(wave)
    other = gp.predict(1e6)  # far away: its noise is a plain draw
    assert abs((other - wave(np.array([[1e6]]))) - first) > 1e-6 * gp.noise_std_


def test_the_ledger_is_charged_once(tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=5.0, delta=1e-3)
    facts = {"ledger": str(ledger.path)}
    made(tmp_path / "a.db", **facts).fit(wave).predict([0.1, 0.2])
    for _ in range(3):
        made(tmp_path / "a.db", **facts).resume(wave).predict([0.3, 0.4])
    assert len(ledger.history()) == 1
    with pytest.raises(PrivacyError, match=r"call resume\(function\)"):
        made(tmp_path / "a.db", **facts).fit(wave)
    with pytest.raises(PrivacyError, match="cannot be written"):
        made(tmp_path / "missing" / "a.db", **facts).fit(wave)
    assert len(ledger.history()) == 1


OTHER_FACTS = {
    "kernel": {"kernel": ExponentialKernel(3.0000001)},
    "kind": {"kernel": GaussianKernel(3.0)},
    "sensitivity": {"sensitivity": 0.2},
    "epsilon": {"epsilon": 2.0},
    "delta": {"delta": 2e-6},
    "rho": {"rho": 1.0, "delta": 0.0},
    "calibration": {"calibration": "classic"},
    "max_points": {"max_points": 10},
    "value_error": {"value_error": 1e-12},
    "unit": {"unit": "person"},
    "seed": {"random_state": 0},
}


@pytest.mark.parametrize("other", OTHER_FACTS.values(), ids=OTHER_FACTS)
def test_a_release_with_other_facts_is_refused(other, tmp_path):
    made(tmp_path / "a.db").fit(wave).predict(0.1)
    before = (tmp_path / "a.db").read_bytes()
    with pytest.raises(PrivacyError, match="was made with another"):
        made(tmp_path / "a.db", **other).resume(wave)
    assert (tmp_path / "a.db").read_bytes() == before


def test_a_file_that_is_replaced_is_refused(tmp_path):
    gp = made(tmp_path / "a.db").fit(wave)
    gp.predict(0.1)
    (tmp_path / "a.db").unlink()
    with pytest.raises(PrivacyError, match="it is gone"):
        gp.predict(0.2)
    other = made(tmp_path / "a.db").fit(wave)
    for points in (0.1, 0.2):
        with pytest.raises(PrivacyError, match="answers of another fit"):
            gp.predict(points)
    other.predict(0.1)


def test_files_that_are_no_answers_are_refused(tmp_path):
    ledger = BudgetLedger(tmp_path / "ledger.db", epsilon=1.0)
    (tmp_path / "empty.db").touch()
    (tmp_path / "text.db").write_text("t,y\n" * 500)
    for name in ("ledger.db", "empty.db", "text.db"):
        with pytest.raises(PrivacyError, match="cannot be used"):
            made(tmp_path / name).resume(wave)
    with pytest.raises(PrivacyError, match="there are no answers"):
        made(tmp_path / "missing.db").resume(wave)
    with pytest.raises(PrivacyError, match="only a release with a path"):
        OnlineGaussianProcess(
            kernel=ExponentialKernel(1.0), sensitivity=0.1, delta=1e-6
        ).resume(wave)
    assert ledger.history() == []


@each_kernel
def test_another_function_is_noticed(kernel, tmp_path):
    gp = made(tmp_path / "a.db", kernel).fit(wave)
    gp.predict(points_for(kernel, 30))
    with pytest.raises(PrivacyError, match="were given for another one"):
        made(tmp_path / "a.db", kernel).resume(lambda points: wave(points) + 5.0)


# What the file holds


@each_kernel
def test_the_file_holds_answers_and_no_values(kernel, tmp_path):
    gp = made(tmp_path / "a.db", kernel).fit(wave)
    points = points_for(kernel, 25)
    answers = gp.predict(points)
    values = wave(np.reshape(points, (25, -1)))
    assert [path.name for path in tmp_path.iterdir()] == ["a.db"]
    data = (tmp_path / "a.db").read_bytes()
    for private in (values, answers - values, (answers - values) / gp.noise_std_):
        for number in private.tolist():
            for order in ("<f8", ">f8"):
                assert np.array(number, order).tobytes() not in data
    with sqlite3.connect(tmp_path / "a.db") as database:
        rows = database.execute("SELECT answer FROM answers").fetchall()
    database.close()
    given = sorted(answers / gp._release._lattice.step)
    assert sorted(answer for (answer,) in rows) == given


@pytest.mark.skipif(os.name == "nt", reason="modes of files are those of POSIX")
def test_only_the_owner_may_read_the_file(tmp_path):
    old = os.umask(0)
    try:
        made(tmp_path / "a.db").fit(wave).predict(0.5)
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "a.db").stat().st_mode) == 0o600


def test_answers_are_synced_before_they_are_given(tmp_path):
    gp = made(tmp_path / "a.db").fit(wave)
    answers = gp._release._answers
    with answers.writing():
        (level,) = answers._cursor.execute("PRAGMA synchronous").fetchone()
        (mode,) = answers._cursor.execute("PRAGMA journal_mode").fetchone()
    assert (level, mode) == (3, "delete")  # 3 is EXTRA


# kill -9


def check_together(gp, points, answers, name):
    """The answers of all processes are those of the file, with the law of one."""
    everything = gp.predict(points)
    for index, answer in answers.items():
        assert everything[index] == answer
    table = np.reshape(points, (len(points), -1))
    covariance = KERNELS[name](table, table) + gp.nugget_ * np.eye(len(table))
    noise = (everything - wave(table)) / gp.noise_std_
    white = np.linalg.solve(np.linalg.cholesky(covariance), noise)
    n = len(white)
    assert abs(np.mean(white)) < 6 / np.sqrt(n)
    assert abs(np.mean(white**2) - 1) < 6 * np.sqrt(2 / n)
    assert abs(np.mean(white[1:] * white[:-1])) < 6 / np.sqrt(n)


def test_printed_answers_survive_kill_9(tmp_path):
    """One process after the other is killed while another one goes on."""
    name = "exponential"
    gp, points = release(tmp_path / "a.db", name)
    gp.fit(wave)
    answers, rng = {}, np.random.default_rng(0)
    first, second, steady = (
        start(gp.path, name, seed=k, count=len(points)) for k in range(3)
    )
    with steady:
        go(steady)
        for child in (first, second):
            with child:
                go(child)
                for _ in range(int(rng.integers(1, 30))):
                    read([child.stdout.readline()], answers)
                child.kill()
                read(child.stdout, answers)
        read(steady.stdout, answers)
    assert len(answers) == len(points)
    again, _ = release(gp.path, name)
    check_together(again.resume(wave), points, answers, name)


# Waits between the write and the commit; with a cache of one page SQLite writes its
# changes into the file at once, as a commit that is under way does.
UNFINISHED = """
import sys, time
from skfuncpriv.gaussian_process import _answers
from tests.gaussian_process.test_online_file import release

original = _answers.Answers.add

def add_and_wait(answers, *row):
    answers._cursor.execute("PRAGMA cache_size = 1")
    answers._cursor.execute("PRAGMA cache_spill = 1")
    original(answers, *row)
    answers._cursor.execute("CREATE TABLE filler (text TEXT)")
    for _ in range(30):
        answers._cursor.execute("INSERT INTO filler VALUES (?)", ("x" * 3000,))
    print("READY", flush=True)
    time.sleep(600)

gp, points = release(*sys.argv[1:])
gp.resume(gp.function)
_answers.Answers.add = add_and_wait
gp.predict(points[5])
"""


def test_an_answer_that_was_never_given_is_undone(tmp_path):
    name = "product"
    gp, points = release(tmp_path / "a.db", name)
    first = gp.fit(wave).predict(points[:5])
    with subprocess.Popen(
        [sys.executable, "-c", UNFINISHED, gp.path, name],
        stdout=subprocess.PIPE, text=True,
    ) as child:  # fmt: skip
        try:
            assert child.stdout.readline() == "READY\n"
        finally:
            child.kill()
    assert sorted(os.listdir(tmp_path)) == ["a.db", "a.db-journal"]
    with recorded() as draws:
        np.testing.assert_array_equal(gp.predict(points[:6])[:5], first)
    assert len(draws) == 1
    assert os.listdir(tmp_path) == ["a.db"]
    again, _ = release(gp.path, name)
    np.testing.assert_array_equal(again.resume(wave).predict(points[:5]), first)


# Two processes at once


def test_two_processes_give_the_same_answers(tmp_path):
    name = "product"
    gp, points = release(tmp_path / "a.db", name)
    gp.fit(wave)
    children = [start(gp.path, name, seed=seed, count=80) for seed in (1, 2)]
    for child in children:
        assert child.stdout.readline() == "READY\n"
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    answers = {}
    for child in children:
        lines = child.communicate(timeout=300)[0].splitlines(keepends=True)
        assert len(lines) == 80
        read(lines, answers)
    assert 80 < len(answers) < 120
    check_together(gp, points, answers, name)
