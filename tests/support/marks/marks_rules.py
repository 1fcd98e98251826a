#!/usr/bin/env python3
"""marks_rules.py - what marks promise, one function a rule; prints the rules that do not hold.

A program is a text that becomes a module, so that it is imported as real ones are. Ranges are what reaches the library's
functions, which marked.Library stands for.
"""
import asyncio
import copy
import importlib
import inspect
import os
import shutil
import sys
import tempfile
import textwrap
import threading
import warnings

import marked

import vptrace
import vptrace_marks
from vptrace_marks import MarkError

RULES = []
_number = [0]


def rule(function):
    RULES.append(function)
    return function


class Program:
    """A module of a name that nothing has used, the library that listens to it, and its marks."""

    def __init__(self, text, marks=None, before=False):
        _number[0] += 1
        self.name = "program%d" % _number[0]
        with open(self.name + ".py", "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(text))
        importlib.invalidate_caches()
        self.library = vptrace._library.loaded = marked.Library()
        if before:
            self.module = importlib.import_module(self.name)
        self.count = vptrace.mark_calls(textwrap.dedent(marks).strip().replace("M:", self.name + ":")) if marks else 0
        if not before:
            self.module = importlib.import_module(self.name)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        vptrace.unmark_calls()
        assert error[0] or self.library.depth == 0, "%d ranges are open" % self.library.depth

    @property
    def lines(self):
        """The ranges since this was last asked."""
        found, self.library.lines[:] = list(self.library.lines), []
        return found


def same(found, expected):
    assert found == expected, "found %r, expected %r" % (found, expected)


# ---- lines ----


@rule
def mistakes_say_file_line_expected_and_found():
    for line, words in (
            ("m:f", 'my.marks:2: expected MODULE:NAME, " = " and a kind, found "m:f"'),
            ("m.f = step", 'expected a module, a colon and a name, found "m.f"'),
            ("1m:f = step", 'expected a module, a colon and a name, found "1m:f"'),
            ("m:f..g = step", 'expected names with dots between them after the colon, found "f..g"'),
            ("m:f = steps", 'expected one of block, block begin, block end, context, frames, none, pass, request, stage, step, '
             'step begin, step end, found "steps"'),
            ("m:f = stage", "expected the stage's name, found nothing"),
            ("m:f = frames ready", 'expected no name for frames, found "ready"'),
            ("m:f = step frames=3", 'expected index= or timestep= or context= or closes= for step, found "frames=3"'),
            ("m:f = step end index=3", 'expected nothing more for step end, found "index=3"'),
            ("m:f = step index=", "expected a value for index=, found nothing"),
            ("m:f = step index=i index=j", 'expected index= once, found "index=j"'),
            ("m:f = step index=f(1)", "expected arguments, attributes, [items], len(), whole numbers, + - * // and "
             'comparisons as the value of index=, found "f(1)"'),
            ("m:f = step index=1.5", 'as the value of index=, found "1.5"'),
            ("m:f = step index=a[b]", 'expected a number or a name in quotes between the brackets as the value of index=, '
             'found "a[b]"'),
            ("m:f = step index=(1", 'expected an expression as the value of index=, found "(1"'),
            ("m:f = stage s closes=request", 'expected block or step after closes=, found "request"'),
            ("package a b", 'expected the name of one package, found "a b"'),
    ):
        try:
            vptrace_marks.Source("my.marks", "# one\n" + line)
        except MarkError as error:
            assert str(error).startswith("my.marks:2: ") and words in str(error), (str(error), words)
        else:
            raise AssertionError("%r was taken" % line)
    for item, words in (("diffuser", "expected auto, none, modules:N, a file or one of causvid, diffusers"),
                        ("./absent.marks", "./absent.marks: No such file or directory"), ("modules:0", "a depth from 1"),
                        ("modules", "a depth from 1")):
        try:
            vptrace.mark_calls(item)
        except ValueError as error:
            assert words in str(error), error
        else:
            raise AssertionError("%r was taken" % item)


@rule
def values_are_numbers_that_are_at_hand():
    class Tensor:
        """One that must not be read."""
        shape = (1, 16, 21)

        def __getattr__(self, name):
            raise AssertionError("a tensor's %s was asked for" % name)

        def refuse(self, *_):
            raise AssertionError("a tensor was read")

        __index__ = __int__ = __float__ = __bool__ = __add__ = __mul__ = __eq__ = __getitem__ = __sub__ = refuse

    program = """
    def f(i, x=None, *rest, n=7, **named):
        return i
    """
    for value, expected in (("i", " 3"), ("x.shape[2]", " 21"), ("4*x.shape[2]-3", " 81"), ("n", " 7"), ("i==3", " 1"),
                            ("-i+5", " 2"), ("n//2", " 3"), ("x", ""), ("x+1", ""), ("x==1", ""), ("x[0]", ""), ("y", ""),
                            ("y|x|i", " 3"), ("len(x.shape)", " 3"), ("count", " 0"), ("count|i", " 0"), ("k", " 5"),
                            ("request.i|i+1", " 4"), ("x.shape[9]|9", " 9"), ('d["a"]', " 6"), ("rest", "")):
        with Program(program, "M:f = stage s index=" + value) as p:
            same(p.module.f(3, Tensor(), 1, 2, k=5, d={"a": 6}), 3)
            same(p.lines, ["stage s" + expected])


@rule
def a_value_as_python_is_the_value_as_functions():
    from vptrace_marks import values

    class Program:
        size, none, nan, big, half, text = 3, None, float("nan"), 1 << 1100, 2.5, "3"
        sizes, table = (4, True), {"a": 6, 1: [7]}

        @property
        def fails(self):
            raise KeyError("size")

    def function(self, i, x=None, /, y=2, *rest, n=7, m, **named):  # pylint: disable=unused-argument
        pass

    arguments = values.arguments_of(inspect.signature(function))
    texts = ["i", "x", "y", "n", "m", "k", "rest", "self", "count", "request", "request.size", "request|i", "5", "-i", "-self.size",
             "i-1", "1000-i", "2*i+y//2-1", "i//0", "i==3", "i!=m", "(i<y)+(i<=y)+(i>y)+(i>=y)", "x+1", "x==x", "self.absent",
             "self.absent|k|i", "self.fails|8", "self.sizes[0]", "self.sizes[-1]", "self.sizes[2]", 'self.table["a"]',
             'self.table["b"]', "self.table[1][0]", "self.text[0]", "len(self.sizes)", "len(self)", "len(i)", "5 .real",
             "-" * 80 + "i", "+".join(["i"] * 300), "(" * 60 + "i" + ")" * 60]
    texts += ["self.%s%s" % (name, more) for name in ("none", "nan", "big", "half", "text") for more in ("", "*2", "|i", "<4")]
    calls = [((Program(), i), {"m": 1}) for i in (0, 3, True, 2.0, 2.5, "3", None, float("inf"), 1 << 70)]
    calls += [((Program(), 3, 4, 5, 6), {"n": 8, "m": 9, "k": 5}), ((Program(), 3), {"y": 4, "m": 2}), ((), {})]
    for key, absent in values.ABSENT.items():
        for text in texts:
            value, said = values.Value(text), []
            careful = values.Value(text).bind(arguments, values._TYPES.get(key, int))
            quick = values.numbers_of({key: value}, arguments, lambda key, value, reason: said.append((key, str(reason))))
            for args, kwargs in calls:
                said.clear()
                found = dict(zip(values.ABSENT, quick(args, kwargs, 11, args[0] if args else None)))
                try:
                    expected, reasons = careful(args, kwargs, 11, args[0] if args else None), []
                except values.Unknown as reason:
                    expected, reasons = absent, [(key, str(reason))]
                except (OverflowError, ValueError):
                    expected, reasons = absent, []
                where = "%s=%s of %r, %r" % (key, text[:40], args[1:], kwargs)
                assert repr(found) == repr({**values.ABSENT, key: expected}), (where, found, expected)
                assert said == reasons, (where, said, reasons)


# ---- what is wrapped ----


@rule
def functions_methods_and_their_kinds():
    with Program("""
    def plain(x): "Doubles."; return 2 * x
    class A:
        def method(self, x): return x
        @classmethod
        def of_class(cls, x): return cls, x
        @staticmethod
        def static(x): return x
        class Inner:
            def __call__(self): return 5
    class B(A):
        def method(self, x): return super().method(x)
    """, """
    M:plain = stage plain
    M:A.method = stage {class}
    M:A.of_class = stage of_class
    M:A.static = stage static
    M:A.Inner.__call__ = stage inner
    """) as p:
        m = p.module
        same((m.plain(4), m.plain.__doc__, m.plain.__name__, str(inspect.signature(m.plain))), (8, "Doubles.", "plain", "(x)"))
        a = m.A()
        same((a.method(1), copy.copy(a).method(2), m.B().method(3), m.A.of_class(1), m.B.of_class(2), m.A.static(3), a.static(4),
              m.A.Inner()()), (1, 2, 3, (m.A, 1), (m.B, 2), 3, 4, 5))
        same(p.lines, ["stage plain", "stage A", "stage A", "stage B", "stage of_class", "stage of_class", "stage static",
                       "stage static", "stage inner"])
        vptrace.unmark_calls()
        m.plain(1), a.method(1), m.A.of_class(1), m.A.static(1), m.A.Inner()()
        same(p.lines, [])
        assert "static" in vars(m.A) and isinstance(vars(m.A)["static"], staticmethod)


@rule
def modules_that_are_imported_already_and_names_taken_from_them():
    with Program("def f(): pass\n", before=True) as p:
        same(vptrace.mark_calls("nobody:knows = step"), 0)
        other = Program("from %s import f as g\n" % p.name, before=True)
        library = vptrace._library.loaded
        same(vptrace.mark_calls("%s:f = stage s" % p.name), 1)
        library.lines.clear()
        other.module.g()
        vptrace.unmark_calls()
        assert other.module.g is p.module.f and not hasattr(p.module.f, "__vptrace_marks__")


@rule
def subclasses_now_and_later():
    with Program("""
    class Base:
        made = []
        def __init_subclass__(cls, tag=None): cls.made.append((cls.__name__, tag))
    class One(Base):
        def run(self): pass
    """, "M:Base+.run = stage {class}") as p:
        class Two(p.module.One, tag=2):
            def run(self):
                super().run()

        p.module.One().run(), Two().run()
        same(p.lines, ["stage One", "stage Two"])
        same(p.module.Base.made, [("One", None), ("Two", 2)])


@rule
def a_mark_in_itself_is_one_range():
    with Program("""
    def f(n): return g(n)
    def g(n): return f(n - 1) if n else 0
    """, "M:f = step\nM:g = stage g") as p:
        p.module.f(3), p.module.f(0)
        same(p.lines, ["step 0", "  stage g", "step 1", "  stage g"])


@rule
def a_request_that_calls_itself_has_what_the_inner_call_knows():
    text = '''
    class Base:
        def __call__(self, prompt, num_frames, steps=4): return self.part(Base) if prompt == "other" else num_frames
        def part(self, cls): return cls.__call__(cls(), "inner", 99)
    class Mine(Base):
        def __call__(self, prompt, **named): return super().__call__(prompt, num_frames=33, **named)
    class Knows(Base):
        def __call__(self, prompt, num_frames): return super().__call__(prompt, num_frames + 1)
    class Never(Base):
        def __call__(self, *given): return 5
    '''
    with Program(text, "M:Base+.__call__ = request frames=num_frames facts=steps") as p:
        same((p.module.Mine()("a cat"), p.module.Knows()("a cat", 7), p.module.Mine()("other", steps=2)), (33, 8, 99))
        same(p.lines, ["request Mine frames=33", "request Knows frames=7", "request Mine frames=33"])
        same(p.library.metadata_seen, ["request.steps=4", "request.steps=4", "request.steps=2"])
        same([key for key, _ in vptrace_marks._marking.complaints()], [])
        p.module.Never()("a cat", 3)
        same(p.lines, ["request Never"])
        same([text.partition(": ")[2] for _, text in vptrace_marks._marking.complaints()],
             [p.name + ":Base+.__call__: frames=num_frames: the call has no argument num_frames"])


@rule
def exceptions_pass_and_close_what_is_open():
    with Program("""
    class Pipe:
        def run(self, fail):
            for i in range(3):
                self.forward()
                if fail == i: raise KeyError(i)
                self.end()
            return "done"
        def forward(self): pass
        def end(self): pass
    """, """
    M:Pipe.run = request
    M:Pipe.forward = step begin
    M:Pipe.forward = stage forward
    M:Pipe.end = step end
    """) as p:
        for fail in (1, None):
            try:
                same(p.module.Pipe().run(fail), "done")
            except KeyError as error:
                same(error.args, (1,))
        step = ["  step %d", "    stage forward"]
        same(p.lines, ["request Pipe"] + [line % i if "%" in line else line for i in (0, 1) for line in step] +
             ["request Pipe"] + [line % i if "%" in line else line for i in (0, 1, 2) for line in step])


@rule
def a_step_ends_with_what_began_in_it_and_in_what_it_began():
    with Program("""
    import vptrace
    def begin(): pass
    def end(): pass
    def outer(): begin(); inner(); begin()
    def inner(): end()
    def own():
        with vptrace.stage("before"):
            begin()
        begin()
        with vptrace.stage("across"):
            end()
        with vptrace.stage("after"):
            pass
    """, """
    M:begin = step begin
    M:end = step end
    M:outer = stage outer
    M:inner = stage inner
    """) as p:
        p.module.outer()
        same(p.lines, ["stage outer", "  step 0", "    stage inner", "  step 1"])
        p.module.end()  # nothing is open
        p.module.own()
        same(p.lines, ["stage before", "  step 2", "step 3", "  stage across", "stage after"])


@rule
def counts_begin_anew_in_blocks_and_requests():
    with Program("""
    class Pipe:
        frames = 24
        def run(self):
            self.step()
            for _ in range(2):
                self.block()
            self.step()
        def block(self):
            self.step(); self.step(); self.context(); self.ready()
        def step(self): pass
        def context(self): pass
        def ready(self): pass
    """, """
    M:Pipe.run = request "my pipe"
    M:Pipe.block = block frames=self.frames latents=request.frames//4
    M:Pipe.step = step
    M:Pipe.context = context
    M:Pipe.ready = frames frames=self.frames
    """) as p:
        for _ in (1, 2):
            p.module.Pipe().run()
            block = ["    step 0", "    step 1", "    context 2", "    frames %d frames=24"]
            same(p.lines, ['request my pipe', "  step 0"] + [
                line % i if "%" in line else line for i in (0, 1) for line in ["  block %d frames=24 latents=6"] + block] +
                 ["  step 3"])


@rule
def generators_and_coroutines_have_a_range_for_each_stretch():
    with Program("""
    import asyncio
    log = []
    def gen(n):
        for i in range(n):
            got = yield i
            log.append(got)
        return "end"
    async def co():
        await asyncio.sleep(0)
        return 3
    async def agen(n):
        for i in range(n):
            await asyncio.sleep(0)
            yield i
    def whole(): yield
    """, "M:gen = block\nM:co = stage co\nM:agen = stage agen\nM:whole = request") as p:
        m = p.module
        assert inspect.isgeneratorfunction(m.gen) and inspect.iscoroutinefunction(m.co) and inspect.isasyncgenfunction(m.agen)
        g = m.gen(2)
        same((next(g), p.library.depth, g.send("a"), p.library.depth), (0, 0, 1, 0))
        try:
            g.send("b")
        except StopIteration as stop:
            same(stop.value, "end")
        same((m.log, p.lines), (["a", "b"], ["block 0", "block 1", "block 2"]))
        g = m.gen(9)
        next(g)
        try:
            g.throw(KeyError("in"))
        except KeyError:
            pass
        g = m.gen(9)
        next(g)
        g.close()
        same(p.lines, ["block 3", "block 4", "block 5"])
        same(asyncio.run(m.co()), 3)
        same(p.lines, ["stage co"] * 2)

        async def collect():
            return [i async for i in m.agen(2)]

        same(asyncio.run(collect()), [0, 1])
        assert p.lines == ["stage agen"] * 5 and p.library.depth == 0
        same(list(m.whole()), [None])
        same(p.lines, [])
        problem = [text for _, text in vptrace_marks._marking.complaints() if "whole" in text]
        assert len(problem) == 1 and "a generator or coroutine as a request" in problem[0], problem


@rule
def threads_have_their_own_ranges():
    class PerThread(marked.Library):
        """Each thread's own depth and lines."""

        def __init__(self):
            self.local = threading.local()
            self.metadata_seen = []

        lines = property(lambda self: self.local.__dict__.setdefault("lines", []))
        depth = property(lambda self: self.local.__dict__.get("depth", 0), lambda self, n: setattr(self.local, "depth", n))

    program = Program("""
    import time
    class Pipe:
        def run(self):
            for _ in range(50):
                self.forward(); time.sleep(0); self.end()
        def forward(self): pass
        def end(self): pass
    """)
    library = vptrace._library.loaded = PerThread()
    vptrace.mark_calls("%s:Pipe.run = request\n%s:Pipe.forward = step begin\n%s:Pipe.end = step end" % ((program.name,) * 3))
    found = []

    def run():
        program.module.Pipe().run()
        found.append((list(library.lines), library.depth))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    vptrace.unmark_calls()
    same(found, [(["request Pipe"] + ["  step %d" % i for i in range(50)], 0)] * 4)


@rule
def a_forked_child_has_nothing_open():
    text = '''
    import os
    def begin(): pass
    def end(): pass
    def stage(): pass
    def request(child):
        begin()
        if os.fork():
            return os.wait()[1]
        del library.lines[:]
        library.depth = 0
        request(None) if child is None else None
        stage(), begin(), end()
        return child
    '''
    marks = "M:request = request frames=7\nM:stage = stage s\nM:begin = step begin\nM:end = step end"
    with Program(text, marks) as p:
        p.module.library, parent = p.library, os.getpid()
        p.module.begin()
        status = p.module.request("child")
        if os.getpid() != parent:  # this returns through calls of the parent
            p.module.begin(), p.module.end()
            try:
                same(p.library.lines, ["stage s", "step 0", "step 1"])
                os._exit(0 if status == "child" else 1)
            except BaseException as error:  # pylint: disable=broad-except
                print(error)
                os._exit(2)
        same(status, 0)
        p.module.end()


@rule
def what_cannot_be_marked_says_so_and_the_program_runs_on():
    with Program("""
    import functools
    class A:
        size = property(lambda self: 3)
        part = functools.partial(int, base=2)
    x = 5
    @functools.lru_cache(None)
    def cached(): return 6
    """, "M:A.size = step\nM:A.part = step\nM:x = step\nM:A = step\nM:absent = step\nnowhere.at_all:f = step\n"
                 "M:cached = step") as p:
        a = p.module.A()
        same((a.size, a.part("11"), p.module.x, p.module.cached(), p.module.cached.cache_info().misses), (3, 3, 5, 6, 1))
        problems = [text.replace(p.name, "M") for _, text in vptrace_marks._marking.complaints()]
        same(problems, [
            "mark_calls():1: M:A.size: size: expected a function, found a property",
            "mark_calls():2: M:A.part: part: expected a function, found a partial",
            "mark_calls():3: M:x: x: expected a function, found a int",
            "mark_calls():4: M:A: A is a class: name its method, such as A.__call__",
            "mark_calls():5: M:absent: there is no such function in " + p.module.__file__.replace(p.name, "M"),
            "mark_calls():6: nowhere.at_all:f: the module was never imported",
            "mark_calls():7: M:cached: cached: expected a function, found a _lru_cache_wrapper"])


@rule
def none_excludes_and_the_first_of_a_kind_holds():
    with Program("""
    class A:
        def f(self): pass
        def g(self): pass
    """, "M:A.g = none\nM:A.* = stage first\nM:*.f = stage second\nM:A.f = step") as p:
        p.module.A().f(), p.module.A().g()
        same(p.lines, ["stage first", "  step 0"])
        same(list(vptrace_marks._marking.complaints())[-1][1],
             "mark_calls():3: %s:*.f: mark_calls():2 comes first, and a function has one mark of each kind" % p.name)
    with Program("def f(): pass\ndef g(): pass", "M:f = step\nM:f = step\nM:f = stage s\nM:g = none\nM:g = step") as p:
        p.module.f(), p.module.g()
        same(p.lines, ["step 0", "  stage s"])
        same([text.partition(": ")[2].partition(": ")[2] for _, text in vptrace_marks._marking.complaints()],
             ["mark_calls():1 comes first, and a function has one mark of each kind",
              "mark_calls():4 comes first, and a function has one mark of each kind, none after none"])


# ---- torch ----


class FakeTorch:
    """torch.nn, its compiler and its memory, as far as marks know of them."""

    def __init__(self):
        import types

        self.names = {}
        for name in ("torch", "torch.nn", "torch.nn.modules", "torch.nn.modules.module", "torch.compiler", "torch.cuda"):
            self.names[name] = types.ModuleType(name)
        torch = self.names["torch"]

        class Module:
            def __call__(self, *args):
                return self.forward(*args)

            def named_modules(self):
                yield "", self
                for name, item in vars(self).items():
                    if isinstance(item, Module):
                        for inner, module in item.named_modules():
                            yield name + ("." + inner if inner else ""), module

        self.names["torch.nn"].Module = self.names["torch.nn.modules.module"].Module = Module
        torch.nn, torch.compiler, torch.cuda = (self.names["torch." + n] for n in ("nn", "compiler", "cuda"))
        self.compiling = False
        torch.compiler.is_compiling = lambda: self.compiling
        self.asked = 0
        torch.cuda.is_initialized = lambda: True

        used = {"current": 100, "peak": 300}

        def hold(n):
            used.update(current=n, peak=max(n, used["peak"]))

        def stats():
            self.asked += 1
            return {"allocated_bytes": {"all": dict(used)}, "reserved_bytes": {"all": {"current": 2000}}}

        torch.hold = hold

        torch.cuda.memory_stats_as_nested_dict = stats
        torch.cuda.synchronize = self.refuse

    def refuse(self, *_):
        raise AssertionError("the GPU was waited for")

    def __enter__(self):
        sys.modules.update(self.names)
        return self

    def __exit__(self, *error):
        for name in self.names:
            sys.modules.pop(name, None)
        vptrace_marks.calls.tracing = vptrace_marks.calls._never


MODEL = """
import torch.nn
class Layer(torch.nn.Module):
    def forward(self, x): return x + 1
class Model(torch.nn.Module):
    def __init__(self): self.layer, self.other = Layer(), Layer()
    def forward(self, x): return self.other(self.layer(x))
class Special(Model):
    def forward(self, x): return super().forward(x)
"""


@rule
def forward_of_a_module_is_marked_around_its_call():
    with FakeTorch() as torch, Program(MODEL, "M:Model.forward = stage model") as p:
        model = p.module.Model()
        model.forward = lambda x: 7  # as wrappers of libraries do
        same((model(1), p.module.Special()(1), model.forward(0)), (7, 3, 7))
        same(p.lines, ["stage model", "stage model"])
        torch.compiling = True
        same((p.module.Model()(1), p.lines), (3, []))
        assert "__call__" in vars(p.module.Model)
        vptrace.unmark_calls()
        assert "__call__" not in vars(p.module.Model)


@rule
def forward_that_is_called_by_its_name_says_what_to_write():
    with FakeTorch(), Program(MODEL, "M:Model.forward = stage model\nM:Layer.forward! = stage layer") as p:
        same((p.module.Model().forward(1), p.lines), (3, ["stage layer"] * 2))
        same([text for _, text in vptrace_marks._marking.complaints()],
             ["mark_calls():1: %s:Model.forward was never called as a module; if the program calls forward() itself, write "
              "%s:Model.forward!" % (p.name, p.name)])
        vptrace._capture.before_stop[-1]()
        same(p.library.metadata_seen, ["marks.unused=mark_calls():1: %s:Model.forward was never called as a module; if the program "
                                       "calls forward() itself, write %s:Model.forward!" % (p.name, p.name)])


@rule
def forward_as_the_message_says():
    """What the message says to write is enough, with subclasses and patterns too."""
    for target, called in (("Model+.forward", "Special"), ("Mod*(Module).forward", "Model"), ("Model.forward", "Model")):
        with FakeTorch(), Program(MODEL, "M:%s = stage model" % target) as p:
            getattr(p.module, called)().forward(1)
            (_, text), = vptrace_marks._marking.complaints()
            assert text.endswith("write %s:%s!" % (p.name, target)), text
            vptrace.unmark_calls()
            vptrace.mark_calls("%s = stage model" % text.rpartition(" write ")[2])
            same((getattr(p.module, called)().forward(1), p.lines[0]), (3, "stage model"))
            same(list(vptrace_marks._marking.complaints()), [])


@rule
def forward_with_a_mark_of_its_own():
    with FakeTorch(), Program(MODEL, "M:Model.forward! = stage model") as p:
        same((p.module.Model().forward(1), p.module.Model()(1), p.lines), (3, 3, ["stage model"] * 2))


@rule
def modules_down_to_a_depth():
    with FakeTorch() as torch:
        for depth, expected in ((1, ["range Special"]), (2, ["range Special", "  range layer", "  range other"])):
            with Program(MODEL, before=True) as p:
                original = p.module.torch.nn.Module.__call__
                vptrace.mark_calls("modules:%d" % depth)
                same((p.module.Special()(1), p.lines), (3, expected))
                torch.compiling = True
                same((p.module.Special()(1), p.lines), (3, []))
                torch.compiling = False
                vptrace.unmark_calls()
                assert p.module.torch.nn.Module.__call__ is original


ODD_MODELS = MODEL + """
class Unhashable(Model):
    __hash__ = None
class Unnamed(Model):
    def named_modules(self): raise RuntimeError("not now")
"""


@rule
def modules_that_cannot_be_listed_run_all_the_same():
    with FakeTorch(), Program(ODD_MODELS, before=True) as p:
        vptrace.mark_calls("modules:2")
        for name in ("Unhashable", "Unnamed"):
            same((getattr(p.module, name)()(1), p.lines), (3, ["range " + name, "  range Layer", "  range Layer"]))
        vptrace.unmark_calls()


@rule
def a_call_of_torch_that_is_replaced_later_is_called():
    with FakeTorch(), Program(MODEL, "M:Model.forward = stage model") as p:
        vptrace.mark_calls("modules:1")
        same((p.module.Model()(1), p.lines), (3, ["stage model", "  range Model"]))


@rule
def memory_is_that_of_the_stage_without_a_wait():
    text = "import torch\n" + "".join("def %s(*held):\n    for n in held: torch.hold(n)\n" % name for name in "fg")
    with FakeTorch() as torch, Program(text, "M:f = stage f\nM:g = stage g closes=step") as p:
        p.library.counter = lambda name, value, unit: p.library.lines.append(
            "%s%s %d" % ("in it " * p.library.depth, name.decode()[len("memory."):], value)) or 0
        vptrace._torch_memory._memory_next.clear()

        def sampled(run, *held):
            run(*held)
            return [line for line in p.lines if "reserved" not in line]

        before = ["allocated 100", "peak 100"]
        same(sampled(p.module.f, 500, 250), before + ["stage f", "in it allocated 250", "in it peak 500"])  # it rose in it
        before = ["allocated 250", "peak 250"]
        # it did not: at least what is known
        same(sampled(p.module.g, 400, 150), before + ["stage g", "in it allocated 150", "in it peak 250"])
        same(sampled(p.module.f, 900), ["stage f"])  # too soon after the last one of this name
        vptrace._torch_memory._memory_next.clear()
        before = ["allocated 900", "peak 900"]
        with vptrace.stage("own"):
            torch.names["torch"].hold(1000)
        same([line for line in p.lines if "reserved" not in line],
             before + ["stage own", "in it allocated 1000", "in it peak 1000"])
        asked = torch.asked
        with vptrace.step(0), vptrace.range("r"):
            pass
        same(torch.asked, asked)
        for _ in range(100):
            p.module.f(1)
        assert torch.asked - asked <= 20, torch.asked
        del sys.modules["torch.cuda"]
        with vptrace.stage("own"):
            pass


# ---- the module itself ----


@rule
def decorators_take_functions_of_the_arguments():
    with Program("pass\n") as p:
        @vptrace.block(index=lambda i, **k: i, frames=12, latents=lambda i, n: n // 4)
        def block(i, n):
            "Makes one."
            return i + n

        @vptrace.step(index=lambda i: i, timestep=lambda i: 1000 - i)
        def step(i):
            return i

        @vptrace.request(lambda prompt, **k: prompt, frames=lambda prompt, frames: frames)
        def request(prompt, frames):
            return block(2, n=16) + step(3)

        same((request("a cat", frames=81), block.__doc__), (21, "Makes one."))
        same(p.lines, ["request a cat frames=81", "  block 2 frames=12 latents=4", "  step 3 timestep=997"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with vptrace.block(index=lambda i: i) as entered:  # a with-block has none
                same(type(entered).__name__, "_Asking")


@rule
def ranges_without_an_index_count_by_themselves():
    with Program("pass\n") as p:
        @vptrace.step(timestep=lambda t: t)
        def denoise(t):
            pass

        @vptrace.context_pass()
        def remember():
            pass

        @vptrace.block(latents=3)
        def chunk():
            denoise(900), denoise(500), remember()

        @vptrace.request("video")
        def generate(chunks, inner=None):
            for _ in range(chunks):
                chunk()
            inner and inner()

        generate(2)
        generate(1, inner=lambda: generate(0))

        def alone():
            with vptrace.step(7):
                remember()

        thread = threading.Thread(target=alone)
        thread.start(), thread.join()
        steps = ["    step 0 timestep=900", "    step 1 timestep=500", "    context 2"]
        same(p.lines, ["request video", "  block 0 latents=3"] + steps + ["  block 1 latents=3"] + steps +
             ["request video", "  block 0 latents=3"] + steps + ["  request video", "step 7", "  context 1"])


@rule
def the_compiler_leaves_alone_whatever_runs_in_a_mark():
    import types

    from vptrace_marks import calls

    skipped, run = set(), set()
    name = "torch._dynamo.eval_frame"
    text = "def early(i): pass\ndef late(i): pass\n"
    with Program(text, "M:early = step index=i timestep=1000-i") as p:
        sys.modules[name] = types.SimpleNamespace(skip_code=skipped.add)
        try:
            calls.compiler_is_there()
            vptrace.mark_calls("%s:late = step index=i+1 timestep=i" % p.name)
        finally:
            del sys.modules[name]
            calls._skip = None
        sys.setprofile(lambda frame, event, arg: run.add(frame.f_code) if event == "call" else None)
        p.module.early(1), p.module.late(2)
        sys.setprofile(None)
        same(p.lines, ["step 1 timestep=999", "step 3 timestep=2"])
    ours = {code for code in run if os.sep + "vptrace_marks" + os.sep in code.co_filename}
    same((len([code for code in ours if code.co_name == "numbers"]), ours - skipped), (2, set()))


@rule
def without_a_library_nothing_is_marked():
    program = Program("def f(): return 4\n")
    vptrace._library.loaded = None
    function = program.module.f
    same(vptrace.mark_calls("%s:f = step" % program.name), 0)
    assert program.module.f is function
    vptrace._library.loaded = marked.Library()


def main():
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    sys.path.insert(0, folder)
    failed = 0
    for function, marked.Library.builtins in [(rule, there) for there in (True, False) for rule in RULES]:
        try:
            function()
        except Exception as error:  # pylint: disable=broad-except
            import traceback

            failed += 1
            vptrace.unmark_calls()
            print("FAIL: %s, builtins %s: %s" % (function.__name__.replace("_", " "), marked.Library.builtins, error))
            traceback.print_exc()
    shutil.rmtree(folder)
    print("%d rules" % len(RULES))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
