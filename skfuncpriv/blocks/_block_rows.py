"""Private rows in blocks, as the `fit` of an estimator uses them.

`fit` reads like one on arrays: it takes the public facts from `read` and `people`, and
asks for exact sums. Rows in memory answer at once. Rows in blocks show a row of zeros
of their form, and let every block be read and summed where it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._engines import Engine
from ._forms import form_of
from ._tasks import Task, checked, count, mapped


class BlockRows:
    """Private rows in blocks: what is asked for is computed where they are.

    Parameters
    ----------
    engine : Engine
        What computes on blocks.
    has_groups : bool
        Whether blocks have labels of people.

    Notes
    -----
    Functions are sent to blocks, so they must be picklable and hold public facts only.
    `sum` adds integers, by a tree in whatever order: the result is that of the same
    rows in memory, to the last bit, if a function of all rows is the sum of those of
    parts of the people. That the number of people is the expected one is checked each
    time, before anything is charged for the first sum.

    What was kept of the rows is removed with the object, and after an error at once.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.blocks import Blocks, open_rows
    >>> rows = open_rows(Blocks.from_array(np.ones((4, 2)), block_rows=3))
    >>> rows.read(lambda X, y, weights: X).shape  # a row of zeros
    (1, 2)
    >>> rows.people(1), float(rows.sum(lambda X, codes: X.sum()))
    ((4, 'row'), 8.0)
    """

    in_memory = False

    def __init__(self, engine: Engine, *, has_groups: bool) -> None:
        form = engine.form()
        self._forms = mapped(form_of, form.parts)
        self.X = self._forms[0]
        self._engine, self._has_groups = engine, has_groups
        self._whole = engine  # in the order of the rows, for what is no sum
        self._steps: tuple[tuple[bool, Callable[..., Any]], ...] = ()
        self._n_people: int | None = None

    def read(self, reader: Callable[..., Any]) -> Any:
        """Read a row of zeros, and every block later on.

        Parameters
        ----------
        reader : callable
            From X, y and weights to the data, row by row.

        Returns
        -------
        object
            What it returned for a row of zeros in the form of the data; *public*.
        """
        self._steps = ((False, reader),)
        return reader(*self._forms)

    def people(self, n_rows: int) -> tuple[int, str]:  # noqa: ARG002
        """Count the people.

        Parameters
        ----------
        n_rows : int
            Ignored: the number of rows is that of the blocks.

        Returns
        -------
        n_people : int
            How many people there are; *public*.
        unit : str
            The unit of privacy, "person" or "row".
        """
        n_people = None
        if self._has_groups:
            self._engine = self._engine.by_person()
            n_people = self._guarded(self._engine.labels().total, count).n_people
        else:
            n_people = self._engine.n_rows()
            if n_people is None:
                n_people = self._guarded(self._engine.total, count).n_people
        if n_people == 0:
            raise ValueError("X has no rows")
        self._n_people = n_people
        return n_people, "person" if self._has_groups else "row"

    def map(self, function: Callable[[Any], Any]) -> None:
        """Apply a function of the data, row by row, in every block.

        Parameters
        ----------
        function : callable
            From data to data.
        """
        self._steps += ((False, function),)

    def per_person(self, function: Callable[..., Any]) -> None:
        """Replace data by those of people.

        Parameters
        ----------
        function : callable
            From data and the codes of the rows' people, None if every row is another
            one, to data of people.
        """
        self._steps += ((True, function),)

    def sum(self, function: Callable[..., Any]) -> Any:
        """Compute an exact sum over blocks.

        Parameters
        ----------
        function : callable
            From data and codes of people to a sum of integers.

        Returns
        -------
        object
            The sum; *private*.
        """
        return self._value(self._engine.total, function)

    def shown(self, verbose: bool) -> bool | None:  # noqa: ARG002
        """Say what a function of rows may show of its progress.

        Parameters
        ----------
        verbose : bool
            *Public.* What the user asked for.

        Returns
        -------
        None
            Nothing: there is a bar for the blocks.
        """
        return None

    def alone(self, function: Callable[..., Any]) -> Any:
        """Compute what is no sum, in one place that must hold all rows.

        Parameters
        ----------
        function : callable
            From data and codes of people.

        Returns
        -------
        object
            What it returned; *private*.
        """
        return self._value(self._whole.alone, function)

    def _value(self, run: Callable[..., Any], function: Callable[..., Any]) -> Any:
        task = Task(self._forms, self._steps, function)
        return self._guarded(run, task, self._n_people).value

    def _guarded(
        self, run: Callable[..., Any], task: Any, n_people: int | None = None
    ) -> Any:
        """The result of a task; after an error nothing is kept of the rows."""
        try:
            return checked(run(task), n_people)
        except BaseException:  # an interrupt, too
            self._engine.close()
            raise
