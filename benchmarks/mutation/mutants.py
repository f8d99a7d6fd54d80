"""Mutants of a module: its source with one small change each, made from its syntax.

What a person could get wrong is changed: an operator, a comparison, a constant, a
clip or a rounding left out, a check or a charge left out. Texts, annotations,
decorators, assertions (``zip(strict=True)``) and what is only printed stay as they are.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

OPERATORS = {
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult},
    **{ast.FloorDiv: ast.Div, ast.Pow: ast.Mult, ast.Mod: ast.Mult},
    **{ast.LShift: ast.RShift, ast.RShift: ast.LShift},
    **{ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd},
}
COMPARISONS = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt},
    **{ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is},
    **{ast.In: ast.NotIn, ast.NotIn: ast.In},
}
SWAPPED = {"min": "max", "minimum": "maximum", "floor": "ceil"}
SWAPPED |= {new: old for old, new in SWAPPED.items()}
DROPPED = {*SWAPPED, "clip", "abs", "fabs", "rint", "round", "nextafter", "sqrt"}
PRINTED = {"__repr__", "__str__", "_repr_html_", "__format__"}
NAMESPACES = {"np", "math"}


@dataclass(frozen=True)
class Mutant:
    """One change: `name` describes it without a line number, `source` is the result."""

    path: str
    line: int
    end: int
    name: str
    source: str


def mutants(path: str, source: str) -> list[Mutant]:
    """Every mutant of a module, in the order of its lines."""
    lines = source.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    raw, seen, made = source.encode(), {}, []
    for function, node, new, around in changes(ast.parse(source)):
        first = starts[node.lineno - 1] + node.col_offset
        last = starts[node.end_lineno - 1] + node.end_col_offset
        text = "pass" if new is None else ast.unparse(new)
        name = f"{path} {function}: {ast.unparse(node)} -> {text}"
        name += f" in {ast.unparse(around)}" if isinstance(node, ast.Constant) else ""
        seen[name] = seen.get(name, 0) + 1
        name += f" #{seen[name]}" if seen[name] > 1 else ""
        same = "\n" * (node.end_lineno - node.lineno)  # as many lines as before
        text = f"({text}{same})" if isinstance(node, ast.expr) else text + same
        changed = (raw[:first] + text.encode() + raw[last:]).decode()
        made.append(Mutant(path, node.lineno, node.end_lineno, name, changed))
    return sorted(made, key=lambda mutant: mutant.line)


def changes(tree: ast.AST) -> Iterator[tuple[str, ast.AST, ast.AST | None, ast.AST]]:
    """Where, a node, what replaces it (None: nothing at all) and what is around it."""

    def visit(node: ast.AST, where: str, around: ast.AST) -> Iterator:
        if isinstance(node, ast.Raise):
            yield where, node, None, around
            return  # what is raised is text
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            if node.name in PRINTED:
                return
            where = f"{where}.{node.name}".removeprefix("module.")
        for new in variants(node):
            yield where, node, new, around
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield where, node, None, around
        for child in children(node):
            yield from visit(child, where, node)

    yield from visit(tree, "module", tree)


def children(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node in which mutants make sense."""
    skipped = {"annotation", "returns", "decorator_list", "bases", "type_params"}
    if isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom):
        return
    if isinstance(node, ast.Call) and called(node) == "warn":
        return
    if isinstance(node, ast.keyword) and node.arg == "strict":
        return
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
        return
    if isinstance(node, ast.AnnAssign) and "TypeAlias" in ast.unparse(node.annotation):
        return
    for field, value in ast.iter_fields(node):
        if field not in skipped:
            nodes = value if isinstance(value, list) else [value]
            yield from (child for child in nodes if isinstance(child, ast.AST))


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in the place of a node."""
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in OPERATORS:
        if not is_union(node):
            yield changed(node, op=OPERATORS[type(node.op)]())
    elif isinstance(node, ast.Compare):
        for place, kind in enumerate(map(type, node.ops)):
            new = copy.deepcopy(node)
            new.ops[place] = COMPARISONS[kind]()
            yield new
    elif isinstance(node, ast.BoolOp):
        yield changed(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.UAdd):
        yield node.operand
    elif isinstance(node, ast.Constant):
        yield from (ast.Constant(value) for value in constants(node.value))
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        yield changed(node, value=node.value.elts[0])
    elif isinstance(node, ast.Call):
        yield from calls(node)


def constants(value: object) -> Iterator[object]:
    """What may stand in the place of a constant."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value + 1
        if value == 2:
            yield 1
    elif isinstance(value, float):
        yield 1.0 if value in (0.5, 0.0) else 2 * value


def calls(node: ast.Call) -> Iterator[ast.AST]:
    """A call that rounds or bounds: left out, or by its opposite."""
    name = called(node)
    if name in SWAPPED:
        function = copy.deepcopy(node.func)
        if isinstance(function, ast.Name):
            function.id = SWAPPED[name]
        else:
            function.attr = SWAPPED[name]
        yield changed(node, func=function)
    if name in DROPPED:
        owner = getattr(node.func, "value", None)
        is_method = owner is not None and ast.unparse(owner) not in NAMESPACES
        if is_method:
            yield owner
        elif node.args and not isinstance(node.args[0], ast.Starred):
            yield node.args[0]


def called(node: ast.Call) -> str:
    """The last part of the name of what is called."""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def changed(node: ast.AST, **fields: ast.AST) -> ast.AST:
    """A copy of a node with other fields."""
    return type(node)(**{**dict(ast.iter_fields(node)), **fields})


def is_union(node: ast.BinOp | ast.AugAssign) -> bool:
    """Whether ``|`` joins types, as in ``isinstance(x, A | B)``."""
    sides = (getattr(node, "left", None), getattr(node, "right", None))
    names = [side.id for side in sides if isinstance(side, ast.Name)]
    types = ("bool", "int", "float", "str", "bytes", "dict", "list", "tuple")
    return isinstance(node.op, ast.BitOr) and any(
        (name[0].isupper() and not name.isupper()) or name in types for name in names
    )
