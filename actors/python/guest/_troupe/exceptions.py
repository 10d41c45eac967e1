"""The exceptions of the driver: those the namespace offers, and its own."""


class ToolError(Exception):
    """A tool returned an error."""
    code = ""


class ToolPanicked(ToolError):
    """A tool broke down."""


class ToolTimeout(ToolError):
    """A tool took longer than it may."""


class ToolOutcomeUnknown(ToolError):
    """Whether the tool did its work is not known."""


class FinalAnswer(BaseException):
    """Carries final_answer out of the block; no `except Exception` holds it."""


class TooBig(Exception):
    """A value is too big to pass on."""


class ProtectedName(Exception):
    """Code assigns to a tool's name; args: name, line."""


TOOL_ERRORS = {c.__name__: c for c in (ToolError, ToolPanicked, ToolTimeout, ToolOutcomeUnknown)}
