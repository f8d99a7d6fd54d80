"""A search over public hyperparameters whose choice is private, with one budget."""

from __future__ import annotations

import warnings
from typing import Any

from .._validation import check_delta, check_positive
from ..blocks._rows import refuse_blocks
from ..exceptions import LargeDeltaWarning, NoiseDominatesWarning, PrivacyError
from ..noise import random_bits
from ._candidates import (
    check_estimator,
    collected_warnings,
    final,
    read_grid,
    released_again,
)
from ._delegate import Delegate
from ._progress import average_runs, say
from ._scoring import read_scoring
from ._slots import check_splitter
from ._stopping import RandomStopping
from ._task import Data, Plan, Task
from ._votes import Voters, choose, noisy_score

_BATCH = 32  # runs of a random search that are trained together


class PrivateGridSearchCV(Delegate):
    """Choose among public hyperparameters, under differential privacy.

    People are split once, at random, into some who train every candidate and others who
    score them. One candidate is chosen privately and fitted on everybody. One budget
    pays for candidates, choice and fit.

    Parameters
    ----------
    estimator : estimator
        *Public.* A private estimator of the central model, or a `Pipeline` that ends in
        one, after `BasisProjector` or `FunctionTransformer` with a NumPy ufunc. Its
        epsilon and delta are set by the search.
    param_grid : dict or list of dicts
        *Public.* Values of parameters to try, as in scikit-learn, known without the
        data.
    scoring : str, BoundedScore or None, default=None
        *Public.* "integrated_squared_error", "squared_error", "accuracy", or an object
        that states its bounds. None is the one that belongs to the estimator.
        Scorers of scikit-learn, and functions, are refused: what one person can change
        of them is unknown.
    epsilon : float, default=1.0
        *Public.* The budget of everything, > 0.
    delta : float, default=0.0
        *Public.* The budget of Gaussian noise.
    method : {"exhaustive", "random-stopping"} or RandomStopping, default="exhaustive"
        *Public.* Whether every candidate is trained once, or random ones a random
        number of times; see Notes.
    selection_size : float, default=0.3
        *Public.* The share of people who score.
    search_share : float, default=None
        *Public.* The share of the budget of candidates and choice; the rest is that of
        the fit on everybody. None is K / (K + 2) for K candidates that are trained: one
        of them has half as much as that fit. What is best with far less would be
        chosen otherwise, such as a wide kernel.
    cv : ShuffleSplit, GroupShuffleSplit or None, default=None
        *Public.* How people are split, with ``n_splits=1``, instead of
        `selection_size`. It sees one row per person, and no data. Others are refused.
    ledger : str, default=None
        *Public.* The file of a `BudgetLedger` that is charged once, for everything,
        before anything is drawn.
    random_state : int, RandomState or None, default=None
        None draws from the operating system. Anything else makes *seeded* releases,
        which give no privacy: for tests and teaching.
    n_jobs : int, default=None
        How many candidates are trained at once, by the backend of joblib. With a seed
        the result does not depend on it.
    verbose : bool, default=False
        Say what is done, with a bar of the fits; none where their number is secret.

    Attributes
    ----------
    best_estimator_ : estimator
        Released. The chosen estimator, fitted; its guarantee is that of everything.
    best_params_ : dict
        Released. Its parameters.
    best_index_ : int
        Released. Their place in `candidates_`.
    candidates_ : list of dicts
        Public parameters of all candidates.
    costs_ : dict of PrivacyGuarantee
        Public. What is promised by the parts: "candidates" together, "choice" and
        "refit"; or by one "run" of a search that stops at random.
    guarantee_ : PrivacyGuarantee
        What everything promises together, and per which unit.
    n_people_ : int
        Public number of people.

    Raises
    ------
    PrivacyError
        If the guarantee cannot be kept; raised before anything is charged or drawn.
    BudgetExceededError
        If the ledger has not enough left; nothing is drawn.
    ValueError, TypeError
        If parameters or data are malformed; the text holds public facts only.

    Notes
    -----
    *One split, of people.* People are numbered in the order of their labels (without
    `groups`, of their rows) and split by random bits that know no data. Replacing the
    data of one person changes one of the two slots.

    *Cost.* If that person trains, the candidates' costs add up, and the choice is a
    random function of what they released, hence free. If that person scores, all
    candidates have the same law, and the choice costs epsilon_s. Everybody is part of
    the fit. So epsilon is max(sum_k epsilon_k, epsilon_s) + epsilon_r, and delta
    likewise: :func:`~skfuncpriv.privacy.parallel` composition, which training sets of
    several folds would not allow, as they overlap. Candidates that differ only in what
    acts after a release, as `n_components` of `PrivateFPCA`, share one.

    *Choice.* A person's scores are averaged over rows, and enter by their differences
    between candidates, clipped to a public range that follows from the candidates,
    which are paid for. With n_s people who score, `permute_and_flip` has the
    sensitivity (half of the range of the worst pair) / n_s. No score is released.

    *Random stopping.* One run picks a candidate at random, trains it at epsilon_b and
    releases a noisy score of it at epsilon_b, which together cost epsilon_b, in
    parallel. The best of J runs is the result, without another fit; J has a truncated
    negative binomial law and is secret. *Theorem* [1]_: the cost is (2 + eta)
    epsilon_b, for any number of candidates. *Proof*: let f(x) = E x^J. With outputs in
    order of their scores, ties by independent random numbers, and Q the law of one
    run, an output y has the probability f(Q(<= y)) - f(Q(< y)), the mean of f' over
    (Q(< y), Q(<= y)) times Q(y). The last factor changes by at most exp(epsilon_b).
    f'(x) is proportional to (1 - (1 - gamma) x)^-(eta + 1), and
    1 - (1 - gamma) x = gamma + (1 - gamma) (1 - x), where 1 - x is a mixture of Q(> y)
    and Q(>= y), changes by at most exp(epsilon_b), too, so f' by at most
    exp((eta + 1) epsilon_b).
    The noise of a score is in proportion to its range, which follows from the candidate
    that was trained: where ranges differ widely, as with components of covariances, a
    candidate that is mostly noise may win by the noise of its score.

    *Seeds.* With a seed, candidates have seeds of their own, drawn before they are
    handed out.

    References
    ----------
    .. [1] N. Papernot and T. Steinke, "Hyperparameter tuning with Renyi differential
       privacy", ICLR 2022.
    .. [2] J. Liu and K. Talwar, "Private selection from private candidates", STOC 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv import PrivateGridSearchCV, PrivateKDE
    >>> X = np.random.default_rng(0).normal(40, 12, size=(2000, 1))
    >>> kde, grid = PrivateKDE(bounds=(0, 120)), {"bandwidth": [1.0, 4.0, 30.0]}
    >>> search = PrivateGridSearchCV(kde, grid, epsilon=2.0, random_state=0).fit(X)
    >>> search.best_params_, search.guarantee_.epsilon
    ({'bandwidth': 4.0}, 2.0)
    """

    _required_parameters = ("estimator", "param_grid")

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        scoring: Any = None,
        epsilon: float = 1.0,
        delta: float = 0.0,
        method: Any = "exhaustive",
        selection_size: float = 0.3,
        search_share: float | None = None,
        cv: Any = None,
        ledger: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.scoring = scoring
        self.epsilon = epsilon
        self.delta = delta
        self.method = method
        self.selection_size = selection_size
        self.search_share = search_share
        self.cv = cv
        self.ledger = ledger
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> PrivateGridSearchCV:
        """Choose a candidate and fit it, without sample weights.

        Parameters
        ----------
        X : array-like or frame
            *Private* rows in memory, in a form that the estimator fits: rows in blocks
            are refused, as each person is drawn into a part at random.
        y : array-like, default=None
            *Private* targets, if the estimator has some.
        groups : array-like, shape (n_rows,), default=None
            *Private* labels of the person who owns each row; which ones there are is
            public. None makes every row a person, and the guarantee says so.

        Returns
        -------
        self : PrivateGridSearchCV
            The fitted search.
        """
        # Step 0: public facts, and rehearsals that refuse what could be refused later.
        refuse_blocks(self, X, y, groups)
        self._check_ledger()
        stopping = self._check_parameters()
        candidates = read_grid(self.estimator, self.param_grid)
        score = read_scoring(self.scoring, self.estimator)
        bits = random_bits(self.random_state)
        self._say(f"rehearsing {len(candidates)} candidates, which draws nothing")
        with collected_warnings():
            task = Task(self, candidates, (X, y, groups), bits)
            plan = task.exhaustive() if stopping is None else task.stopping(stopping)

        # Step 1: charge for everything; random bits come after it.
        self._open_release(plan.guarantee, task.n_people)
        with warnings.catch_warnings():  # all has been said
            for category in (LargeDeltaWarning, NoiseDominatesWarning):
                warnings.simplefilter("ignore", category)
            slots = task.split()
            if stopping is not None:
                runs = average_runs(stopping, len(candidates))
                self._say(f"about {runs:.3g} runs on average; their number is secret")
            search = self._choose if stopping is None else self._stop
            index, best = search(task, plan, score, slots)

        # Step 2: what is released.
        last = final(best)
        last.set_params(ledger=self.ledger, random_state=self.random_state)
        last.guarantee_ = plan.guarantee  # of the choice, too
        self.candidates_, self.best_index_ = candidates, index
        self.best_params_, self.best_estimator_ = dict(candidates[index]), best
        self.costs_, self.n_people_ = plan.costs, task.n_people
        self.guarantee_ = plan.guarantee
        return self

    def _choose(
        self, task: Task, plan: Plan, score: Any, slots: tuple[Data, Voters]
    ) -> tuple[int, Any]:
        """Train every candidate, choose one, and fit it on everybody."""
        (training, voters), bits = slots, task.bits
        leaders = [group[0] for group in plan.releases]
        jobs = [(k, plan.training, plan.promised[k]) for k in leaders]
        trained = task.train(jobs, training, self.n_jobs, verbose=self.verbose)
        models: list[Any] = [None] * len(task.candidates)
        for model, group in zip(trained, plan.releases, strict=True):
            models[group[0]] = model
            for k in group[1:]:
                models[k] = released_again(model, task.candidates[k])
        index = 0
        if len(models) > 1:
            self._say(f"choosing among {len(models)} candidates")
            index = choose(score, models, voters, plan.choice, bits)
        self._say(f"last fit, on all {task.n_people} {task.unit}s")
        job = (index, plan.refit, plan.refitted[index])
        (best,) = task.train([job], task.data, None)
        return index, best

    def _stop(
        self, task: Task, plan: Plan, score: Any, slots: tuple[Data, Voters]
    ) -> tuple[int, Any]:
        """Train random candidates a secret number of times, and keep the best."""
        (training, voters), bits = slots, task.bits
        n_candidates = len(task.candidates)
        left = plan.stopping.draw_runs(n_candidates, bits)
        best: tuple[float, int, Any] | None = None
        while left:
            size = min(left, _BATCH)
            left -= size
            words = bits.words(size)
            picks = [int(word) * n_candidates >> 64 for word in words]
            jobs = [(k, plan.training, plan.promised[k]) for k in picks]
            trained = task.train(jobs, training, self.n_jobs)
            for k, model in zip(picks, trained, strict=True):
                value = noisy_score(score, model, voters, plan.choice, bits)
                if best is None or value > best[0]:
                    best = value, k, model
        return best[1:]

    def _say(self, text: str) -> None:
        """A line about what is public, if lines are wanted."""
        if self.verbose:
            say(text)

    def _check_parameters(self) -> RandomStopping | None:
        """Check what no data could make right; how the search stops, if at random."""
        check_positive(self.epsilon, "epsilon")
        delta = check_delta(self.delta)
        share = self.search_share
        if share is not None and check_positive(share, "search_share") >= 1:
            raise ValueError(f"search_share must be in (0, 1), got {share!r}")
        check_splitter(self.cv, self.selection_size)
        check_estimator(self.estimator)
        if delta > 0 and not hasattr(final(self.estimator), "delta"):
            raise PrivacyError(
                f"{type(final(self.estimator)).__name__} has no delta to spend: leave "
                f"delta=0, got {self.delta!r}"
            )
        if isinstance(self.method, RandomStopping):
            stopping = self.method
        elif self.method in ("exhaustive", "random-stopping"):
            stopping = RandomStopping() if self.method == "random-stopping" else None
        else:
            raise ValueError(
                "method must be 'exhaustive', 'random-stopping' or a RandomStopping, "
                f"got {self.method!r}"
            )
        if stopping is not None and delta > 0:
            raise PrivacyError(
                "a search that stops at random is proved for pure guarantees only: "
                "leave delta=0, or use method='exhaustive'"
            )
        return stopping
