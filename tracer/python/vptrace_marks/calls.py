"""Functions with marks around them.

A wrapper has nothing to do with tensors, keeps the signature, and lets exceptions pass. Where torch.compile traces the
program, `tracing()` is a constant that is true, so all that is left of a wrapper there is the call of what it wraps. To
have the range around compiled code as well, nothing here is ever compiled by itself: see compiler_is_there().

A generator or coroutine is open only while it runs. Each stretch from one yield or await to the next has a range of its
own, so that none stays open while others run on the thread.
"""

import functools
import inspect
import sys
import types

from . import ranges, request_facts, shapes
from .lines import KINDS
from .values import Unknown, arguments_of, number, numbers_of


def _never():
    return False


tracing = _never  # pylint: disable=invalid-name  # becomes torch.compiler.is_compiling


def torch_is_there():
    """Call it once torch is imported; before that it does nothing."""
    global tracing  # pylint: disable=global-statement
    torch = sys.modules.get("torch")
    tracing = getattr(getattr(torch, "compiler", None), "is_compiling", tracing)


_OWN = ("vptrace", "vptrace_marks", "_own_vptrace", "_own_vptrace_marks")  # see vptrace/_own.py
_made = []  # the code of functions that are no module's
_skip = None  # pylint: disable=invalid-name


def compiler_is_there():
    """Call it once torch._dynamo.eval_frame is imported: Dynamo then runs our own functions as they are, and compiles
    what wrappers call. Before that it does nothing."""
    global _skip  # pylint: disable=global-statement
    _skip = skip = getattr(sys.modules.get("torch._dynamo.eval_frame"), "skip_code", None)
    if skip:
        for code in _made:
            skip(code)
        for name in list(sys.modules):
            if name.partition(".")[0] in _OWN:
                _skip_all(skip, vars(sys.modules[name]), name)


def _numbers_of(line, arguments):
    """numbers_of() the line's values, which reports what is unknown as the line's problem."""

    def tell(key, value, reason):
        line.problem = line.problem or "%s=%s: %s" % (key, value.text, reason)

    numbers = numbers_of(line.values, arguments, tell)
    _made.append(numbers.__code__)
    if _skip:
        _skip(numbers.__code__)
    return numbers


def _skip_all(skip, names, module):
    """Applies `skip` to the code of functions and methods, and of those that they make."""
    for item in list(names.values()):
        if getattr(item, "__module__", None) != module:
            continue
        if isinstance(item, type):
            _skip_all(skip, vars(item), module)
        item = getattr(item, "__func__", getattr(item, "fget", item))
        todo = [getattr(item, "__code__", None)]
        while todo:
            code = todo.pop()
            if isinstance(code, types.CodeType):
                skip(code)
                todo.extend(code.co_consts)


FAILED = object()  # the result of a call that raised
_OF_BLOCKS = ("block", "block begin", "block end", "pass")  # whose `count` is that of blocks
_COUNTED = (ranges.BLOCK, ranges.STEP, ranges.CONTEXT)


