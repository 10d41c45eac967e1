"""The virtual world: time and chance are what the host says, so that a block
that is run again meets what it met the first time.

The clock starts from the host's, shows a microsecond more at each reading,
and jumps by what is slept or waited for and to the time at which a call
returned. Everything random comes from one seed. What can't be had twice the
same way is allowed and noted: threads, and processor time."""

import _thread
import gc
import os
import sys
import time

from . import hooks
from .own import BUILTINS as __builtins__

try:
    from _sha2 import sha256
except ImportError:     # before 3.12's name
    from _sha256 import sha256

READING = 1_000             # nanoseconds that pass with each look at the clock
SECOND = 1_000_000_000
THREADS, CPU_TIME = "threads", "cpu_time"

really_sleep = time.sleep
lock_type = type(_thread.allocate_lock())
really_acquire = lock_type.acquire


class World:
    """What time it is, and what chance comes next."""
    now = time.time_ns()
    zero = now - SECOND         # where the monotonic clock starts
    replay = False              # nothing is waited for
    marks = set()               # why the block can't be run again
    seed = b""
    drawn = 0                   # blocks of random bytes


W = World()


def set_clock(nanoseconds):
    if nanoseconds and nanoseconds > W.now:
        W.now = nanoseconds


def begin(seed):
    """Starts the world of one interpreter's life."""
    W.seed, W.drawn = seed.encode(), 0
    W.now = W.zero = 0      # until the first block says


def begin_block(nanoseconds, replay):
    set_clock(nanoseconds)
    if not W.now:
        W.now = time_ns_now()
    W.zero = W.zero or W.now - SECOND
    W.replay = replay
    W.marks = set()


time_ns_now = time.time_ns


def read_clock():
    W.now += READING
    return W.now


def wait(seconds):
    """Lets time pass; really, too, unless a block is run again."""
    if not W.replay:
        really_sleep(seconds)
    pass_time(seconds)


def pass_time(seconds):
    W.now += int(seconds * SECOND)


def random_bytes(count):
    """Bytes from the seed, the same ones in every life."""
    parts = []
    while count > 0:
        W.drawn += 1
        parts.append(sha256(W.seed + W.drawn.to_bytes(8, "big")).digest()[:count])
        count -= len(parts[-1])
    return b"".join(parts)


# What stands for the functions of module time.

def now_ns():
    return read_clock()


def now():
    return read_clock() / SECOND


def elapsed_ns():
    return read_clock() - W.zero


def elapsed():
    return elapsed_ns() / SECOND


def sleep(seconds, /):
    if not W.replay:
        really_sleep(seconds)
    elif seconds < 0:
        raise ValueError("sleep length must be non-negative")
    pass_time(seconds)


def of_moment(real, position):
    """real, with the virtual moment where its argument is left out."""
    def function(*args):
        if len(args) > position and args[position] is not None:
            return real(*args)
        return real(*args[:position], moment(real))
    function.__name__ = real.__name__
    return function


struct_takers = ("strftime", "asctime")
make_local = time.localtime


def moment(real):
    seconds = read_clock() // SECOND
    return make_local(seconds) if real.__name__ in struct_takers else seconds


def marked(real, mark):
    """real, which makes the block one that can't be run again."""
    def function(*args, **kwargs):
        W.marks.add(mark)
        return real(*args, **kwargs)
    function.__name__ = getattr(real, "__name__", mark)
    return function


def by_clock(real, nanoseconds):
    def function(clock, /):
        name = CLOCKS.get(clock)
        if name is None:
            return marked(real, CPU_TIME)(clock)
        value = W.zero if name == "monotonic" else 0
        value = read_clock() - value
        return value if nanoseconds else value / SECOND
    function.__name__ = real.__name__
    return function


CLOCKS = {getattr(time, name): kind for name, kind in (
    ("CLOCK_REALTIME", "real"), ("CLOCK_TAI", "real"),
    ("CLOCK_MONOTONIC", "monotonic"), ("CLOCK_MONOTONIC_RAW", "monotonic"),
    ("CLOCK_BOOTTIME", "monotonic"), ("CLOCK_UPTIME_RAW", "monotonic")) if hasattr(time, name)}


