#!/usr/bin/env python3
"""marks_script.py - marks of functions of the script itself, one function a rule; prints the rules that do not hold.

Each rule starts the Python that runs this file with a script of its own, as a person would. A sitecustomize stands for that of
`vptrace run`: it marks what the rule wants before the script starts, and prints the ranges of each process at its end.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap

RULES = []
MONITORS = hasattr(sys, "monitoring")
HERE = os.path.dirname(os.path.abspath(__file__))
# What Python calls the script in a message; before 3.9 as on the command line.
SCRIPT = "script.py" if sys.version_info < (3, 9) else os.path.join("FOLDER", "script.py")
SITE = """
import atexit, builtins, os, sys
import_ = builtins.__import__
sys.path[:0] = [%r, %r]
import marked, vptrace, vptrace_marks
library = vptrace._library.loaded = marked.Library()
library.status = lambda: 0  # nothing is recorded
sys.path[:2] = []
exec(os.environ.get("BEFORE", ""))
vptrace.mark_calls(os.environ["MARKS"])
exec(os.environ.get("AFTER", ""))

def nothing_remains():
    "Nothing follows the script any more."
    tools = [sys.monitoring.get_tool(tool) for tool in range(6)] if hasattr(sys, "monitoring") else []
    return sys.gettrace() is None and not any(tools) and builtins.__import__ is import_

def write():
    with open(os.environ["RANGES"], "a") as file:
        file.write("".join(line + "\\n" for line in library.lines))

def show():
    write()
    assert library.depth == 0, "%%d ranges are open" %% library.depth

atexit.register(show)
""" % (os.path.join(HERE, "..", "..", "..", "tracer", "python"), HERE)


def rule(function):
    RULES.append(function)
    return function


class Run:  # pylint: disable=too-few-public-methods
    """A script that has run: its `ranges`, `out`, `err` and exit `code`. `arguments` start it; files are written before."""

    def __init__(self, script, marks, arguments=("script.py", ), files=(), **environment):
        for name, text in (("script.py", script), *files):
            os.makedirs(os.path.dirname(os.path.abspath(name)), exist_ok=True)
            with open(name, "w", encoding="utf-8") as file:
                file.write(textwrap.dedent(text))
        if os.path.exists("ranges"):
            os.remove("ranges")
        environment = dict(os.environ, MARKS=textwrap.dedent(marks).strip(), PYTHONPATH=os.path.abspath("site"),
                           RANGES=os.path.abspath("ranges"), PYTHONDONTWRITEBYTECODE="1", **environment)
        done = subprocess.run([sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
                              stdin=subprocess.DEVNULL, check=False, timeout=120)
        self.code, self.out = done.returncode, done.stdout.decode()
        self.err = done.stderr.decode().replace(os.getcwd(), "FOLDER")
        self.ranges = []
        if os.path.exists("ranges"):
            with open("ranges", encoding="utf-8") as file:
                self.ranges = file.read().splitlines()

    def complaint(self):
        """What is reported at the end."""
        return self.err.partition("vptrace: marks: ")[2].strip()


def same(found, expected):
    assert found == expected, "found %r, expected %r" % (found, expected)


def ended(run, ranges, complaint=""):
    assert run.code == 0, run.err
    same(run.ranges, ranges)
    same(run.err, "vptrace: marks: %s\n" % complaint if complaint else "")


PIPELINE = """
import functools, os, sys

def decorated(function):
    @functools.wraps(function)
    def inner(*args, **named):
        return function(*args, **named)
    return inner

@decorated
def sample(steps,
           scale=2):
    for i in range(steps):
        denoise(i)
    return steps * scale

class Pipeline:
    frames = 12
    def __call__(self, prompt, steps=3):
        return sample(steps)
    @staticmethod
    def decode(n): return n
    @classmethod
    def of(cls): return cls()

def denoise(i): return i

def blocks(n):
    for i in range(n):
        yield i

async def encode():
    return 5

if __name__ == "__main__":
    import asyncio
    def late(): return 7
    assert Pipeline.of()("a cat") == 6 and Pipeline.decode(4) == 4
    assert list(blocks(1)) == [0] and asyncio.run(encode()) == 5 and late() == 7
    assert sys.modules["sitecustomize"].nothing_remains()
    assert sample.__name__ == "sample" and sample.__module__ == "__main__"
