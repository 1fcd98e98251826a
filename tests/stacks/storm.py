"""Threads that call, return, raise, run generators and coroutines, import, compile and end, while probe.c reads their stacks.

The program is generated: a function's name is its number, and every line that calls has one legal set of callees, so that the
list of legal (caller, line, callee) is complete. Usage: storm.py PROBE.so SECONDS THREADS [SEED]; VPT_STACK_SAMPLES: go on until there
are as many samples."""
import array
import ctypes
import importlib
import os
import random
import sys
import tempfile
import threading
import time

import seccomp_filter

FOREIGN, TOP = 0xfffff, 0xffffe
LEVELS, WIDTH = 7, 24
probe = ctypes.CDLL(sys.argv[1])
probe.probe_text.restype = ctypes.c_char_p
probe.probe_number.restype = ctypes.c_uint64
probe.probe_start.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
seconds, thread_count = float(sys.argv[2]), int(sys.argv[3])
seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
wanted = int(os.environ.get("VPT_STACK_SAMPLES", "0"))
rng = random.Random(seed)

lines = []     # of the program
legal = set()  # numbers
kinds = {}     # of function numbers
KINDS = ["plain"] * 8 + ["loop", "raises", "generator", "generator", "delegates", "coroutine", "coroutine", "c", "context", "imports",
                         "compiles", "deep"]


def allow(caller, line, callee):
    legal.add(caller << 40 | line << 20 | callee)


def emit(number, text, callees=()):
    """Adds a line of function `number`, which may call `callees`."""
    lines.append(text)
    allow(number, len(lines), TOP)
    allow(number, len(lines), FOREIGN)
    for callee in callees:
        allow(number, len(lines), callee)


def call(number, indent, callee):
    """Lines by which a function of any kind runs another."""
    kind, name = kinds[callee], "f%04d" % callee
    if kind in ("generator", "delegates"):
        emit(number, indent + "for x in %s(n):" % name, [callee])
        emit(number, indent + "    n ^= x")
    elif kind == "coroutine":
        emit(number, indent + "c = %s(n)" % name, [callee])
        emit(number, indent + "try:")
        emit(number, indent + "    while 1: c.send(None)", [callee])
        emit(number, indent + "except StopIteration as e: n ^= e.value or 0")
    elif kind == "raises":
        emit(number, indent + "try:")
        emit(number, indent + "    %s(n)" % name, [callee])
        emit(number, indent + "except ValueError: n += 1")
    elif kind == "context":
        emit(number, indent + "with %s(n) as x:" % name, [callee])
        allow(FOREIGN, 0, callee)
        emit(number, indent + "    n ^= x", [callee])
    else:
        emit(number, indent + "n ^= %s(n)" % name, [callee])


def leaf(number, kind):
    if kind == "coroutine":
        emit(number, "    await Pause()", [])
        emit(number, "    return n & 7")
    elif kind in ("generator", "delegates", "context"):
        emit(number, "    yield n & 7")
        if kind != "context":
            emit(number, "    yield 2")
    elif kind == "raises":
        emit(number, "    raise ValueError")
    else:
        for _ in range(rng.randrange(3)):
            emit(number, "    n += %d" % rng.randrange(9))
        emit(number, "    return n & 3")


