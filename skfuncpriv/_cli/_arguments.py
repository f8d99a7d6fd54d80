"""The parser of words, types of arguments, and what several commands may be asked.

Errors are one line.
"""

from __future__ import annotations

import argparse
import re
from typing import Any, NoReturn

from ._errors import CommandError, notice_closed_pipes

_MECHANISMS = ("auto", "laplace", "spherical", "block-spherical", "gaussian")
PROG = "python -m skfuncpriv"
_PAIRS = {"--bounds": "500 3500", "--domain": "0 24", "--origin": "13.40 52.52"}


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, and which reads -1e3 as a number."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(
            *args,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
            **options,
        )
        # The one of Python < 3.14 takes -1e3 and -1,0,1 for options.
        self._negative_number_matcher = re.compile(r"-\.?\d")

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse; of unknown words, say which command does not know them."""
        notice_closed_pipes()
        parsed, unknown = self.parse_known_args(args, namespace)
        if unknown:
            message = f"unrecognized arguments: {' '.join(unknown)}"
            if not any(word.startswith("-") for word in unknown):
                message += "; names are separated by commas: --drop id,sex"
            raise CommandError(f"{message} (see {self.prog} {parsed.command} --help)")
        return parsed

    def error(self, message: str) -> NoReturn:
        """Refuse the request."""
        option = re.search(r"argument (\S+): expected 2 arguments", message)
        if option is not None:
            pair = _PAIRS.get(option[1], "0 1")
            if option[1] == "--domain" and self.prog.endswith(" trace"):
                pair = "0 7200"
            message += f": two numbers with a space, as in {option[1]} {pair}"
        raise CommandError(f"{message} (see {self.prog} --help)")


class _Once(argparse.Action):
    """An option of which the last one must not silently replace the others."""

    def __call__(
        self, parser: Any, namespace: Any, values: Any, option_string: Any = None
    ) -> None:
        if getattr(namespace, self.dest) is not None:
            parser.error(f"{option_string} is given twice, and one is charged")
        setattr(namespace, self.dest, values)


def names(text: str) -> list[str]:
    """The names in a list with commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def bound(text: str) -> float:
    """One of the numbers of --bounds."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no number: write two numbers with a space, --bounds 500 "
            "3500, and FILE before them"
        ) from None


def level(text: str) -> float:
    """A probability strictly between 0 and 1; checked before anything is charged."""
    number = float(text)
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(
            f"must be between 0 and 1 (0.95 for 95 %), got {text!r}"
        )
    return number


def count(text: str) -> int:
    """An integer >= 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(
            f"must be an integer >= 1, written as 1000, got {text!r}"
        )
    return int(text)


def add_interval(parser: Any, option: str, low: str, high: str, text: str) -> None:
    """Two numbers."""
    # Not required=True: a missing one deserves more than argparse would say.
    parser.add_argument(
        option, type=float, nargs=2, metavar=(low, high), help=text, default=None
    )


def add_release(parser: Any) -> None:
    """What may be asked of every release of a file."""
    parser.add_argument(
        "--no-denoise",
        action="store_true",
        help="leave out the denoising, which costs no privacy",
    )
    parser.add_argument(
        "--ledger",
        metavar="FILE",
        action=_Once,
        help="charge this budget first; nothing is released if it does not fit",
    )
    parser.add_argument(
        "--seed",
        type=int,
        metavar="INT",
        help="repeatable noise, for teaching only: whoever knows the seed removes it",
    )


def add_force(parser: Any) -> None:
    """Replace files."""
    parser.add_argument(
        "--force",
        action="store_true",
        help="replace existing files: by default they are kept, a release is paid for",
    )


def add_budget(parser: Any, mechanism: str = "auto") -> None:
    """Add epsilon, delta and the law of noise."""
    parser.add_argument(
        "--epsilon",
        type=float,
        default=1.0,
        metavar="EPS",
        help="budget; smaller is more private (default: %(default)s)",
    )
    add_delta_and_mechanism(parser, mechanism)


def add_delta_and_mechanism(parser: Any, mechanism: str = "auto") -> None:
    """Add delta and the law of noise."""
    parser.add_argument(
        "--delta",
        type=float,
        default=0.0,
        help="with delta > 0 Gaussian noise is possible (default: 0)",
    )
    parser.add_argument(
        "--mechanism",
        choices=_MECHANISMS,
        default=mechanism,
        metavar="LAW",
        help=f"law of the noise: {', '.join(_MECHANISMS)} (default: %(default)s)",
    )
