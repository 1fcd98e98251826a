"""The ranges of marks on one thread.

A mark around a call nests by itself. Steps and blocks that have no function of their own do not: "step begin" opens one
that outlives the call, "step end" closes it in another. Both follow one rule: a range never outlives the one that it
began in. So a step that is still open when its request ends, by an exception or because the loop was left, is closed
there; and one that is to end while a range that began in it is still open ends with that range.

        request |------------------------------------------------------|
        step           |----------------|  |---------------|
        stage            |-----|  |---|      |-----|  |---|
                         forward  end        forward  end

For this each thread keeps a list of what is open. Ranges that the program itself opens with the module vptrace are in
it too, see follow().
"""

import ctypes
import threading

from . import shapes
from .passes import Passes
from .values import ABSENT

REQUEST, STAGE, BLOCK, STEP, CONTEXT, FRAMES, RANGE = 1, 2, 3, 4, 5, 6, 7
_KINDS = {"request": REQUEST, "stage": STAGE, "block": BLOCK, "step": STEP, "context": CONTEXT}
_NAMES = {BLOCK: b"block", STEP: b"step", CONTEXT: b"context pass"}
NOTHING = tuple(ABSENT.values())
_OWN, _FOREIGN = "", None  # in the list; else "block" or "step", begun and not yet ended


class Thread:  # pylint: disable=too-many-instance-attributes
    """What is open on this thread, and the counts in it."""

    __slots__ = ("stack", "inside", "begun", "over", "keys", "request", "steps", "blocks", "unknown", "frames",
                 "facts", "limit", "passes")

    def __init__(self):
        self.stack = []
        self.inside = set()  # lines whose range is open: a call in a call of the same line has none
        self.begun = {}  # "block", "step": its depth, where one has begun and not ended
        self.over = set()  # those of them that are to end as soon as what began in them has
        self.keys = {}
        self.request = None
        self.unknown = None  # of the last request that began: facts, and the problem that its line had before
        self.frames, self.facts = -1, {}  # of that request: the frames that its line says, and what it was asked for
        self.steps = self.blocks = 0  # so far: in the block, else in the request; in the request
        self.limit = None  # the id of the frame in which the request runs
        self.passes = None  # of the denoiser, see passes.py


def _noting(function, note_type):
    """A function of the library, that takes a name and a pointer to a note, as one that takes the fields of the note. For where
    Library.builtin() has none."""
    local = threading.local()

    def noted(name, kind, index=-1, frames=-1, latents=-1, timestep=-1.0):  # pylint: disable=too-many-arguments
        try:
            note, pointer = local.note
        except AttributeError:
            note = note_type()
            note, pointer = local.note = note, ctypes.byref(note)
        note.kind, note.index, note.frames, note.latents, note.timestep = kind, index, frames, latents, timestep  # copied there
        function(name, pointer)

    return noted


class _End:  # pylint: disable=too-few-public-methods
    """What a thread has of its own: Python drops it on the thread, as that ends."""

    def __init__(self, recorder, thread):
        self._end_all, self._thread, self._ident = recorder.end_all, thread, threading.get_ident()

    def __del__(self):
        try:
            if threading.get_ident() == self._ident:  # else the recorder ends, not the thread
                self._end_all(self._thread)
        except Exception:  # pylint: disable=broad-except  # Python ends
            pass