"""
MARKS = """
__main__:Pipeline.__call__ = request frames=self.frames
__main__:Pipeline.decode = stage vae_decode
__main__:Pipeline.of = stage build
__main__:sample = stage sample index=steps
__main__:denoise = step index=i
__main__:blocks = block
__main__:encode = stage text_encode
__main__:late = stage late
"""
RANGES = ["stage build", "request Pipeline frames=12", "  stage sample 3", "    step 0", "    step 1", "    step 2",
          "stage vae_decode", "block 0", "block 1", "stage text_encode", "stage late"]


@rule
def functions_methods_generators_and_coroutines_of_a_script():
    ended(Run(PIPELINE, MARKS), RANGES)


@rule
def however_the_script_is_started():
    ended(Run("", MARKS, ("-m", "tool.generate"), [("tool/generate.py", PIPELINE), ("tool/__init__.py", "import json")]), RANGES)
    ended(Run("", MARKS, ("-m", "whole"), [("whole/__main__.py", PIPELINE), ("whole/__init__.py", "")]), RANGES)
    ended(Run("", MARKS, ("folder", ), [("folder/__main__.py", PIPELINE)]), RANGES)
    ended(Run("", MARKS, ("-c", PIPELINE)), RANGES)


@rule
def the_first_call_is_marked_wherever_it_stands():
    script = """
    def f(): return 1
    f()
    def f(): return 2  # another one of that name
    f()
    def g(): return f()
    assert g() == 2
    def h(): pass
    class A:
        def f(self): pass
    A().f()"""
    ended(Run(script, "__main__:f = stage f\n__main__:g = stage g\n__main__:A.f = stage A.f"),
          ["stage f", "stage f", "stage g", "  stage f", "stage A.f"])
    ended(Run(script, "__main__:f* = stage any\n__main__:*.f = stage inner"),
          ["stage any", "stage any", "stage any", "stage inner"])


@rule
def exceptions_pass_and_close_what_is_open():
    run = Run("""
    def outer():
        begin()
        raise KeyError("of the script")
    def begin(): pass
    outer()
    """, "__main__:outer = request\n__main__:begin = step begin")
    same((run.code, run.ranges), (1, ["request outer", "  step 0"]))
    assert "KeyError: 'of the script'" in run.err and not run.complaint(), run.err


@rule
def nothing_follows_the_script_after_its_last_marked_definition():
    check = "import sys\nassert sys.modules['sitecustomize'].nothing_remains(), sys.gettrace()\n"
    ended(Run("def f(): pass\n" + check + "def g(): pass\nf()", "__main__:f = stage f"), ["stage f"])
    ended(Run(check, "__main__:f = stage f"), [],
          "mark_calls():1: __main__:f: there is no such function in " + SCRIPT)
    ended(Run("if 0:\n    def f(): pass\n    f = 1\nelse:\n    pass\n" + check + "f = int", "__main__:f = stage f"), [],
          "mark_calls():1: __main__:f: there is no such function in " + SCRIPT)
    ended(Run("def f(): pass\n", "__main__:f = stage f", AFTER="atexit.register(lambda: nothing_remains() or print('remains'))"), [],
          "mark_calls():1: __main__:f was never called")


@rule
def a_module_that_the_script_imports_sees_no_tracing():
    module = "import sys\nassert sys.gettrace() is None\nimport json.tool\nassert sys.gettrace() is None\nf = 3"
    ended(Run("""
    import module, decimal
    try:
        import no_such_module_at_all
    except ImportError as error:
        assert error.name == "no_such_module_at_all"
    def f(): from module import f; return f
    assert f() == 3
    from module import f as g
    def h(): pass
    h()""", "__main__:f = stage f\n__main__:h = stage h", files=[("module.py", module)]), ["stage f", "stage h"])
    ended(Run("import module\ndef f(): pass\nf()", "__main__:f = stage f\nmodule:g = stage g",
              files=[("module.py", "import vptrace\ndef g(): pass\ng()\nvptrace.unmark_calls()\n"
                      "import sys; assert sys.modules['sitecustomize'].nothing_remains()")]), [])


@rule
def code_that_the_script_executes_is_not_the_script():
    for before in ("import dataclasses\n@dataclasses.dataclass\nclass Data:\n    frames: int = 3\n",
                   "exec('x = 1')\n", "exec('def f(frames): pass')\n",
                   "exec(compile('def f(frames): pass', 'script.py', 'exec'), globals())\n",
                   "import collections, enum\nP = collections.namedtuple('P', 'x')\nE = enum.Enum('E', 'a b')\n"):
        ended(Run(before + "def f(frames): pass\n" + before + "def g(): pass\nf(3), g()", "__main__:f = stage f\n__main__:g = stage g"),
              ["stage f", "stage g"])


@rule
def what_runs_the_script_again_is_marked_too():
    script = """
    import multiprocessing, os, sys
    def work(i):
        site = sys.modules["sitecustomize"]
        assert site.nothing_remains()
        inner()
        site.write()  # such a process need not run what is registered for its end
    def inner(): pass
    if __name__ == "__main__":
        context = multiprocessing.get_context(sys.argv[1])
        process = context.Process(target=work, args=(3,))
        process.start()
        process.join()
        sys.exit(process.exitcode)
    """
    for how in ("spawn", "forkserver"):
        run = Run(script, "__main__:work = stage work index=i\n__main__:inner = stage inner", ("script.py", how))
        same((run.code, sorted(set(run.ranges))), (0, ["  stage inner", "stage work 3"]))
        assert "there is no such function" not in run.err, run.err  # from the helpers of multiprocessing


@rule
def a_tool_that_holds_what_this_needs_is_reported():
    script = "def f(): print('ran')\nf()"
    if MONITORS:
        run = Run(script, "__main__:f = stage f", BEFORE="for tool in (3, 4): sys.monitoring.use_tool_id(tool, 'other')")
        expected = "other tools hold the tool ids of sys.monitoring; move it into a module"
        ended(Run(script, "__main__:f = stage f", BEFORE="sys.monitoring.use_tool_id(4, 'other'); sys.settrace(lambda *a: None)"),
              ["stage f"])
    else:
        run = Run(script, "__main__:f = stage f", BEFORE="sys.settrace(lambda *a: None)")
        expected = ("a debugger or another tool uses sys.settrace(), which Python before 3.12 needs for functions of the script; "
                    "move it into a module")
    expected = "mark_calls():1: __main__:f: cannot be marked: " + expected
    same((run.code, run.out, run.ranges, run.complaint()), (0, "ran\n", [], expected))
    if not MONITORS:
        run = Run(script, "__main__:f = stage f", AFTER="sys.settrace(lambda *a: None)")
        same((run.code, run.out, run.ranges, run.complaint()), (0, "ran\n", [], expected))


@rule
def a_debugger_that_runs_the_script_goes_on():
    run = Run("def f(): print('ran')\nf()", "__main__:f = stage f", ("-m", "pdb", "-c", "continue", "-c", "quit", "script.py"))
    assert run.code == 0 and "ran\n" in run.out, (run.out, run.err)
    assert run.complaint().startswith("mark_calls():1: __main__:f: there is no such function in /"), run.err
    assert run.complaint().endswith("pdb.py"), run.err


@rule
def what_marks_nothing_is_reported():
    script = "import json\nloads = json.loads\nx = 5\ndef f(): pass\ndef g(): pass\nclass A: pass\nf(), loads('1')"
    run = Run(script, "__main__:f = stage f\n__main__:g = stage g\n__main__:loads = stage l\n__main__:A = stage A")
    ended(run, ["stage f"], "mark_calls():2: __main__:g was never called; mark_calls():3: __main__:loads: there is no such function in "
          + SCRIPT + "; mark_calls():4: __main__:A: A is a class: name its method, such as A.__call__")
    run = Run("", "tool.named:f = stage f", ("-m", "tool.named"), [("tool/named.py", "def f(): pass\nf()"), ("tool/__init__.py", "")])
    ended(run, [], "mark_calls():1: tool.named:f: python -m runs this module as __main__, write __main__ instead")


@rule
def a_script_marks_its_own_functions_below_them():
    ended(Run("""
    import vptrace
    def f(): pass
    assert vptrace.mark_calls("__main__:f = stage f", "__main__:g = stage g") == 1
    def g(): pass
    f(), g()
    """, "json:nothing = none"), ["stage f"], "mark_calls():1: __main__:g: there is no such function in the script")


def main():
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    os.mkdir("site")
    with open("site/sitecustomize.py", "w", encoding="utf-8") as file:
        file.write(SITE)
    failed = 0
    for function in RULES:
        try:
            function()
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            print("FAIL: %s: %s: %s" % (function.__name__.replace("_", " "), type(error).__name__, error))
    os.chdir("/")
    shutil.rmtree(folder)
    print("%d rules, %d failed" % (len(RULES), failed))
    sys.exit(1 if failed else 0)


main()
