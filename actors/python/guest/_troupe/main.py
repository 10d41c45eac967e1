"""Runs blocks until the host is gone."""

import sys
import types

from . import pipe, world
from .digest import digest
from .errors import error_of
from .exceptions import FinalAnswer
from .output import Output
from .own import BUILTINS as __builtins__, MONITORS, NO_CALLBACKS, free_tool_id, register_callback, repair, setprofile, settrace
from .pipe import leave, receive, send, send_line
from .refuse import refuse_processes, user_builtins
from .source import VALUE, compile_block
from .state import FILE, S, say
from .texts import TEXTS
from .tools import Final, Tool
from .values import MAX_TEXT, encode_or_repr, from_base64, text_of, to_base64

MAX_SOURCES = 200           # blocks whose text tracebacks can show
RESERVE = 4 << 20           # address space to report a MemoryError with
EXIT_MEMORY = 71            # not even that sufficed
EXIT_BROKEN = 72            # code broke the driver program


def remember(file, code):
    S.sources[file] = code.split("\n")
    while len(S.sources) > MAX_SOURCES:
        del S.sources[next(iter(S.sources))]


def restore(namespace):
    namespace.update(S.tools)
    S.builtins.update(S.offered)
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
    S.block, S.number, S.final, S.running = command["block"], command["number"], False, True
    code, file = command["code"], FILE % S.number
    world.begin_block(command.get("clock"), command.get("replay"))
    S.out.begin()
    restore(namespace)
    keep_reserve()
    done, error = {"t": "done", "b": S.block}, None
    try:
        remember(file, code)
        exec(compile_block(code, file), namespace)
    except FinalAnswer:
        pass
    except BaseException as e:
        error = e
    # First what would be called for every function of ours: this calls C only.
    settrace(None)
    setprofile(None)
    list(map(register_callback, *NO_CALLBACKS))
    list(map(free_tool_id, MONITORS))
    repair()
    try:
        value = namespace.pop(VALUE, None)
        if error is None and value is not None and not S.final:
            done["value"], done["repr"] = encode_or_repr(value), text_of(value, str, MAX_TEXT)
    except FinalAnswer:
        pass
    except BaseException as e:
        error = e
    if error is not None:
        S.reserve = None
        if not S.final:
            done["error"] = error_of(error, code)
        error.__traceback__ = None
    value = error = None
    restore(namespace)
    with S.call_lock:
        S.running = False
    S.out.end()
    if world.W.marks:
        done["marks"] = list(world.W.marks)
    done["state"] = digest(namespace, S.own_names)
    send(done)


def take_snapshot(command, namespace):
    """Sends the variables, or why they can't be kept."""
    from . import snapshot
    message = {"t": "snapshot", "b": S.block}
    try:
        data, message["missing"] = snapshot.take(namespace, command["limit"])
        message["data"] = to_base64(data, newline=False).decode()
    except FinalAnswer:
        message["text"] = "final_answer"
    except BaseException as e:
        message["text"] = type(e).__name__
    repair()
    restore(namespace)
    send(message)


def put_snapshot(command, namespace):
    from . import snapshot
    message = {"t": "restored", "b": S.block, "text": ""}
    restore(namespace)
    try:
        snapshot.put(from_base64(command["data"]), namespace)
    except BaseException as e:
        message["text"] = type(e).__name__ + ": " + text_of(e, str, 1000)
    repair()
    restore(namespace)
    send(message)


COMMANDS = {"exec": run_block, "snapshot": take_snapshot, "restore": put_snapshot}


def no_memory():
    """The last resort of a block that left no memory to report its end with."""
    S.reserve = None
    line = b'{"t":"done","b":%d,"error":{"type":"MemoryError","message":"%s","line":0,"traceback":""}}\n'
    send_line(line % (S.block, S.memory_text))


def broken(e):
    """Says that the driver itself doesn't work any more; the host ends it."""
    send_line(b'{"t":"broken","b":%d,"text":"%s"}\n' % (S.block, type(e).__name__.encode("ascii", "ignore")))
    leave(EXIT_BROKEN)


def serve(namespace):
    while True:
        try:
            command = receive()
            COMMANDS[command["op"]](command, namespace)
        except MemoryError:
            try:
                no_memory()
            except BaseException:
                leave(EXIT_MEMORY)
        except FinalAnswer:
            send({"t": "done", "b": S.block})
        except BaseException as e:
            settrace(None)
            setprofile(None)
            broken(e)


def main(read_fd, write_fd):
    repair()
    world.replace()
    pipe.open_pipes(read_fd, write_fd)
    send({"t": "ready", "version": "%d.%d.%d" % sys.version_info[:3]})
    init = receive()
    S.lang = TEXTS.get(init.get("lang"), TEXTS["en"])
    S.memory_text = say("memory").encode()
    S.allowed = tuple(init["imports"])
    S.out = Output(init["output_limit"])
    world.begin(init.get("seed") or "")
    S.offered = user_builtins()
    S.builtins = dict(S.offered)
    S.tools = {name: Tool(name) for name in init["tools"]}
    S.tools["final_answer"] = Final()
    S.own_names = {"__builtins__", "__name__", "__doc__", "__loader__", "__package__", "__spec__", *S.tools}
    refuse_processes()
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    serve(vars(module))

