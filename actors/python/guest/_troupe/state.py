"""What the driver knows, in one place."""

import _thread

from .own import BUILTINS as __builtins__
from .texts import TEXTS


class State:
    """What the driver knows, in one place."""
    reader = None               # commands
    writer = None               # descriptor of messages
    lang = TEXTS["en"]
    own_names = frozenset()     # of the namespace, that are no variables
    tools = {}                  # name -> function
    allowed = ()                # modules
    block = 0                   # as messages name it
    number = 0                  # as people count blocks
    final = False
    sources = {}                # block file name -> lines
    reserve = None
    lock = _thread.allocate_lock()      # one message, or one call, at a time
    call_lock = _thread.allocate_lock()
    running = False


FILE = "<block %d>"     # what a block is compiled as

S = State()


def say(key, **values):
    return S.lang[key].format(**values)
