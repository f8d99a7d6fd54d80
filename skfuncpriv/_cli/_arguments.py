"""The parser of words, and the types of arguments; errors are one line."""

from __future__ import annotations

import argparse
import re
from typing import Any, NoReturn

from ._errors import CommandError


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
        parsed, unknown = self.parse_known_args(args, namespace)
        if unknown:
            message = f"unrecognized arguments: {' '.join(unknown)}"
            if not any(word.startswith("-") for word in unknown):
                message += "; names are separated by commas: --drop id,sex"
            raise CommandError(f"{message} (see {self.prog} {parsed.command} --help)")
        return parsed

    def error(self, message: str) -> NoReturn:
        """Refuse the request."""
        if message.endswith("expected 2 arguments"):
            message += ": two numbers with a space, as in --bounds 500 3500"
        raise CommandError(f"{message} (see {self.prog} --help)")


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
