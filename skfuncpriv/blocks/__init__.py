from ._blocks import Blocks
from ._rows import open_rows

__all__ = ["Blocks", "open_rows"]
