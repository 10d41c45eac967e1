"""What is refused, so that a model reads a clear message. None of it is a
wall."""

import builtins
import os
import sys

from .exceptions import TOOL_ERRORS
from .own import BUILTINS as __builtins__
from .state import S, say


# What the library imports from C, which looks like an import by the caller.
INTERNAL = ("_strptime", "copyreg", "encodings", "warnings")


real_import = builtins.__import__


def is_allowed(name):
    if name in INTERNAL:
        return True
    parts = name.split(".")
    return any(".".join(parts[:i]) in S.allowed for i in range(1, len(parts) + 1))


def guarded_import(name, globals=None, locals=None, fromlist=(), level=0):
    names = [name]
    if level == 0 and not is_allowed(name) and fromlist:
        names = [name + "." + item for item in fromlist]
    if "*" not in S.allowed:
        for n in names:
            if level or not is_allowed(n):
                raise ImportError(say("import", name=n if is_package(name) else name,
                                      allowed=", ".join(S.allowed)), name=name) from None
    try:
        return real_import(name, globals, locals, fromlist, level)
    except MemoryError:
        # It makes memory that code can be written to and run from, which the
        # walls refuse in this way.
        if name.partition(".")[0] in ("ctypes", "_ctypes"):
            raise ImportError(say("native", name=name), name=name) from None
        raise
    except ModuleNotFoundError as e:
        if e.name == name.partition(".")[0]:
            raise ModuleNotFoundError(say("missing", name=name), name=name) from None
        raise


def is_package(name):
    return any(a.startswith(name + ".") for a in S.allowed)


def refuser(name, why):
    def refuse(*args, **kwargs):
        raise PermissionError(say("builtin", name=name, why=say(why)))
    refuse.__name__ = name
    return refuse


def user_builtins():
    names = dict(vars(builtins))
    names["__import__"] = guarded_import
    for why, group in (("open", ["open"]), ("code", ["exec", "eval", "compile"]),
                       ("input", ["input", "breakpoint"]), ("exit", ["exit", "quit"])):
        for name in group:
            names[name] = refuser(name, why)
    names.update(TOOL_ERRORS)
    return names


def refuse_processes():
    """Puts clear errors where the walls would only give odd results: system()
    would return -1 and no more."""
    def refuse(name):
        def refused(*args, **kwargs):
            raise PermissionError(say("process", name="os." + name))
        refused.__name__ = name
        return refused
    prefixes = ("exec", "spawn", "posix_spawn", "fork", "system", "popen", "kill", "startfile")
    for module in (os, sys.modules.get("posix"), sys.modules.get("nt")):
        for name in list(vars(module)) if module else ():
            if name.startswith(prefixes) and callable(getattr(module, name)):
                setattr(module, name, refuse(name))
