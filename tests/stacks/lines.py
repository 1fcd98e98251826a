"""Compares the lines that the tracer decodes with those of Python, for every instruction of many files of its library.
Usage: lines.py PROBE.so"""
import ctypes
import dis
import glob
import os
import sys

probe = ctypes.CDLL(sys.argv[1])
probe.probe_line.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int]
if probe.probe_open(b"lines.py"):
    sys.exit("no stacks here")
compared = wrong = 0

EDGES = """def far(a, b):
    x = (a,
         b)
    try:
        return [y for y in x
                if y]; z = 1
    finally:
%s        with a: pass
async def g():
    async for i in b: yield (await i)
class C:
    f = lambda self: (
        self
    )
""" % ("\n" * 700)


def lines_of(code):
    """(offset, line) of each instruction; None: it has none."""
    if hasattr(code, "co_lines"):
        for start, end, line in code.co_lines():
            for offset in range(start, end, 2):
                yield offset, line
        return
    starts, line = dict(dis.findlinestarts(code)), code.co_firstlineno
    for offset in range(0, len(code.co_code), 2):
        line = starts.get(offset, line)
        yield offset, line


def compare(code):
    global compared, wrong
    table = getattr(code, "co_linetable", None) or code.co_lnotab
    for offset, line in lines_of(code):
        got = probe.probe_line(table, len(table), code.co_firstlineno, offset)
        compared += 1
        if got != (-1 if line is None else line):
            wrong += 1
            if wrong < 5:
                print("%s at %d: expected %s, found %d" % (code, offset, line, got))
    for inner in code.co_consts:
        if hasattr(inner, "co_code"):
            compare(inner)


compare(compile(EDGES, "edges", "exec"))
for path in sorted(glob.glob(os.path.join(os.path.dirname(os.__file__), "*.py")))[::6]:
    with open(path, "rb") as f:
        compare(compile(f.read(), path, "exec"))
print("%s: %d lines compared, %d wrong" % (sys.version.split()[0], compared, wrong))
sys.exit(wrong != 0 or compared < 10000)
