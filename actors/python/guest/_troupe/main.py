"""Runs blocks until the host is gone."""

import os
import sys
import types

from . import pipe
from .errors import error_of
from .exceptions import FinalAnswer
from .output import Output
from .pipe import receive, send, send_line
from .refuse import refuse_processes, user_builtins
from .source import VALUE, compile_block
from .state import FILE, S
from .texts import TEXTS
from .tools import Final, Tool
from .values import MAX_TEXT, encode_or_repr, text_of

MAX_DIGITS = 65_536         # of an integer that is converted to or from text
MAX_SOURCES = 200           # blocks whose text tracebacks can show
RESERVE = 4 << 20           # address space to report a MemoryError with
EXIT_MEMORY = 71            # not even that sufficed


def remember(file, code):
    S.sources[file] = code.split("\n")
    while len(S.sources) > MAX_SOURCES:
        del S.sources[next(iter(S.sources))]


def restore(namespace):
    namespace.update(S.tools)
    namespace["__builtins__"] = S.builtins
    namespace["__name__"] = "__main__"
    sys.stdout = sys.stderr = S.out


def keep_reserve():
    if S.reserve is None:
        try:
            S.reserve = bytes(RESERVE)
        except MemoryError:
            pass    # the block may be the one that frees some


def run_block(command, namespace):
    S.block, S.final, S.running = command["block"], False, True
    code, file = command["code"], FILE % command["block"]
    S.out.begin()
    restore(namespace)
    keep_reserve()
    done = {"t": "done", "b": S.block}
    try:
        remember(file, code)
        exec(compile_block(code, file), namespace)
        value = namespace.pop(VALUE, None)
        if value is not None and not S.final:
            done["value"], done["repr"] = encode_or_repr(value), text_of(value, str, MAX_TEXT)
    except FinalAnswer:
        pass
    except BaseException as e:
        S.reserve = None
        if not S.final:
            done["error"] = error_of(e, code)
        e.__traceback__ = None
    value = None
    namespace.pop(VALUE, None)
    restore(namespace)
    with S.call_lock:
        S.running = False
    S.out.end()
    send(done)


def fail(e):
    """The last resort: a block whose end could not be reported."""
    S.reserve = None
    line = b'{"t":"done","b":%d,"error":{"type":"%s","message":"","line":0,"traceback":""}}\n'
    send_line(line % (S.block, type(e).__name__.encode()))


def serve(namespace):
    while True:
        try:
            command = receive()
            if command.get("op") == "exec":
                run_block(command, namespace)
        except MemoryError as e:
            try:
                fail(e)
            except BaseException:
                os._exit(EXIT_MEMORY)
        except FinalAnswer:
            send({"t": "done", "b": S.block})
        except BaseException as e:
            fail(e)


def main():
    sys.set_int_max_str_digits(MAX_DIGITS)
    pipe.open_pipes()
    send({"t": "ready", "version": "%d.%d.%d" % sys.version_info[:3]})
    init = receive()
    S.lang = TEXTS.get(init.get("lang"), TEXTS["en"])
    S.allowed = tuple(init["imports"])
    S.out = Output(init["output_limit"])
    S.builtins = user_builtins()
    S.tools = {name: Tool(name) for name in init["tools"]}
    S.tools["final_answer"] = Final()
    refuse_processes()
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    serve(vars(module))