class Marks:
    """The marks of one callable, in the order in which they act."""

    def __init__(self, recorder, lines, signature):
        self.recorder, self.lines = recorder, lines
        arguments = arguments_of(signature) if signature else {}
        self._values = {line: _numbers_of(line, arguments) for line in lines}
        self._named = {line: [(name, value, value.bind(arguments, number)) for name, value in line.facts] for line in lines}
        self._asked = request_facts.Asked(arguments)
        kinds = {kind: [line for line in lines if line.kind == kind] for kind in KINDS}
        self.begins = [(line, kind) for kind in ("block", "step") for line in kinds[kind + " begin"]]
        self.around = [(line, self._pusher(line)) for line in lines
                       if line.kind in ("request", "stage", "block", "step", "context")]
        self.ends = [(line, kind) for kind in ("step", "block") for line in kinds[kind + " end"]]
        self.frames = kinds["frames"]
        self.passes = kinds["pass"]
        self._parameters = [name for name, (position, _) in arguments.items() if position is not None]
        self.closes = [kind for line in lines for kind in line.closes]
        self.samples = bool(kinds["stage"] or kinds["request"])
        self._names = {}

    def _pusher(self, line):
        """Opens the line's range, for anything but a request; never fails."""
        if line.kind == "request":
            return None
        if line.fixed and not line.values:
            return self.recorder.pusher(line.fixed, ranges.kind_of(line))
        kind = ranges.kind_of(line)
        if line.fixed and kind in (ranges.STEP, ranges.CONTEXT) and "context" not in line.values:
            open_range = self.recorder.step_pusher(line.fixed, kind, self._values[line])
        else:
            open_range = functools.partial(self._open, line, kind)

        def push(thread, args, kwargs):
            try:
                open_range(thread, args, kwargs)
            except Exception as error:  # pylint: disable=broad-except
                line.problem = line.problem or "%s: %s" % (type(error).__name__, error)

        return push

    # ---- values ----

    def _numbers(self, line, thread, args, kwargs):
        count = thread.blocks if line.kind in _OF_BLOCKS else thread.steps
        return self._values[line](args, kwargs, count, thread.request)

    def _name(self, line, args):
        """A request is called after its class unless the line names it; "{class}" in a name is that class."""
        owner = args[0] if args else None
        owner = owner if isinstance(owner, type) else type(owner)
        known = self._names.get((line, owner))
        if known is None:
            known = (line.name or "{class}").replace("{class}", owner.__name__ if args else line.names[-1])
            known = self._names[line, owner] = known.encode("utf-8", "replace")
        return known

    def _facts(self, line, args, kwargs, known):
        """Tells the facts that are not `known`, {name: value}, and adds them to it: those of the line, then those that its
        arguments mean. Returns the names of the line's that are unknown."""
        unknown, before = [], set(known)
        for name, value, find in self._named[line]:
            try:
                known.setdefault(request_facts.name_of(name), find(args, kwargs, 0, None))
            except Unknown as reason:
                if request_facts.name_of(name) not in known:
                    line.problem = line.problem or "facts=%s: %s" % (value.text, reason)
                    unknown.append(name)
        for name, value in self._asked.facts(args, kwargs).items():
            known.setdefault(name, value)
        for name in known:
            if name not in before and name != "frames":
                self.recorder.fact(name, known[name])
        return unknown

    def _fill(self, line, thread, args, kwargs):
        """A request calls itself: a method that takes **named calls that of its base, which knows more."""
        if line.kind != "request" or not args or args[0] is not thread.request or not thread.unknown:
            return
        _, before = thread.unknown
        told, line.problem = line.problem, None
        index, frames, latents = self._numbers(line, thread, args, kwargs)[:3]
        self.recorder.fill(ranges.REQUEST, index, -1, latents)
        if thread.frames < 0:
            thread.frames = frames
        thread.unknown = self._facts(line, args, kwargs, thread.facts), before
        line.problem = before or (told and line.problem)

    def _made(self, thread, result):
        """At the end of a request: tells what it made, or that it failed. What it was asked for is told again, since a recording
        may have begun in it, or a flight recorder may have no more of its beginning."""
        fact, known = self.recorder.fact, thread.facts
        for name, value in known.items():
            if name != "frames":
                fact(name, value)
        if result is FAILED:
            fact("error", type(sys.exc_info()[1]).__name__)
            return
        made = request_facts.made(result, known)
        if made:
            fact("batch", made.batch)
            for name in ("height", "width"):
                if getattr(made, name) and getattr(made, name) != known.get(name):
                    fact(name, getattr(made, name))
            if made.frames and known.get("frames"):
                fact("frames_asked", known["frames"] * made.batch)
        frames = made.frames or -1 if made else thread.frames
        if frames > 0 and not request_facts.is_latent(known):
            self.recorder.fill(ranges.REQUEST, -1, frames, -1)

    # ---- a call ----

    def enter(self, args, kwargs):
        """Opens the ranges, and returns what leave() needs; None if that failed, which must not affect the program."""
        try:
            recorder = self.recorder
            thread = recorder.thread()
            inside, acting, saved = thread.inside, [], None
            for kind in self.closes:
                if not (kind == "block" and recorder.passes.is_in_block(thread, sys._getframe(2))):  # pylint: disable=protected-access
                    recorder.end(thread, kind)
            for line, kind in self.begins:
                line.called = True
                if line.values:
                    if line in inside:  # a method calls that of its base
                        continue
                    inside.add(line)
                    acting.append(line)
                    count = thread.blocks if kind == "block" else thread.steps
                    recorder.begin(thread, kind, self._values[line](args, kwargs, count, thread.request))
                elif kind not in thread.begun:
                    recorder.begin(thread, kind)
            context = None
            for line in self.passes:
                if line not in inside:
                    context = self._pass(line, thread, args, kwargs, sys._getframe(2))  # pylint: disable=protected-access
                    inside.add(line)
                    acting.append(line)
            began = None
            if self.samples and any(line not in inside for line, _ in self.around):
                began = recorder.memory_begins(self, args)
            depth = len(thread.stack)
            if context:
                recorder.push(thread, ranges.name_of(ranges.CONTEXT), ranges.CONTEXT, recorder.count(thread, ranges.CONTEXT, None))
            for line, push in self.around:
                if line in inside:
                    self._fill(line, thread, args, kwargs)
                    continue
                inside.add(line)
                acting.append(line)
                line.called = True
                if push:
                    push(thread, args, kwargs)
                else:
                    saved = self._open(line, ranges.REQUEST, thread, args, kwargs) or saved
            return thread, depth, acting, saved, began
        except Exception as error:  # pylint: disable=broad-except
            self._failed(error)
            return None

    def _pass(self, line, thread, args, kwargs, frame):
        line.called = True
        try:
            return self.recorder.passes.enter(
                thread, line, self._numbers(line, thread, args, kwargs), self._parameters, args, kwargs, frame)
        except Exception as error:  # pylint: disable=broad-except  # the call keeps its other ranges
            line.problem = line.problem or "%s: %s" % (type(error).__name__, error)
            return False

    def _failed(self, error):
        for line in self.lines:
            line.problem = line.problem or "%s: %s" % (type(error).__name__, error)

    def _open(self, line, kind, thread, args, kwargs):
        name, before = line.fixed or self._name(line, args), line.problem
        index, frames, latents, timestep, context, _ = self._numbers(line, thread, args, kwargs)
        if context:
            kind, name = ranges.CONTEXT, ranges.name_of(ranges.CONTEXT)
        if kind in _COUNTED:
            index = self.recorder.count(thread, kind, index)
        saved = None
        if kind == ranges.REQUEST:
            saved = self.recorder.enter_request(thread, args[0] if args else None, sys._getframe(2))  # pylint: disable=protected-access
            thread.frames, frames = frames, -1  # those that were made are known at its end
        self.recorder.push(thread, name, kind, -1 if index is None else index, frames, latents, timestep)
        if kind == ranges.REQUEST:
            thread.unknown = self._facts(line, args, kwargs, thread.facts), before
        return saved

    def leave(self, entered, args, kwargs, result=None):
        """Closes what enter() opened and whatever was left open in it, then what ends here. `result` of the call, or FAILED.
        Never fails."""
        try:
            thread, depth, acting, saved, began = entered
            recorder = self.recorder
            if began:
                recorder.memory_ends(began)
            if saved:
                self._made(thread, result)
            if len(thread.stack) > depth or thread.over:
                recorder.pop_to(thread, depth)
            for line in acting:
                thread.inside.discard(line)
            if saved:
                recorder.leave_request(thread, saved)
                recorder.pop_to(thread, depth)
            for line in self.frames:
                line.called = True
                index, frames = self._numbers(line, thread, args, kwargs)[:2]
                recorder.frames(thread.blocks - 1 if index is None else index, frames)
            for line, kind in self.ends:
                line.called = True
                if kind in thread.begun and not (kind == "step" and recorder.passes.goes_on(thread, sys._getframe(2))):  # pylint: disable=protected-access
                    recorder.end(thread, kind)
        except Exception as error:  # pylint: disable=broad-except
            self._failed(error)


