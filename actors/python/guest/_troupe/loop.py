"""The event loop of asyncio here: no sockets, no processes, and virtual time."""

import _thread

from .own import BUILTINS as __builtins__
from .state import say
from .world import W, pass_time, really_acquire


class Wake:
    """Stands for the loop's selector: nothing is selected, so it only waits
    until time has passed, or until a thread has something for the loop."""

    def __init__(self):
        self.idle = _thread.allocate_lock()
        really_acquire(self.idle, False)

    def select(self, timeout=None):
        if timeout is None:
            really_acquire(self.idle)
        elif timeout <= 0 or W.replay:
            if not really_acquire(self.idle, False) and timeout > 0:
                pass_time(timeout)
        elif not really_acquire(self.idle, True, min(timeout, _thread.TIMEOUT_MAX)):
            pass_time(timeout)
        return ()

    def wake(self):
        if self.idle.locked():
            self.idle.release()

    def close(self):
        pass

    def get_map(self):
        return {}


def replace(asyncio):
    class EventLoop(asyncio.base_events.BaseEventLoop):
        """Runs coroutines and timers."""

        def __init__(self):
            super().__init__()
            self._selector = Wake()

        def _process_events(self, events):
            pass

        def _write_to_self(self):
            self._selector.wake()

        def run_in_executor(self, executor, func, *args):
            try:
                return super().run_in_executor(executor, func, *args)
            except ModuleNotFoundError:
                raise RuntimeError(say("threads")) from None

        def _refuse(self, *args, **kwargs):
            raise PermissionError(say("loop"))

        async def _refuse_later(self, *args, **kwargs):
            raise PermissionError(say("loop"))

        add_reader = add_writer = add_signal_handler = _refuse
        create_connection = create_datagram_endpoint = create_server = _refuse_later
        create_unix_connection = create_unix_server = connect_accepted_socket = _refuse_later
        connect_read_pipe = connect_write_pipe = subprocess_exec = subprocess_shell = _refuse_later
        getaddrinfo = getnameinfo = sock_connect = sock_accept = sock_recv = sock_sendall = _refuse_later

    asyncio.EventLoop = asyncio.SelectorEventLoop = EventLoop
    for policy in (getattr(asyncio.events, "_BaseDefaultEventLoopPolicy", None),
                   getattr(asyncio.events, "BaseDefaultEventLoopPolicy", None)):
        if policy is not None:
            for cls in [policy, *policy.__subclasses__()]:
                cls._loop_factory = EventLoop
