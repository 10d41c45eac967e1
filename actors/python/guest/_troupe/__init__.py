"""The driver program: runs blocks of code, one after the other, in one
namespace, and speaks with the host over two pipes, a JSON object a line.

Host to here:
    init    {tools, imports, output_limit, lang, seed}     first, once
    exec    {block, number, code, clock, replay}
    result  {value, clock} or {error: {type, message, code}, clock}    answers a call
    snapshot {limit}                        the variables, please, in so many bytes
    restore {data}                          of a snapshot; before any exec
Here to host:
    ready   {version}
    out     {head} appended, or {tail, cut} instead of the tail before
    call    {tool, args, kwargs}
    final   {value, text}                   final_answer was called
    done    {value, repr} or {error: {type, message, line, traceback}}; marks, state
    snapshot {data, missing} or {text}      answers snapshot; text says why not
    restored {text}                         answers restore; text is "" or an error
    broken  {text}                          the driver failed, and ends
All but ready carry the number of their block.

Nothing in here keeps code in: that is the walls' work. What it refuses, it
refuses so that a model reads a clear message instead of a kernel's.
"""