def body(number, kind, callees):
    if kind == "coroutine":
        for callee in callees:
            if kinds[callee] == "coroutine":
                emit(number, "    n ^= await f%04d(n) or 0" % callee, [callee])
            else:
                call(number, "    ", callee)
        emit(number, "    await Pause()")
        emit(number, "    return n & 7")
    elif kind in ("generator", "delegates"):
        for callee in callees:
            if kind == "delegates" and kinds[callee] in ("generator", "delegates"):
                emit(number, "    yield from f%04d(n)" % callee, [callee])
            else:
                call(number, "    ", callee)
                emit(number, "    yield n & 3")
        emit(number, "    yield 1")
    elif kind == "context":
        call(number, "    ", callees[0])
        emit(number, "    yield n & 7")
        call(number, "    ", callees[-1])
    elif kind == "raises":
        call(number, "    ", callees[0])
        emit(number, "    raise ValueError")
    elif kind == "c":
        plain = [c for c in callees if kinds[c] in ("plain", "loop", "c")]
        if plain:
            emit(number, "    for x in map(f%04d, (n, 1, 2)): n ^= x" % plain[0], [plain[0]])
            emit(number, "    n ^= max((1, 2, 3), key=f%04d)" % plain[-1], [plain[-1]])
        emit(number, "    return n & 3")
    elif kind == "imports":
        emit(number, "    if n & 15 == 5: load(n)", [])
        call(number, "    ", callees[0])
        emit(number, "    return n & 3")
    elif kind == "deep":
        emit(number, "    if n < 200: return f%04d(n + 200 + (n & 63))" % number, [number])
        emit(number, "    if n & 63: return f%04d(n - 1)" % number, [number])
        call(number, "    ", callees[0])
        emit(number, "    return n & 3")
    else:
        if kind == "loop":
            emit(number, "    for i in range(%d):" % rng.randrange(2, 5))
        for callee in callees:
            call(number, "        " if kind == "loop" else "    ", callee)
        emit(number, "    return n & 3")


def define(number, kind, callees):
    if kind == "context":
        emit(number, "@contextlib.contextmanager")
    emit(number, "%sdef f%04d(n):" % ("async " if kind == "coroutine" else "", number))
    if kind == "compiles":
        # The same source at another line each time: code objects come and go at the same addresses.
        compiled = callees[0] * 10 % 9000 + 1
        emit(number, "    return fresh(n)", [])
    elif callees:
        body(number, kind, callees)
    else:
        leaf(number, kind)


FRESH = 9000  # to 9099: functions that exist for one call
lines += ["import contextlib, random", "class Pause:", "    def __await__(self):", "        yield"]
numbers = {level: [level * 100 + i + 1 for i in range(WIDTH)] for level in range(LEVELS)}
for level in range(LEVELS):
    for number in numbers[level]:
        kinds[number] = rng.choice(KINDS)
        if level == LEVELS - 1 and kinds[number] in ("c", "deep", "compiles", "imports"):
            kinds[number] = "plain"
for level in reversed(range(LEVELS)):
    for number in numbers[level]:
        below = [n for deeper in range(level + 1, min(level + 3, LEVELS)) for n in numbers[deeper]]
        define(number, kinds[number], rng.sample(below, min(len(below), 1 + (rng.random() < .4))))
roots = numbers[0]
for number in roots:
    allow(FOREIGN, 0, number)

# The hardest case: two functions that take turns at the same addresses, each with a callee of its own that takes turns too.
TIGHT = 8001
for i, callees in enumerate(([8002, 8003, 8008], [8004], [8005], [8006], [8007], [], [], [8009], [8006], [])):
    number = TIGHT + i
    emit(number, "def f%04d(n):" % number)
    if number == TIGHT:
        emit(number, "    for i in range(500):")
        for callee in callees:
            emit(number, "        f%04d(n)" % callee, [callee])
    elif number == 8008:
        emit(number, "    for x in f8009(n): pass", callees)
    elif number == 8009:
        emit(number, "    yield 1")
        emit(number, "    f8006(n)", [8006])
        emit(number, "    yield 2")
    elif callees:
        emit(number, "    f%04d(n)" % callees[0], callees)
    else:
        emit(number, "    pass")
    kinds[number] = "plain"
allow(FOREIGN, 0, TIGHT)

folder = tempfile.mkdtemp()
path = os.path.join(folder, "storm_program.py")
source = "\n".join(lines) + "\n"
with open(path, "w") as f:
    f.write(source)

leaves = [n for n in numbers[LEVELS - 1] if kinds[n] == "plain"] or numbers[LEVELS - 1][:1]
for i in range(100):
    for line in range(2, 4):
        allow(FRESH + i, 10 * i + line, TOP)
    allow(FRESH + i, 10 * i + 1, TOP)
    allow(FOREIGN, 0, FRESH + i)
    allow(FRESH + i, 10 * i + 3, leaves[0])


