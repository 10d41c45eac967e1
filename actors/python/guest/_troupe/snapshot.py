"""The variables of a namespace as bytes, and back: what blocks computed, kept
for an interpreter that is to go on from it.

Values are pickled; functions and classes that blocks defined are written as
what they consist of. What can't be kept is named, never left out in silence.
"""

import io
import marshal
import pickle
import sys
import types

from . import world
from .exceptions import FinalAnswer
from .own import BUILTINS as __builtins__
from .state import S
from .tools import Tool

PROTOCOL = 5
OURS = "__main__"           # the module that blocks run in
HIDDEN = ("__dict__", "__weakref__", "_abc_impl", "__abstractmethods__",
          "__annotate__", "__annotate_func__", "__annotations_cache__")
DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)


# Where what is unpickled finds its globals: the namespace, or another one in
# which a snapshot is tried out.
target = [None]


class TooLarge(Exception):
    """More bytes than asked for."""


class Bounded(io.BytesIO):
    """Bytes up to a limit."""

    def __init__(self, limit):
        super().__init__()
        self.limit = limit

    def write(self, data):
        if self.tell() + len(data) > self.limit:
            raise TooLarge
        return super().write(data)


class Pickler(pickle.Pickler):
    """Pickles, too, what only exists in blocks."""

    def __init__(self, file, namespace):
        super().__init__(file, PROTOCOL)
        self.namespace = namespace

    def reducer_override(self, v):
        kind = type(v)
        if kind is types.FunctionType:
            return self.function(v)
        if isinstance(v, type):
            return self.cls(v)
        if kind is types.ModuleType:
            return find_module, (v.__name__,)
        if kind is types.CellType:
            return make_cell, (), cell_state(v), None, None, set_cell
        if kind is types.MappingProxyType:
            return make_proxy, (dict(v),)
        if kind in (staticmethod, classmethod):
            return kind, (v.__func__,)
        if kind is property:
            return property, (v.fget, v.fset, v.fdel, v.__doc__)
        if isinstance(v, Tool):
            return find_tool, (v.__name__,)
        if kind.__module__ == "dataclasses":
            return of_dataclasses(v)
        return NotImplemented

    def function(self, f):
        if f.__module__ != OURS and is_importable(f):
            return NotImplemented
        own = f.__globals__ is self.namespace
        names = None if own else {n: f.__globals__[n] for n in names_in(f.__code__) if n in f.__globals__}
        if names is not None:
            names.pop("__builtins__", None)
        state = {"defaults": f.__defaults__, "kwdefaults": f.__kwdefaults__, "dict": f.__dict__, "globals": names,
                 "closure": f.__closure__, "module": f.__module__, "qualname": f.__qualname__, "doc": f.__doc__,
                 "annotations": annotations_of(f)}
        return make_function, (marshal.dumps(f.__code__), f.__name__, own, len(f.__closure__ or ())), state, None, None, set_function

    def cls(self, c):
        if c.__module__ != OURS:
            return NotImplemented
        if type(c) is not type and (type(c).__name__ != "ABCMeta" or has_others(c)):
            raise pickle.PicklingError("a class of an unusual kind")
        names = {k: v for k, v in vars(c).items() if k not in HIDDEN and not isinstance(v, DESCRIPTORS)}
        slots = names.pop("__slots__", None)
        if any(k.startswith("__annotat") for k in vars(c)):
            names["__annotations__"] = annotations_of(c)
        return make_class, (type(c), c.__name__, c.__qualname__, c.__bases__, slots), names, None, None, set_class


class Unpickler(pickle.Unpickler):
    """Finds nothing in what blocks defined: that is not there yet."""

    def find_class(self, module, name):
        if module == OURS:
            raise pickle.UnpicklingError("a reference to " + name)
        return super().find_class(module, name)


def has_others(c):
    """Whether classes were registered with an abstract one, which it forgets."""
    import _abc
    return bool(_abc._get_dump(c)[0])


def is_importable(v):
    module = sys.modules.get(v.__module__)
    for name in v.__qualname__.split("."):
        module = getattr(module, name, None)
    return module is v


