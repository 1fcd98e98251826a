"""The loops of a program around a call, as the code of its functions shows them.

A loop is where the code jumps back. `for` and `while` at any depth, and loops that comprehensions make, are found alike:

    offset  120  FOR_ITER            <- first: each turn begins here
            122  STORE_FAST chunk    <- the targets of a `for`
            ...
            260  CALL                <- the call: a frame's f_lasti says which loops are around it
            ...
            300  JUMP_BACKWARD 120   <- last

Code is read once. Which turn a loop is in shows in the values of its targets; for a `while`, in those of the whole numbers that its
body sets. Values are compared as objects: a tensor is never read.
"""

import _thread
import dis
import os
import sys
import weakref

_JUMPS = frozenset(dis.hasjrel) | frozenset(dis.hasjabs)
_BACK = frozenset(dis.opmap[name] for name in dis.opmap
                  if name in ("FOR_ITER", "JUMP_ABSOLUTE", "JUMP_BACKWARD") or name.startswith("POP_JUMP"))
_POP, _RETURN, _CACHE = dis.opmap["POP_TOP"], dis.opmap["RETURN_VALUE"], dis.opmap.get("CACHE", -1)
_COPIES = sys.version_info < (3, 13)  # f_locals of a function is a copy, which the frame keeps and locals() returns
_LIBRARY = os.path.join(os.path.dirname(os.__file__), "")
_FAST = 0x1  # CO_OPTIMIZED: the locals of a function, not of a module
_OF_MODULES = ("forward", "_call_impl", "_wrapped_call_impl", "inner", "marked", "inherited")
_MORE = ("EXTENDED_ARG", "NOP", "CACHE", "UNPACK_SEQUENCE", "UNPACK_EX", "NOT_TAKEN")


class Loop:  # pylint: disable=too-few-public-methods
    """One loop of a code object. `words`: the parts of the names in its head, in small letters; `inner`: the loops in it."""

    __slots__ = ("code", "first", "last", "line", "targets", "names", "words", "inner", "is_for", "makes", "steps")

    def __init__(self, code, first, last):
        self.code, self.first, self.last = code, first, last
        self.line, self.targets, self.names, self.words, self.inner, self.is_for = 0, (), (), frozenset(), (), False
        self.makes = False  # the loop of a comprehension
        self.steps = ()  # where it uses the attribute `step` of something, such as a scheduler

    @property
    def counts(self):
        """Whether one of its targets differs in each turn."""
        return self.is_for and not {"range", "enumerate"}.isdisjoint(self.names)

    def words_in(self, frame):
        """Its words. Of what a `while` sets, only numbers count its turns."""
        return self.words if self.is_for else words_of(_values(self, frame))

    def __repr__(self):
        return "%s:%d" % (self.code.co_filename.replace("\\", "/").rpartition("/")[2], self.line)


_known = {}  # id of code: the code, which it keeps alive, its loops, and whether a copy of its locals may be emptied


def loops_of(code):
    """The loops of a code object, those around others first."""
    known = _known.get(id(code))
    if known is None:
        if _BACK.intersection(code.co_code[::2]) and not _is_of_python(code):
            done = _thread.allocate_lock()
            done.acquire()
            _thread.start_new_thread(_remember, (code, done))
            done.acquire()
            known = _known[id(code)]
        else:
            known = _known[id(code)] = code, (), False
    return known[1]


def _is_of_python(code):
    """Whether it is in Python's own library: its loops, such as that of asyncio, are none of a pipeline."""
    name = code.co_filename
    return name.startswith("<frozen") or name.startswith(_LIBRARY) and "-packages" not in name[len(_LIBRARY):].split(os.sep)[0]


def _remember(code, done):
    """Reads the code, on a thread of its own: whatever a compiler, a debugger or a profiler does with Python on the program's, it
    does not do with the module dis."""
    try:
        _known[id(code)] = (code, *_read(code))
    except Exception:  # pylint: disable=broad-except  # code that no compiler of Python made
        _known[id(code)] = code, (), False
    finally:
        done.release()


def around(frame):
    """The loops of the frame's own code that it is in, outermost first."""
    found, at = loops_of(frame.f_code), frame.f_lasti
    return [loop for loop in found if loop.first <= at <= loop.last] if found else found