# ---- wrappers ----


def _plain(function, marks):
    enter, leave = marks.enter, marks.leave

    def marked(*args, **kwargs):
        if tracing():
            return function(*args, **kwargs)
        entered, result = enter(args, kwargs), FAILED
        try:
            result = function(*args, **kwargs)
            return result
        finally:
            if entered:
                leave(entered, args, kwargs, result)

    return marked


def _lone(function, marks):
    """The same for one line that only opens a range, at less cost."""
    recorder = marks.recorder
    (line, push), = marks.around
    local, range_pop, pop_to = recorder.local, recorder.range_pop, recorder.pop_to
    begins, ends = (recorder.memory_begins, recorder.memory_ends) if marks.samples else (None, None)

    def marked(*args, **kwargs):
        if tracing():
            return function(*args, **kwargs)
        try:
            thread = local.thread
        except AttributeError:
            thread = recorder.thread()
        inside = thread.inside
        if line in inside:
            return function(*args, **kwargs)
        line.called = True
        inside.add(line)
        stack = thread.stack
        depth = len(stack)
        began = begins(marks, args) if begins else None
        push(thread, args, kwargs)
        try:
            return function(*args, **kwargs)
        finally:
            if began:
                ends(began)
            if len(stack) - 1 == depth and not stack[depth] and not thread.over:  # what pop_to() would do
                stack.pop()
                range_pop()
            else:
                pop_to(thread, depth)
            inside.discard(line)

    return marked


def _is_lone(marks):
    return len(marks.lines) == 1 and not marks.closes and bool(marks.around) and marks.around[0][1] is not None


def wrap(function, recorder, lines, signature_of=None):
    """The function with marks, which all hold for it. ValueError: why that cannot be."""
    try:
        signature = inspect.signature(signature_of or function)
    except (TypeError, ValueError):
        signature = None
    marks = Marks(recorder, lines, signature)
    make = recorder.suspending.maker_of(function) if recorder.suspending else None
    if make and any(line.kind == "request" for line in lines):
        raise ValueError("a generator or coroutine as a request: mark the function that runs it to its end")
    if not make:
        make = _lone if _is_lone(marks) else _plain
    is_shaped = recorder.annotate and make in (_lone, _plain)
    wrapper = make(shapes.around(function, recorder, lambda: tracing()) if is_shaped else function, marks)
    functools.update_wrapper(wrapper, function)
    wrapper.__vptrace_marks__ = function, lines
    return wrapper
