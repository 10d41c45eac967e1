"""Values as tagged JSON, both ways, and as text."""

import binascii
import sys

from .exceptions import FinalAnswer, TooBig
from .own import BUILTINS as __builtins__
from .state import S, say

to_base64, from_base64 = binascii.b2a_base64, binascii.a2b_base64
modules = sys.modules

MAX_NODES = 1_000_000       # parts of one value
MAX_DEPTH = 100             # nesting of one value
MAX_VALUE = 4 << 20         # bytes of one encoded value, about
MAX_TEXT = 64 << 10         # bytes of a value's text form


class Encoder:
    """Makes tagged JSON of Python values, and counts what it may still hold."""

    def __init__(self):
        self.parts = MAX_NODES
        self.room = MAX_VALUE

    def take(self, size):
        self.room -= size
        if self.room < 0:
            raise TooBig

    def encode(self, v, depth=0):
        self.parts -= 1
        if self.parts < 0:
            raise TooBig
        if v is None or v is True or v is False:
            return v
        if isinstance(v, str):
            self.take(len(v) if v.isascii() else 4 * len(v))
            return v if type(v) is str else str.__str__(v)
        if isinstance(v, int):
            return int(v) if v.bit_length() < 200_000 else self.other(v)
        if isinstance(v, float):
            return self.float(v)
        if depth > MAX_DEPTH:
            return self.other(v)
        if isinstance(v, dict):
            return self.dict(v, depth)
        if isinstance(v, list):
            return [self.encode(e, depth + 1) for e in v]
        if isinstance(v, tuple):
            return {"$tuple": [self.encode(e, depth + 1) for e in v]}
        if isinstance(v, (set, frozenset)):
            tag = "$set" if isinstance(v, set) else "$frozenset"
            return {tag: [self.encode(e, depth + 1) for e in v]}
        if isinstance(v, (bytes, bytearray)):
            self.take(len(v) * 4 // 3)
            return {"$bytes": to_base64(v, newline=False).decode()}
        return self.date(v)

    def float(self, v):
        if v - v == 0:
            return float(v)
        return {"$float": "nan" if v != v else "inf" if v > 0 else "-inf"}

    def dict(self, v, depth):
        if all(type(k) is str and k[:1] != "$" for k in v):
            self.take(sum(map(len, v)))
            return {k: self.encode(e, depth + 1) for k, e in dict.items(v)}
        return {"$dict": [[self.encode(k, depth + 1), self.encode(e, depth + 1)]
                          for k, e in dict.items(v)]}

    def date(self, v):
        module = modules.get("datetime")
        if module and isinstance(v, module.datetime):
            return {"$datetime": v.isoformat()}
        if module and isinstance(v, module.date):
            return {"$date": v.isoformat()}
        for name, tool in S.tools.items():
            if tool is v:
                return {"$tool": name}
        return self.other(v)

    def other(self, v):
        return {"$repr": text_of(v, repr, 2000), "type": type(v).__name__}


def encode(v):
    """Gives the tagged value, or raises TooBig."""
    return Encoder().encode(v)


def encode_or_repr(v):
    try:
        return encode(v)
    except FinalAnswer:
        raise
    except BaseException:
        return {"$repr": text_of(v, repr, 2000), "type": type(v).__name__}


def decode_tag(d):
    """Turns one tagged object into its value; others stay dictionaries."""
    if len(d) > 2 or not d:
        return d
    tag = next(iter(d))
    if tag[:1] != "$":
        return d
    v = d[tag]
    if tag == "$tuple":
        return tuple(v)
    if tag == "$set":
        return set(v)
    if tag == "$frozenset":
        return frozenset(v)
    if tag == "$bytes":
        return from_base64(v)
    if tag == "$float":
        return float(v)
    if tag == "$dict":
        return {k: e for k, e in v}
    if tag == "$tool":
        return S.tools.get(v)
    if tag in ("$date", "$datetime"):
        import datetime
        return getattr(datetime, tag[1:]).fromisoformat(v)
    return v


def text_of(v, form, limit):
    """The text form of a value, whatever its class does, within limit bytes."""
    try:
        text = form(v)
        if type(text) is not str:
            text = str.__str__(text)
    except FinalAnswer:
        raise
    except BaseException as e:
        text = say("unprintable", type=type(v).__name__, error=type(e).__name__)
    return shorten(text, limit)


def shorten(text, limit):
    if len(text) * 4 <= limit:
        return text
    data = text.encode("utf-8", "backslashreplace")
    if len(data) <= limit:
        return text
    half = limit // 2
    mark = say("cut", count=len(data) - 2 * half)
    return data[:half].decode("utf-8", "ignore") + "\n" + mark + "\n" + data[-half:].decode("utf-8", "ignore")