def names_in(code):
    names = set(code.co_names)
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            names |= names_in(c)
    return names


def annotations_of(f):
    try:
        return dict(f.__annotations__)
    except Exception:
        return {}


def of_dataclasses(v):
    """The values that dataclasses compares by identity, by their names."""
    import dataclasses
    for name, known in vars(dataclasses).items():
        if known is v:
            return getattr, (dataclasses, name)
    return NotImplemented


def cell_state(cell):
    try:
        return [cell.cell_contents]
    except ValueError:
        return []


# What makes them again. A pickle names these functions.

def find_module(name):
    __import__(name)
    return sys.modules[name]


def find_tool(name):
    return S.tools[name]


def make_cell():
    return types.CellType()


def make_proxy(d):
    return types.MappingProxyType(d)


def set_cell(cell, state):
    if state:
        cell.cell_contents = state[0]


def make_function(code, name, own, cells):
    names = target[0] if own else {"__builtins__": S.builtins}
    closure = tuple(types.CellType() for _ in range(cells))
    return types.FunctionType(marshal.loads(code), names, name, None, closure or None)


def set_function(f, state):
    f.__defaults__, f.__kwdefaults__ = state["defaults"], state["kwdefaults"]
    f.__module__, f.__qualname__, f.__doc__ = state["module"], state["qualname"], state["doc"]
    f.__dict__.update(state["dict"])
    if state["annotations"]:
        f.__annotations__ = state["annotations"]
    if state["globals"]:
        f.__globals__.update(state["globals"])
    for mine, kept in zip(f.__closure__ or (), state["closure"] or ()):
        set_cell(mine, cell_state(kept))


def make_class(kind, name, qualname, bases, slots):
    names = {"__module__": OURS, "__qualname__": qualname}
    if slots is not None:
        names["__slots__"] = slots
    return type.__new__(kind, name, bases, names) if kind is type else kind(name, bases, names)


def set_class(c, names):
    for name, v in names.items():
        type.__setattr__(c, name, v)
    if type(c) is not type:
        import abc
        abc.update_abstractmethods(c)


# Of the library, what blocks change in the usual way.

def surroundings():
    state = {"world": (world.W.now, world.W.zero, world.W.drawn), "sources": S.sources}
    random, decimal = sys.modules.get("random"), sys.modules.get("decimal")
    if random:
        state["random"] = random.getstate()
    if decimal:
        state["decimal"] = decimal.getcontext()
    return state


def set_surroundings(state):
    if "random" in state:
        find_module("random").setstate(state["random"])
    if "decimal" in state:
        find_module("decimal").setcontext(state["decimal"])
    world.W.now, world.W.zero, world.W.drawn = state["world"]
    S.sources.update(state["sources"])


def can_keep(v, namespace, limit):
    try:
        dump(v, namespace, limit)
        return True
    except FinalAnswer:
        raise
    except Exception:
        return False


def take(namespace, limit):
    """Gives bytes and the names that are not in them."""
    if world.other_threads():
        raise TooLarge("threads")
    kept = {k: v for k, v in namespace.items() if k not in S.own_names}
    missing = []
    around = surroundings()
    try:
        return dump((kept, around), namespace, limit), missing
    except FinalAnswer:
        raise
    except Exception:
        missing = [k for k, v in kept.items() if not can_keep(v, namespace, limit)]
    for k in missing:
        del kept[k]
    return dump((kept, around), namespace, limit), sorted(missing)


def dump(v, namespace, limit):
    """Gives bytes that can be read again: that is tried out, apart from all
    that lives here."""
    file = Bounded(limit)
    Pickler(file, namespace).dump(v)
    load(file.getvalue(), {"__builtins__": S.builtins, "__name__": OURS})
    return file.getvalue()


def load(data, names):
    target[0] = names
    try:
        return Unpickler(io.BytesIO(data)).load()
    finally:
        target[0] = None


def put(data, namespace):
    kept, around = load(data, namespace)
    namespace.update(kept)
    set_surroundings(around)
