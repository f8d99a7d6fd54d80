"""What tests of displays share: a stand-in for an estimator, and readers of words."""

from matplotlib.legend import Legend


class Released:
    """The public attributes of an estimator; reading anything else fails.

    Those in `optional` may be asked for where they are absent.
    """

    def __init__(self, *, optional=(), **attributes):
        vars(self).update(attributes, optional=optional)

    def __getattr__(self, name):
        if name in self.optional:
            raise AttributeError(name)
        raise AssertionError(f"the display read {name}")


def legend_of(host):
    """The words of the legend of axes or a figure: a note above, and the entries."""
    (legend,) = [child for child in host.get_children() if isinstance(child, Legend)]
    texts = [legend.get_title(), *legend.get_texts()]
    return [text.get_text().replace("\n", " ") for text in texts]


def boxes_of(host):
    """Where the legend and the guarantee are, in pixels."""
    (legend,) = [child for child in host.get_children() if isinstance(child, Legend)]
    title = getattr(host, "_suptitle", None) or host._left_title
    return legend.get_window_extent(), title.get_window_extent()