def fresh(n):
    """Compiles a function, calls it and forgets it; its line tells its number."""
    i = n % 100
    text = "\n" * (10 * i) + "def f%04d(n):\n n += 1\n return leaf(n)\n" % (FRESH + i)
    space = {"leaf": namespace["f%04d" % leaves[0]]}
    exec(compile(text, path, "exec"), space)
    return space["f%04d" % (FRESH + i)](n)


def load(n):
    name = "storm_module_%d" % (n % 7)
    sys.modules.pop(name, None)
    try:
        importlib.import_module(name)
    except KeyError:
        pass  # another thread has taken it away meanwhile


sys.path.insert(0, folder)
sys.dont_write_bytecode = True
for i in range(7):
    with open(os.path.join(folder, "storm_module_%d.py" % i), "w") as f:
        f.write("import builtins\nx = builtins.storm_leaf(%d)\ndef g(): return x\ny = g()\n" % i)
allow(FOREIGN, 0, leaves[0])
namespace = {"fresh": fresh, "load": load, "__name__": "storm"}
exec(compile(source, path, "exec"), namespace)
__import__("builtins").storm_leaf = namespace["f%04d" % leaves[0]]
stop = False


def run_root(number, n):
    f, kind = namespace["f%04d" % number], kinds[number]
    if kind in ("generator", "delegates"):
        for _ in f(n):
            pass
    elif kind == "coroutine":
        c = f(n)
        try:
            while True:
                c.send(None)
        except StopIteration:
            pass
    elif kind == "raises":
        try:
            f(n)
        except ValueError:
            pass
    elif kind == "context":
        with f(n):
            pass
    else:
        f(n)


def work(index):
    mine = random.Random(index)
    while not stop:
        run_root(mine.choice(roots), mine.randrange(100))
        if mine.random() < .002:
            time.sleep(.0005)


def short(index):
    mine = random.Random(index)
    for _ in range(20):
        run_root(mine.choice(roots), mine.randrange(100))


def tight():
    f = namespace["f%04d" % TIGHT]
    while not stop:
        f(0)


def spawn():
    index = 1000
    while not stop:
        index += 1
        t = threading.Thread(target=short, args=(index,))
        t.start()
        t.join()


seccomp_filter.install()
if probe.probe_open(b"storm_program.py"):
    sys.exit("no stacks: " + probe.probe_text().decode())
sys.setswitchinterval(1e-4)
numbers_of = array.array("Q", sorted(legal))
address, count = numbers_of.buffer_info()
threads = [threading.Thread(target=work, args=(i,)) for i in range(thread_count - 2)]
threads += [threading.Thread(target=spawn), threading.Thread(target=tight)]
for t in threads:
    t.start()
probe.probe_start(address, count)
end = time.monotonic() + seconds
while time.monotonic() < end or probe.probe_number(b"samples") < wanted:
    time.sleep(.05)
probe.probe_stop()
stop = True
for t in threads:
    t.join()
n = {k: probe.probe_number(k.encode()) for k in ("samples", "whole", "cut", "torn", "deep", "none", "ended", "moving", "moving_shown",
                                                 "unnamed", "illegal", "frames", "spent_ns")}
shown = n["whole"] + n["cut"] - n["unnamed"]
print("%s: %d samples, %d while the thread ran (%d of them shown): %d whole, %d cut, %d torn, %d without a name, %d deep, %d none, "
      "%d ended; %.1f frames, %.1f us each; %d illegal" % (
          sys.version.split()[0], n["samples"], n["moving"], n["moving_shown"], n["whole"], n["cut"], n["torn"], n["unnamed"], n["deep"],
          n["none"], n["ended"], n["frames"] / max(shown, 1), n["spent_ns"] / 1e3 / max(n["samples"], 1), n["illegal"]))
if n["illegal"]:
    print(probe.probe_text().decode()[:6000])
for name in os.listdir(folder):
    if name.endswith(".py"):
        os.remove(os.path.join(folder, name))
sys.exit(n["illegal"] != 0 or shown < n["samples"] / 20)
