# Compiles the driver program: from JSON of its files to byte code of its
# modules, as boot.py takes them.
import json
import marshal
import sys

modules = {}
for path, text in json.load(sys.stdin).items():
    name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    modules[name] = compile(text, path, "exec", dont_inherit=True)
sys.stdout.buffer.write(marshal.dumps(modules))
