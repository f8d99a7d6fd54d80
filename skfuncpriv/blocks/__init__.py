"""Rows that do not fit the memory of one process: files, memory maps and dask.

An estimator needs the rows only for exact integer sums, and integers add up to the same
sum however rows are divided. So blocks are summed one by one, wherever they are, and
only the sums travel.
"""

from ._block_rows import BlockRows
from ._blocks import Blocks
from ._memory_rows import MemoryRows
from ._rows import is_in_blocks, open_rows, refuse_blocks, unmapped

__all__ = [
    "BlockRows",
    "Blocks",
    "MemoryRows",
    "is_in_blocks",
    "open_rows",
    "refuse_blocks",
    "unmapped",
]