def replace_time():
    new = {"time": now, "time_ns": now_ns, "sleep": sleep,
           "monotonic": elapsed, "monotonic_ns": elapsed_ns, "perf_counter": elapsed, "perf_counter_ns": elapsed_ns}
    for name, position in (("localtime", 0), ("gmtime", 0), ("ctime", 0), ("asctime", 0), ("strftime", 1)):
        new[name] = of_moment(getattr(time, name), position)
    for name in ("process_time", "process_time_ns", "thread_time", "thread_time_ns"):
        if hasattr(time, name):
            new[name] = marked(getattr(time, name), CPU_TIME)
    for name in ("clock_gettime", "clock_gettime_ns"):
        if hasattr(time, name):
            new[name] = by_clock(getattr(time, name), name.endswith("ns"))
    vars(time).update(new)


def give(cls, **methods):
    """Puts methods into a type of the interpreter's own: subclasses would have
    another text form and another pickle. What was looked up before is cached."""
    names = gc.get_referents(cls.__dict__)[0]
    names.update((name, method) for name, method in methods.items() if name in names)
    forget_lookups()


forget_lookups = getattr(sys, "_clear_internal_caches", None) or sys._clear_type_cache


def acquire(self, blocking=True, timeout=-1):
    if not blocking or timeout <= 0:
        return really_acquire(self, blocking, timeout)
    if really_acquire(self, False) or not W.replay and really_acquire(self, True, timeout):
        return True
    pass_time(timeout)
    return False


def other_threads():
    return _thread._count() > 0


def replace_threads():
    for name in ("start_new_thread", "start_new", "start_joinable_thread"):
        if hasattr(_thread, name):
            setattr(_thread, name, marked(getattr(_thread, name), THREADS))
    give(lock_type, acquire=acquire, acquire_lock=acquire)


def replace_chance():
    for module in (os, sys.modules.get("posix")):
        if module is None:
            continue
        module.urandom = random_bytes
        module.getpid = lambda: 2
        module.getppid = lambda: 1
        if hasattr(module, "getrandom"):
            module.getrandom = lambda size, flags=0: random_bytes(size)
        for name in ("times", "wait3", "wait4"):
            if hasattr(module, name):
                setattr(module, name, marked(getattr(module, name), CPU_TIME))
    # Their versions in C look at the system's clock and at what is random; the
    # ones in Python ask the functions replaced here.
    sys.modules["_uuid"] = sys.modules["_queue"] = None


def replace():
    replace_time()
    replace_threads()
    replace_chance()
    hooks.install({"random": random_module, "datetime": datetime_module, "uuid": uuid_module,
                   "resource": resource_module, "asyncio": asyncio_module})


# What is done to modules of the library when a block imports them first.

def random_module(m):
    really_seed = m.Random.seed

    def seed(self, a=None, version=2):
        if a is None:
            a = int.from_bytes(random_bytes(32), "big")
        return really_seed(self, a, version)
    m.Random.seed = seed
    m._inst.seed()
    m.seed = m._inst.seed


def datetime_module(m):
    # A float holds no microseconds exactly at this size, so they are put in.
    def moment_of(cls, tz=None):
        ns = read_clock()
        return cls.fromtimestamp(ns // SECOND, tz).replace(microsecond=ns % SECOND // 1000)

    def utc_moment(cls):
        return moment_of(cls, m.timezone.utc).replace(tzinfo=None)
    give(m.datetime, now=classmethod(moment_of), utcnow=classmethod(utc_moment))
    give(m.date, today=classmethod(lambda cls: cls.fromtimestamp(now())))


def uuid_module(m):
    m._GETTERS = []     # no look at the network's devices for a node's number


def resource_module(m):
    m.getrusage = marked(m.getrusage, CPU_TIME)


def asyncio_module(m):
    from . import loop
    loop.replace(m)
