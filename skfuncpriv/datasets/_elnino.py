"""Monthly sea-surface temperature of the region Nino 1+2, one curve for each year."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
from sklearn.utils import Bunch

from ._pandas import pandas

_DESCRIPTION = """\
Sea-surface temperature off the coast of Peru (region Nino 1+2), 1950 to 2010.

One curve for each of 61 years, 12 monthly means in degrees Celsius. Nothing is
missing. The data come from the National Oceanic and Atmospheric Administration
(NOAA) of the United States and are in the public domain. They concern no person:
use a year in the place of a person to try a private mean.
"""


def load_elnino(as_frame: bool = False) -> Bunch:
    """Load the yearly curves of sea-surface temperature (61 curves, 12 months).

    Parameters
    ----------
    as_frame : bool, default=False
        Public: whether `data` is a pandas DataFrame with the months as columns and
        the years as index.

    Returns
    -------
    data : Bunch
        With the entries `data`, of shape (61, 12), in degrees Celsius; `grid`, of
        shape (12,), the middle of each month, in months from the start of the year
        on the domain (0, 12); `years`, of shape (61,); `feature_names`, the names of
        the months; `DESCR`, where the data come from.

    See Also
    --------
    make_curves : Random curves with a known mean.

    Examples
    --------
    >>> from skfuncpriv.datasets import load_elnino
    >>> elnino = load_elnino()
    >>> elnino.data.shape
    (61, 12)
    >>> elnino.grid[:3]
    array([0.5, 1.5, 2.5])
    """
    source = files("skfuncpriv.datasets").joinpath("data", "elnino_sst.csv")
    lines = source.read_text(encoding="utf-8").splitlines()
    months = lines[0].split(",")[1:]
    table = np.array([line.split(",") for line in lines[1:]], dtype=np.float64)
    years, data = table[:, 0].astype(int), table[:, 1:].copy()
    if as_frame:
        pd = pandas()
        data = pd.DataFrame(data, columns=months, index=pd.Index(years, name="year"))
    return Bunch(
        data=data,
        grid=np.arange(12) + 0.5,
        years=years,
        feature_names=months,
        DESCR=_DESCRIPTION,
    )
