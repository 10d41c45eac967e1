"""Compiling a block: names that are protected, and the value it leaves."""

import _ast

from .exceptions import ProtectedName
from .own import BUILTINS as __builtins__, RECURSION, setrecursionlimit
from .state import S

VALUE = "$value"            # where a block leaves it; no identifier, so no code can name it


class Check:
    """Finds assignments to protected names, and takes out imports of them."""

    def __init__(self, names):
        self.names = names

    def body(self, statements):
        for i, node in enumerate(statements):
            if isinstance(node, (_ast.Import, _ast.ImportFrom)):
                statements[i:i + 1] = [self.imports(node)]
            else:
                self.node(node)

    def imports(self, node):
        kept = [a for a in node.names if a.name not in self.names]
        assigned = [_ast.Assign(targets=[_ast.Name(id=a.asname, ctx=_ast.Store())],
                                value=_ast.Name(id=a.name, ctx=_ast.Load()))
                    for a in node.names if a.name in self.names and a.asname]
        for a in kept:
            self.name(a.asname or a.name.partition(".")[0], node.lineno)
        if len(kept) == len(node.names):
            return node
        node.names = kept
        rest = ([node] if kept else []) + assigned
        return place(rest[0] if len(rest) == 1 else
                     _ast.If(test=_ast.Constant(value=True), body=rest or [_ast.Pass()], orelse=[]), node)

    def name(self, name, line):
        if name in self.names:
            raise ProtectedName(name, line)

    def node(self, node, in_class=False):
        kind = type(node)
        if kind is _ast.Name:
            if type(node.ctx) is not _ast.Load and not in_class:
                self.name(node.id, node.lineno)
            return
        if kind in (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef):
            if not in_class:
                self.name(node.name, node.lineno)
        elif kind in (_ast.ExceptHandler, _ast.MatchAs, _ast.MatchStar):
            self.name(node.name, node.lineno)
        elif kind is _ast.MatchMapping:
            self.name(node.rest, node.lineno)
        inner = kind is _ast.ClassDef or (in_class and isinstance(node, _ast.stmt)
                                          and kind not in (_ast.FunctionDef, _ast.AsyncFunctionDef))
        for field in node._fields:
            child = getattr(node, field, None)
            if isinstance(child, list):
                if child and isinstance(child[0], _ast.stmt) and not inner:
                    self.body(child)
                    continue
                for c in child:
                    if isinstance(c, _ast.AST):
                        self.node(c, inner)
            elif isinstance(child, _ast.AST):
                self.node(child, inner)


def place(node, at):
    """Gives a made node, and what is in it, the place of another."""
    for field in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
        if field in node._attributes and not hasattr(node, field):
            setattr(node, field, getattr(at, field))
    for field in node._fields:
        child = getattr(node, field, None)
        for c in child if isinstance(child, list) else (child,):
            if isinstance(c, _ast.AST):
                place(c, at)
    return node


def keep_value(body):
    """Makes the last statement leave its value under VALUE: an expression, an
    assignment, or what ends the body of a loop, a branch, a with or a try."""
    if not body:
        return
    last = body[-1]
    kind = type(last)
    store = _ast.Name(id=VALUE, ctx=_ast.Store())
    if kind is _ast.Expr:
        body[-1] = place(_ast.Assign(targets=[store], value=last.value), last)
    elif kind is _ast.Assign:
        last.targets.insert(0, place(store, last))
    elif kind in (_ast.AugAssign, _ast.AnnAssign):
        if type(last.target) is _ast.Name and last.value is not None:
            body.append(place(_ast.Assign(targets=[store], value=_ast.Name(id=last.target.id, ctx=_ast.Load())), last))
    elif kind in (_ast.For, _ast.While, _ast.With, _ast.AsyncFor, _ast.AsyncWith):
        keep_value(last.body)
    elif kind is _ast.If:
        keep_value(last.body)
        keep_value(last.orelse)
    elif kind in (_ast.Try, _ast.TryStar):
        keep_value(last.orelse or last.body)
        for handler in last.handlers:
            keep_value(handler.body)
    elif kind is _ast.Match:
        for case in last.cases:
            keep_value(case.body)


def compile_block(code, file):
    tree = compile(code, file, "exec", _ast.PyCF_ONLY_AST, dont_inherit=True)
    setrecursionlimit(100_000)      # a long chain of operators is a deep tree
    try:
        Check({*S.tools}).body(tree.body)
        keep_value(tree.body)
    finally:
        setrecursionlimit(RECURSION)
    return compile(tree, file, "exec", dont_inherit=True)
