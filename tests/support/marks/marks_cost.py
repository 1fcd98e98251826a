#!/usr/bin/env python3
"""marks_cost.py - what a marked call costs while a capture is recorded: the least of many short turns, less that of a plain call.

    PYTHONPATH=tracer/python VPTRACE_LIBRARY=BUILD/libvptrace.so python3 tests/support/marks/marks_cost.py [KIND COUNT]

With KIND and COUNT it only makes that many calls, for valgrind --tool=callgrind. Not one of the ordinary tests: a busy machine would
fail it.
"""
import os
import sys
import tempfile
import time
import types

import vptrace

MARKS = {"stage": "stage s", "step": "step", "index": "step index=i", "block": "block", "timestep": "step index=i timestep=1000-i",
         "argument": "step index=i timestep=i", "begin": "step begin index=i timestep=1000-i", "end": "step end"}
PROGRAM = "".join("def %s(i): pass\n" % name for name in ("plain", *MARKS)) + """
def no_pair(i): plain(i); plain(i)
def pair(i): begin(i); end(i)
"""
# What is measured, what it is called, and the same without marks.
SUBJECTS = [(name, mark, "plain") for name, mark in MARKS.items() if name not in ("begin", "end")]
SUBJECTS.append(("pair", MARKS["begin"] + ", step end", "no_pair"))
CALLS, TURNS = 200, 2000


def turn(function):
    start = time.perf_counter_ns()
    for i in range(CALLS):
        function(i)
    return (time.perf_counter_ns() - start) / CALLS


def main():
    module = sys.modules["subject"] = types.ModuleType("subject")
    exec(PROGRAM, vars(module))  # pylint: disable=exec-used
    for name in MARKS:
        getattr(module, name).__module__ = "subject"
    vptrace.start(os.path.join(tempfile.mkdtemp(), "cost.zst"), profile="none")
    vptrace.mark_calls("\n".join("subject:%s = %s" % mark for mark in MARKS.items()))
    if len(sys.argv) > 2:
        for i in range(int(sys.argv[2])):
            getattr(module, sys.argv[1])(i)
    else:
        least = dict.fromkeys([name for subject in SUBJECTS for name in (subject[0], subject[2])], 1e9)
        for _ in range(TURNS):
            for name in least:
                least[name] = min(least[name], turn(getattr(module, name)))
        for name, words, plain in SUBJECTS:
            print("%-45s %5.0f ns" % (words, least[name] - least[plain]))
    vptrace.stop()


main()
