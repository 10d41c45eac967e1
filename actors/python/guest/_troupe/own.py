"""What the driver program works with, held where blocks don't look: a block
that puts something else in the place of json.dumps or len breaks its own code,
not the driver's. No wall; what gets through ends the interpreter."""

import _json
import builtins
import sys

# Every module with code that runs beside blocks takes these as its own.
BUILTINS = dict(vars(builtins))
REAL = vars(builtins)
MONITORS = range(6)         # ids of sys.monitoring's tools

settrace, setprofile = sys.settrace, sys.setprofile
setrecursionlimit, set_int_max_str_digits = sys.setrecursionlimit, sys.set_int_max_str_digits
free_tool_id, register_callback = sys.monitoring.free_tool_id, sys.monitoring.register_callback
# Arguments that take every callback away: freeing an id leaves them before 3.14.
EVENTS = [e for e in vars(sys.monitoring.events).values() if isinstance(e, int) and e]
NO_CALLBACKS = [[i for i in MONITORS for e in EVENTS], [e for i in MONITORS for e in EVENTS],
                [None for i in MONITORS for e in EVENTS]]
RECURSION = sys.getrecursionlimit()
MAX_DIGITS = 65_536         # of an integer that is converted to or from text


def repair():
    """Puts back what every block, and the library, relies on."""
    setrecursionlimit(RECURSION)
    set_int_max_str_digits(MAX_DIGITS)
    REAL.update(BUILTINS)


def no_json(v):
    raise TypeError("no JSON: " + type(v).__name__)


class Parsing:
    """How JSON is read, as the scanner in C wants it."""
    strict = True
    object_pairs_hook = array_hook = None
    parse_float, parse_int, parse_constant = float, int, float

    def __init__(self, object_hook):
        self.object_hook = object_hook


def json_writer():
    """Gives a function from a value to its JSON, in the C code that json uses."""
    parts = _json.make_encoder(None, no_json, _json.encode_basestring, None, ":", ",", False, False, True)
    return lambda v: "".join(parts(v, 0))


def json_reader(object_hook):
    """Gives a function from JSON without blanks around it to its value."""
    scan = _json.make_scanner(Parsing(object_hook))
    return lambda text: scan(text, 0)[0]
