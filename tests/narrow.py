"""Estimators of a few columns, for checks whose tables are wider."""

from skfuncpriv import BernsteinReleaser, PrivateKDE


class FirstColumnKDE(PrivateKDE):
    # Of the first column: PrivateKDE refuses more than three.
    __doc__ = PrivateKDE.__doc__

    _used = slice(1)


class FirstColumnBernstein(BernsteinReleaser):
    # A lattice along the first column: along twelve it has thousands of points.
    __doc__ = BernsteinReleaser.__doc__

    _used = slice(1)
