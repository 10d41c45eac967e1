"""The two pipes: a JSON object a line."""

import os

from .own import BUILTINS as __builtins__, json_reader, json_writer
from .state import S
from .values import decode_tag

READ_FD, WRITE_FD = 3, 4

to_json, from_json = json_writer(), json_reader(decode_tag)
write, leave = os.write, os._exit


def open_pipes():
    S.reader = open(READ_FD, "rb", closefd=False)


def send(message):
    send_line(to_json(message).encode("utf-8", "backslashreplace") + b"\n")


def send_line(line):
    with S.lock:
        view = memoryview(line)
        while view:
            view = view[write(WRITE_FD, view):]


def receive():
    line = S.reader.readline()
    if not line:
        leave(0)     # the host is gone
    return from_json(line.decode())
