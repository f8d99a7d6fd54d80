"""The commands of ``python -m skfuncpriv``, one module for each.

What may be asked stands in `_parser`; `_tables` reads a file, `_report` prints and
writes what was released. Nothing else about the data is ever printed.
"""
