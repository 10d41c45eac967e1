"""What stands for stdout and stderr."""

import _thread
import time

from .own import BUILTINS as __builtins__
from .pipe import send
from .state import S

monotonic = time.monotonic

CHUNK = 8 << 10             # bytes of output that are sent at once
EAGER_CHUNKS = 256          # lines of output sent as they come, in a block


class Output:
    """Stands for stdout and stderr. The first half of what may be printed is
    sent as it comes; of the rest the end is kept, and sent now and then, so
    that the host has it should the block be killed."""
    encoding = "utf-8"
    errors = "backslashreplace"
    newlines = None
    closed = False
    line_buffering = True
    name = "<output>"
    mode = "w"

    def __init__(self, limit):
        self.half = limit // 2
        self.lock = _thread.RLock()
        self.begin()

    def begin(self):
        self.pending = []       # head, not yet sent
        self.size = 0           # of pending
        self.chunks = 0         # sent
        self.room = self.half   # of the head
        self.tail = []
        self.tail_size = 0
        self.cut = 0
        self.sent = 0.0

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError("write() argument must be str, not " + type(text).__name__)
        if S.final or not text:
            return len(text)
        data = text.encode("utf-8", "backslashreplace")
        with self.lock:
            rest = self.write_head(data)
            if rest:
                self.write_tail(rest)
        return len(text)

    def write_head(self, data):
        if not self.room:
            return data
        now, rest = data[:self.room], data[self.room:]
        self.room -= len(now)
        self.pending.append(now)
        self.size += len(now)
        if self.size >= CHUNK or not self.room or (self.chunks < EAGER_CHUNKS and now.endswith(b"\n")):
            self.send_head()
        return rest

    def write_tail(self, data):
        self.tail.append(data[-self.half:])
        self.cut += len(data) - len(self.tail[-1])
        self.tail_size += len(self.tail[-1])
        if self.tail_size > 2 * self.half:
            self.trim()
        now = monotonic()
        if now - self.sent > 1:
            self.sent = now
            self.send_tail()

    def trim(self):
        kept = b"".join(self.tail)[-self.half:] if self.half else b""
        self.cut += self.tail_size - len(kept)
        self.tail, self.tail_size = [kept], len(kept)

    def send_head(self):
        if self.pending:
            data = b"".join(self.pending)
            self.pending, self.size = [], 0
            self.chunks += 1
            send({"t": "out", "b": S.block, "head": data.decode("utf-8", "ignore")})

    def send_tail(self):
        if self.tail_size or self.cut:
            self.trim()
            send({"t": "out", "b": S.block, "tail": self.tail[0].decode("utf-8", "ignore"), "cut": self.cut})

    def flush(self):
        with self.lock:
            self.send_head()

    def end(self):
        with self.lock:
            self.send_head()
            self.send_tail()

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def isatty(self):
        return False

    def writable(self):
        return True

    def readable(self):
        return False

    def seekable(self):
        return False

    def close(self):
        pass

    def reconfigure(self, **_):
        pass

    def fileno(self):
        import io
        raise io.UnsupportedOperation("fileno")