def locals_of(frame, names):
    """The values of these names in the frame, which has loops; those that have none are left out."""
    known = frame.f_locals
    found = {name: known[name] for name in names if name in known}
    if _COPIES and _known[id(frame.f_code)][2]:
        known.clear()  # else the frame would keep what its function has already given up
    return found


def words_of(names):
    """The parts of names: "num_latentChunks2" has num, latent and chunks."""
    words = set()
    for name in names:
        text, before = "", ""
        for c in name:
            text += ("_" if before.islower() and c.isupper() else "") + (c.lower() if c.isalpha() else "_")
            before = c
        words.update(text.split("_"))
    return frozenset(words)


def wrappers(frame):
    """The frames of modules that wrap the one which is called from this frame: their forward()."""
    while frame is not None and frame.f_code.co_name in _OF_MODULES and not around(frame):
        if frame.f_code.co_name == "forward":
            yield frame
        frame = frame.f_back


def is_unused(frame):
    """Whether nobody uses what the call returns that the frame is in. What wraps a module passes its result on."""
    while frame is not None:
        code, at = frame.f_code.co_code, frame.f_lasti + 2
        while at < len(code) and code[at] == _CACHE:
            at += 2
        if at >= len(code):
            return False
        if code[at] != _RETURN and (frame.f_code.co_name not in _OF_MODULES or around(frame)):
            return code[at] == _POP
        frame = frame.f_back
    return False


# ---- turns ----


def _kept(value):
    """What identifies a value later, without keeping a large one alive."""
    if value is None or isinstance(value, (int, float, str)):
        return value
    try:
        return weakref.ref(value)
    except TypeError:
        return id(value)


def _is_kept(kept, value):
    if isinstance(kept, weakref.ref):
        return kept() is value
    return kept == _kept(value)


class Turn:  # pylint: disable=too-few-public-methods
    """The turn that a loop of a frame is in. `shows`: whether its targets tell one turn from the next."""

    __slots__ = ("loop", "frame", "shows", "_values")

    def __init__(self, loop, frame):
        self.loop, self.frame = loop, id(frame)
        self._values = {name: _kept(value) for name, value in _values(loop, frame).items()}
        self.shows = bool(self._values)

    def is_now(self, loop, frame):
        """Whether the loop is still in this turn, as far as its targets show."""
        if loop is not self.loop or id(frame) != self.frame:
            return False
        values = _values(loop, frame)
        return len(values) == len(self._values) and all(
            name in self._values and _is_kept(self._values[name], value) for name, value in values.items())

    def moved(self, frame):
        """Whether a count in its targets is more than it was, 1, or less, -1; else 0."""
        for name, value in _values(self.loop, frame).items():
            before = self._values.get(name)
            if type(value) is int and type(before) is int and value != before:  # pylint: disable=unidiomatic-typecheck
                return 1 if value > before else -1
        return 0

    def holds(self, frame, at):
        """Whether the frame, or one that called it, is in this turn, as far as that shows; `at`: where in the loop it was before."""
        while frame is not None:
            if id(frame) == self.frame and frame.f_code is self.loop.code:
                return self._holds_at(frame, at)
            frame = frame.f_back
        return False

    def _holds_at(self, frame, at):
        loop, now = self.loop, frame.f_lasti
        if not loop.first <= now <= loop.last:
            return False
        if self.shows and loop.counts:
            return self.is_now(loop, frame)
        return not (loop.is_for and now < at) or any(inner.first <= now and at <= inner.last for inner in loop.inner)


def _values(loop, frame):
    """Of the targets, only the whole numbers if there are some: they count. Of a `while`, numbers."""
    values = locals_of(frame, loop.targets)
    whole = {name: value for name, value in values.items() if type(value) is int}  # pylint: disable=unidiomatic-typecheck
    if loop.is_for:
        return whole or values
    return {name: value for name, value in values.items() if type(value) in (int, float)}


# ---- reading code ----