class Recorder:
    """Makes the ranges. `library` is the module vptrace's, `note_type` its struct of a note.

    note_push(name, kind, index, frames, latents, timestep) and range_pop() are the library's, which wrappers may call too if they
    keep thread.stack."""

    def __init__(self, library, note_type, memory=None, fact=None, suspending=None):
        self.local = threading.local()  # its attribute `thread`, if there is one, is thread()
        # Without declared types a call through ctypes costs half as much. What is passed is made here: bytes and pointers.
        quick, builtin = library.quick, library.builtin
        self.note_push = builtin("note_push") or _noting(quick("note_push"), note_type)
        self._note_mark = builtin("note_mark") or _noting(quick("note_mark"), note_type)
        self._note_type, self._note_fill = note_type, getattr(library, "note_fill", None)
        self.range_pop = builtin("range_pop") or quick("range_pop")
        self.memory_begins = memory.memory_begins if memory else lambda owner, args: None  # of stages and requests
        self.memory_ends = memory.memory_ends if memory else lambda began: None
        self.fact = fact or (lambda name, value: None)  # of the request that is open
        self.suspending = suspending  # the module vptrace._suspending
        self.annotate = getattr(library, "annotated_push", None) if shapes.are_asked() else None
        self.passes = Passes(self)

    def thread(self):
        try:
            return self.local.thread
        except AttributeError:
            thread = self.local.thread = Thread()
            if threading.current_thread() is not threading.main_thread():
                self.local.end = _End(self, thread)
            return thread

    def forked(self):
        """In a forked child: what the parent has open is not open here."""
        self.thread().__init__()

    # ---- open and close ----

    def push(self, thread, name, kind, index=-1, frames=-1, latents=-1, timestep=-1.0):  # pylint: disable=too-many-arguments
        self.note_push(name, kind, index, frames, latents, timestep)
        thread.stack.append(_OWN)

    def pusher(self, name, kind):
        """push() for a name and a kind with nothing else but the index that is counted, at less cost."""
        note_push = self.note_push

        def push_stage(thread, args, kwargs):  # pylint: disable=unused-argument
            note_push(name, kind)
            thread.stack.append(_OWN)

        def push_step(thread, args, kwargs):  # pylint: disable=unused-argument
            index = thread.steps
            thread.steps = index + 1
            note_push(name, kind, index)
            thread.stack.append(_OWN)

        def push_block(thread, args, kwargs):  # pylint: disable=unused-argument
            self.push(thread, name, kind, self.count(thread, kind, None))

        return push_block if kind == BLOCK else push_step if kind in _NAMES else push_stage

    def step_pusher(self, name, kind, numbers):
        """push() of a step or context pass for a call, whose numbers_of() `numbers` is. It fails where that does."""
        note_push = self.note_push

        def push(thread, args, kwargs):
            steps = thread.steps
            index, frames, latents, timestep, _, _ = numbers(args, kwargs, steps, thread.request)
            thread.steps = steps + 1
            note_push(name, kind, steps if index is None else index, frames, latents, timestep)
            thread.stack.append(_OWN)

        return push

    def fill(self, kind, index, frames, latents):
        """Adds to the innermost range of that kind what was not known when it was opened."""
        if self._note_fill:
            self._note_fill(self._note_type(kind, -1 if index is None else index, frames, latents, -1.0))

    def push_plain(self, thread, name, inputs=(), module=None):
        """A range that is none of these, whatever its name. `inputs`: the call's values, whose shapes are recorded if that was asked
        for; `module`: what is called."""
        json = shapes.annotation(inputs, module) if self.annotate and inputs else None
        if json:
            self.push_annotated(thread, name, json)
        else:
            self.push(thread, name, RANGE)

    def push_annotated(self, thread, name, json):
        self.annotate(name, json)
        thread.stack.append(_OWN)

    def pop_to(self, thread, depth):
        """Closes all that was opened since the thread had `depth` open, and what is over then."""
        stack, range_pop = thread.stack, self.range_pop
        while len(stack) > depth:
            kind = stack.pop()
            range_pop()
            if kind:
                self._forget(thread, kind)
        if thread.over and stack and stack[-1] in thread.over:
            self.pop_to(thread, len(stack) - 1)

    @staticmethod
    def _forget(thread, kind):
        thread.begun.pop(kind, None)
        thread.over.discard(kind)
        if kind == "block":
            thread.steps = 0

    def end(self, thread, kind):
        """Ends the step or the block that has begun, if one has, now or once what began in it has ended."""
        at = thread.begun.get(kind)
        if at is None:
            return
        if at == len(thread.stack) or all(thread.stack[at:]):  # only the step of a block
            self.pop_to(thread, at - 1)
        else:
            thread.over.add(kind)

    def end_all(self, thread=None):
        """Ends what has begun on this thread outside a request, where the program, the thread or the marks end."""
        thread = thread or self.thread()
        for kind in ("step", "block"):
            self.end(thread, kind)

    def begin(self, thread, kind, numbers=NOTHING):
        """Begins a step or a block unless one has begun with the same key. `numbers`: as numbers_of() returns them."""
        index, frames, latents, timestep, context, key = numbers
        if kind in thread.begun:
            if thread.keys.get(kind) == key:
                return
            self.end(thread, kind)
            if kind in thread.begun:
                return
        code, stack = BLOCK if kind == "block" else CONTEXT if context else STEP, thread.stack
        self.note_push(_NAMES[code], code, self.count(thread, code, index), frames, latents, timestep)
        stack.append(kind)
        thread.begun[kind], thread.keys[kind] = len(stack), key

    @staticmethod
    def count(thread, kind, index):
        """The index of a block or step that begins, and counts it."""
        if kind == BLOCK:
            known, thread.blocks, thread.steps = thread.blocks, thread.blocks + 1, 0
        else:
            known, thread.steps = thread.steps, thread.steps + 1
        return known if index is None else index

    def frames(self, index, frames):
        """Marks that the frames of the block that is open, or of the last one, are ready."""
        self._note_mark(b"frames ready", FRAMES, index, frames)

    # ---- a request ----

    def enter_request(self, thread, owner, frame):
        """Resets the counts, and returns what leave_request() needs to restore them. `frame`: that in which the request runs."""
        saved = (thread.begun, thread.over, thread.keys, thread.request, thread.steps, thread.blocks, thread.frames, thread.facts,
                 thread.unknown, thread.limit, thread.passes)
        thread.frames, thread.facts = -1, {}
        thread.begun, thread.over, thread.keys, thread.request = {}, set(), {}, owner
        thread.limit, thread.passes = id(frame), None
        thread.steps = thread.blocks = 0
        return saved

    def leave_request(self, thread, saved):
        (thread.begun, thread.over, thread.keys, thread.request, thread.steps, thread.blocks, thread.frames, thread.facts,
         thread.unknown, thread.limit, thread.passes) = saved
        for kind in [kind for kind, at in thread.begun.items() if at > len(thread.stack)]:  # of the process that forked this one
            self._forget(thread, kind)

    # ---- ranges of the program itself ----

    def follow(self, library):
        """Sees ranges that the module vptrace opens and closes, so that a step that has begun inside one ends in it. Returns a
        function that undoes it."""
        kept = library.note_push, library.range_push, library.range_pop
        annotate = getattr(library, "annotated_push", None)
        thread_of = self.thread

        def note_push(name, note):
            kept[0](name, note)
            thread_of().stack.append(_FOREIGN)

        def range_push(name):
            kept[1](name)
            thread_of().stack.append(_FOREIGN)

        def annotated_push(name, json):
            annotate(name, json)
            thread_of().stack.append(_FOREIGN)

        def range_pop():
            thread = thread_of()
            stack = thread.stack
            at = len(stack)
            while at and stack[at - 1]:
                at -= 1
            if not at or stack[at - 1] is not _FOREIGN:  # opened before this was followed
                kept[2]()
                return
            self.pop_to(thread, at - 1)

        library.note_push, library.range_push, library.range_pop = note_push, range_push, range_pop
        if annotate:
            library.annotated_push = annotated_push

        def undo():
            library.note_push, library.range_push, library.range_pop = kept
            if annotate:
                library.annotated_push = annotate

        return undo


def kind_of(line):
    return _KINDS[line.kind]


def name_of(kind):
    return _NAMES[kind]
