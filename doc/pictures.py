"""The picture of the landing page: a real release, drawn anew at every build."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from skfuncpriv import ICLPMean
from skfuncpriv.datasets import load_elnino

STYLES = {
    "light": {"text": "#22262b", "curve": "#0a6d84", "people": "#8a929c"},
    "dark": {"text": "#dfe3e8", "curve": "#4fc3dc", "people": "#7d8794"},
}


def draw_landing(folder):
    """Write ``landing_light.svg`` and ``landing_dark.svg`` into the folder."""
    years = load_elnino()
    # The five lines of the page; the noise is that of the operating system.
    model = ICLPMean(bounds=(15, 32), domain=(0, 12), grid=years.grid, epsilon=4.0)
    model = model.fit(years.data)
    Path(folder).mkdir(exist_ok=True)
    for style, colours in STYLES.items():
        with mpl.rc_context({"svg.hashsalt": style, "font.size": 11}):
            figure = _two_panels(years, model, colours)
            path = Path(folder) / f"landing_{style}.svg"
            figure.savefig(path, transparent=True, metadata={"Date": None})


def _two_panels(years, model, colours):
    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    private, public = figure.subplots(1, 2, sharey=True)
    private.plot(years.grid, years.data.T, color=colours["people"], lw=0.7, alpha=0.6)
    private.set_title("61 curves: private", color=colours["text"])
    lower, upper = model.noise_band(0.95)
    public.fill_between(years.grid, lower, upper, color=colours["curve"], alpha=0.25)
    public.plot(years.grid, model.mean_, color=colours["curve"], lw=2.5)
    public.set_title("their mean, epsilon = 4: public", color=colours["text"])
    private.set_ylabel("degrees Celsius", color=colours["text"])
    for axis in (private, public):
        axis.set_xlabel("month", color=colours["text"])
        axis.set_xticks(np.arange(0, 13, 3))
        axis.tick_params(colors=colours["text"])
        axis.spines[["top", "right"]].set_visible(False)
        axis.spines[["left", "bottom"]].set_color(colours["people"])
    return figure
