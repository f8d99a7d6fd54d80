"""What plans share that release a Gaussian kernel density as a smooth function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

_FAR = 4.0  # bandwidths beyond which a kernel has no mass to speak of
_USED = 0.75  # part of that margin from which mass is brought back


@dataclass(frozen=True, eq=False)
class KernelPlan:
    """Public facts of a release, and the rules at the bounds that follow it.

    The function is released on the box and a margin. Mass beyond the bounds is
    mirrored, comes in at the other end, or is made up for, after the release: before
    it, the sensitivity would be that of several kernels for one person.

    Parameters
    ----------
    n_people, box, boundary, epsilon, delta
        As for `BinnedPlan`.
    bandwidth : ndarray, shape (d,)
        Bandwidths in widths of the box.
    denoise : bool
        Whether the release is denoised, if its noise is white.
    is_weighted : bool
        Whether rows have weights.
    """

    n_people: int
    box: tuple[tuple[float, float], ...]
    boundary: tuple[str, ...]
    epsilon: float
    delta: float
    bandwidth: np.ndarray
    denoise: bool = True
    is_weighted: bool = False

    @property
    def margin(self) -> np.ndarray:
        """How far the release reaches beyond the bounds, in widths of the box."""
        inside = np.array([rule == "renormalize" for rule in self.boundary])
        return np.where(inside, 0.0, np.minimum(_FAR * self.bandwidth, 1.0))

    @property
    def height(self) -> float:
        """The height of one person's kernel."""
        volume = np.prod(np.sqrt(2 * np.pi) * self.bandwidth)
        return float(1 / (self.n_people * volume))

    @property
    def largest_norm(self) -> float:
        """The L2 norm of a kernel of mass one: that of a density is not larger."""
        return float(np.prod((4 * np.pi * np.square(self.bandwidth)) ** -0.25))

    def in_widths(self, points: np.ndarray) -> np.ndarray:
        """Points in widths of the box, those outside moved to it."""
        low, high = np.array(self.box).T
        clipped = np.clip(points, low, high)
        return (clipped / 2 - low / 2) / (high / 2 - low / 2)

    def with_images(
        self,
        functions: Callable[[np.ndarray], np.ndarray],
        nodes: np.ndarray,
        axis: int,
    ) -> np.ndarray:
        """Functions at nodes of one axis, with what lies beyond its bounds.

        The outer part of the margin is left out: it holds little but noise.
        """
        rule, far = self.boundary[axis], _USED * self.margin[axis]
        images = {
            "reflect": (nodes, -nodes, 2 - nodes),
            "periodic": (nodes, nodes - 1, nodes + 1),
            "renormalize": (nodes,),
        }[rule]
        total = functions(images[0])
        for image in images[1:]:
            seen = (image >= -far) & (image <= 1 + far)
            total[seen] += functions(image[seen])
        if rule == "renormalize":
            h = self.bandwidth[axis]
            total = total / (ndtr((1 - nodes) / h) - ndtr(-nodes / h))[:, None]
        return total
