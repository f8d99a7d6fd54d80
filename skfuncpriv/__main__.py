"""The command line: ``python -m skfuncpriv``.

The exit code is 0 when all went well, 1 when an audit found a leak or something failed
inside, 2 when the request or the file must be changed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from skfuncpriv._cli._errors import explain
from skfuncpriv._cli._parser import make_parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; errors become text on stderr."""
    parser = make_parser()
    words = sys.argv[1:] if argv is None else list(argv)
    if not words:
        parser.print_help()
        return 0
    try:
        args = parser.parse_args(words)
        return import_module(f"skfuncpriv._cli._{args.command}").run(args)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except Exception as error:
        text, code = explain(error)
        print(text, file=sys.stderr)
        return code


if __name__ == "__main__":
    sys.exit(main())
