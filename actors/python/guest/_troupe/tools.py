"""Tools, and final_answer, as functions of the namespace."""

from .exceptions import TOOL_ERRORS, FinalAnswer, ToolError, TooBig
from .own import BUILTINS as __builtins__
from .pipe import receive, send
from .state import S, say
from .values import MAX_NODES, MAX_VALUE, encode, encode_or_repr, text_of
from .world import set_clock

MAX_FINAL_TEXT = 2 << 20    # bytes of the answer's text form


class Tool:
    """A tool's function in the namespace."""

    def __init__(self, name):
        self.__name__ = self.__qualname__ = name

    def __call__(self, *args, **kwargs):
        return call_tool(self.__name__, args, kwargs)

    def __repr__(self):
        return "<tool " + self.__name__ + ">"


def call_tool(name, args, kwargs):
    if S.final:
        raise FinalAnswer
    try:
        message = {"t": "call", "b": S.block, "tool": name, "args": [encode(a) for a in args],
                   "kwargs": {k: encode(v) for k, v in kwargs.items()}}
    except TooBig:
        raise ValueError(say("toobig", limit=MAX_VALUE, nodes=MAX_NODES)) from None
    S.out.flush()
    with S.call_lock:
        if not S.running:
            raise RuntimeError(say("ended"))
        send(message)
        reply = receive()
        set_clock(reply.get("clock"))
    error = reply.get("error")
    if error is None:
        return reply.get("value")
    raise tool_error(error) from None


def tool_error(error):
    name, text = error.get("type") or "ToolError", error.get("message") or ""
    cls = TOOL_ERRORS.get(name) or __builtins__.get(name)
    if not (isinstance(cls, type) and issubclass(cls, Exception)):
        cls, text = ToolError, name + ": " + text
    try:
        e = cls(text)
        e.code = error.get("code") or ""
    except Exception:
        e = ToolError(name + ": " + text)
    return e


class Final(Tool):
    """final_answer: sets a flag first, so that no handler loses it."""

    def __init__(self):
        super().__init__("final_answer")

    def __call__(self, *args, **kwargs):
        if S.final:
            raise FinalAnswer
        values = list(args) + list(kwargs.values())
        answer = values[0] if len(values) == 1 else tuple(values) or None
        value, text = encode_or_repr(answer), text_of(answer, str, MAX_FINAL_TEXT)
        S.out.end()
        S.final = True
        send({"t": "final", "b": S.block, "value": value, "text": text})
        raise FinalAnswer