def _read(code):
    """The loops, and whether the program can have no other use for what f_locals returns."""
    steps = [step for step in dis.get_instructions(code) if step.opname not in ("CACHE", "EXTENDED_ARG")]
    lasts = {}
    for step in steps:
        if (step.opcode in _JUMPS and isinstance(step.argval, int) and step.argval <= step.offset
                and step.opname != "JUMP_BACKWARD_NO_INTERRUPT"):  # which waits for a coroutine
            lasts[step.argval] = max(lasts.get(step.argval, 0), step.offset)
    found = [Loop(code, first, last) for first, last in lasts.items()]
    found.sort(key=lambda loop: (loop.first, -loop.last))
    for loop in found:
        loop.inner = tuple(other for other in found if loop.first < other.first and other.last <= loop.last)
        _describe(loop, steps)
    for loop in found:  # two loops with `for _ in`: only the inner one's can be seen
        taken = {name for inner in loop.inner if inner.is_for for name in inner.targets}
        loop.targets = tuple(name for name in loop.targets if name not in taken)
    return tuple(found), bool(code.co_flags & _FAST) and not _keeps_locals(code, steps)


def _keeps_locals(code, steps):
    """Whether the function may keep its locals(), which f_locals is too. `locals()["name"]` does not."""
    if not {"vars", "dir", "eval", "exec"}.isdisjoint(code.co_names):
        return True
    at = [i for i, step in enumerate(steps) if step.argval == "locals"]
    after = [next((step.opname for step in steps[i + 1:] if not step.opname.startswith(("CALL", "PRECALL", "PUSH_NULL"))), "") for i in at]
    return not all(name.startswith("LOAD_") for name in after)


def _names(step):
    """Names that an instruction loads or stores."""
    return [name for name in (step.argval if isinstance(step.argval, tuple) else (step.argval, )) if isinstance(name, str)]


def _describe(loop, steps):
    """The head of the loop: its targets and names."""
    line = 0
    for at, step in enumerate(steps):
        line = _line(step) or line
        if step.offset >= loop.first:  # after what extends its argument
            break
    loop.line = line
    loop.is_for = steps[at].opname == "FOR_ITER"
    if loop.is_for:
        loop.targets = tuple(_targets(steps, at + 1))
        loop.names = tuple(_loaded(steps, at - 1))
    else:
        loop.targets = tuple(_set_in(loop, steps))
    body = [step for step in steps if loop.first < step.offset < loop.last]
    loop.makes = loop.code.co_name in ("<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>") or any(
        step.opname in ("LIST_APPEND", "SET_ADD", "MAP_ADD") and not any(inner.first <= step.offset <= inner.last for inner in loop.inner)
        for step in body)
    loop.steps = tuple(step.offset for step in body if step.argval == "step" and step.opname in ("LOAD_ATTR", "LOAD_METHOD"))
    loop.words = words_of(loop.targets + loop.names)


def _line(step):
    """Where an instruction is the first of a line, that line."""
    if hasattr(step, "line_number"):  # Python 3.13
        return step.line_number
    return step.starts_line


def _targets(steps, at):
    for step in steps[at:]:
        if step.opname.startswith("STORE_") and step.opname not in ("STORE_ATTR", "STORE_SUBSCR"):
            names = _names(step)
            yield from names[:1] if "LOAD" in step.opname else names
            if "LOAD" in step.opname:
                return
        elif step.opname not in _MORE:
            return


def _loaded(steps, at):
    """The names in the expression before a FOR_ITER."""
    found = []
    while at >= 0 and not steps[at].opname.startswith(("STORE_", "POP_TOP", "POP_JUMP", "JUMP", "FOR_", "RETURN", "RESUME")):
        if steps[at].opname.startswith("LOAD_") and steps[at].opname != "LOAD_CONST":
            found += _names(steps[at])
        at -= 1
    return found


def _set_in(loop, steps):
    """The names that the body of a `while` sets, but not the loops in it."""
    found = []
    for step in steps:
        if loop.first <= step.offset <= loop.last and not any(
                inner.first <= step.offset <= inner.last for inner in loop.inner):
            if step.opname.startswith("STORE_") and step.opname not in ("STORE_ATTR", "STORE_SUBSCR"):
                found += [name for name in _names(step) if name not in found]
    return found
