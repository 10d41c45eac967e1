"""What ended a block, as the model reads it."""

from .exceptions import ProtectedName
from .own import BUILTINS as __builtins__
from .state import FILE, S, say
from .values import MAX_TEXT, shorten, text_of

MAX_TRACEBACK = 16 << 10    # bytes of a traceback

FULL_WIDTH = dict(zip("（）【】｛｝，。：；！？“”‘’＝＋－＊／＜＞％＆｜～＠＃、《》　",
                      "()[]{},.:;!?\"\"''=+-*/<>%&|~@#,<> "))


def full_width(code):
    """The first full-width punctuation outside strings and comments, or None."""
    quote, i = "", 0
    while i < len(code):
        c = code[i]
        if quote:
            if c == "\\":
                i += 1
            elif code.startswith(quote, i):
                i += len(quote) - 1
                quote = ""
            elif c == "\n" and len(quote) == 1:
                quote = ""
        elif c == "#":
            i = code.find("\n", i) if "\n" in code[i:] else len(code)
        elif c in "'\"":
            quote = c * 3 if code.startswith(c * 3, i) else c
            i += len(quote) - 1
        elif c in FULL_WIDTH:
            return c, code.count("\n", 0, i) + 1
        i += 1
    return None


def block_of(file):
    return int(file[7:-1]) if file.startswith("<block ") and file in S.sources else 0


def frames_of(tb):
    """The model's own frames, outermost first: (block, line, function)."""
    frames = []
    while tb is not None:
        code = tb.tb_frame.f_code
        block = block_of(code.co_filename)
        if block:
            frames.append((block, tb.tb_lineno or 0, code.co_name))
        tb = tb.tb_next
    return frames


def frame_text(frame):
    block, line, name = frame
    where = "" if block == S.number else f"block {block}, "
    inside = "" if name == "<module>" else f", in {name}"
    lines = S.sources.get(FILE % block, ())
    text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    return f"  {where}line {line}{inside}" + (f"\n    {text[:300]}" if text else "")


def traceback_of(e, message):
    frames = frames_of(e.__traceback__)
    texts = [frame_text(f) for f in frames]
    if len(texts) > 24:
        texts[12:-12] = [say("repeated", count=len(texts) - 24)]
    texts.append(type_name(e) + (": " + message if message else ""))
    cause, depth = e.__cause__ or (None if e.__suppress_context__ else e.__context__), 0
    while cause is not None and depth < 3:
        lines = [str(f[1]) for f in frames_of(cause.__traceback__)][:1]
        texts.append(say("cause") + type_name(cause) + ": " + text_of(cause, str, 1000) +
                     (f" (line {lines[0]})" if lines else ""))
        cause, depth = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__), depth + 1
    return shorten("\n".join(texts), MAX_TRACEBACK)


def type_name(e):
    return type(e).__name__


def error_of(e, code):
    """Describes what ended a block."""
    if isinstance(e, ProtectedName):
        name, line = e.args
        return {"type": "NameError", "message": say("protected", name=name, line=line), "line": line, "traceback": ""}
    if isinstance(e, SyntaxError) and e.filename == FILE % S.number and not frames_of(e.__traceback__):
        return syntax_error(e, code)
    message = text_of(e, str, MAX_TEXT)
    if isinstance(e, SystemExit):
        message = say("systemexit", code=message)
    if isinstance(e, MemoryError) and not message:
        message = say("memory")
    here = [line for block, line, _ in frames_of(e.__traceback__) if block == S.number]
    return {"type": type_name(e), "message": message, "line": here[0] if here else 0,
            "traceback": traceback_of(e, message)}


def syntax_error(e, code):
    message, line = e.msg or "invalid syntax", e.lineno or 0
    found = full_width(code)
    if found:
        char, line = found
        message += " — " + say("fullwidth", char=char, code=ord(char), ascii=FULL_WIDTH[char])
    lines = code.split("\n")
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    shown = f"  line {line}\n    {text[:300]}"
    offset = text.find(char) + 1 if found else e.offset or 0
    if 0 < offset <= 300:
        shown += "\n    " + " " * (offset - 1) + "^"
    return {"type": type_name(e), "message": message, "line": line,
            "traceback": shown + f"\n{type_name(e)}: {message}"}
