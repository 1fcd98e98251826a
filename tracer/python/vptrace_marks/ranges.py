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

REQUEST, STAGE, BLOCK, STEP, CONTEXT, FRAMES = 1, 2, 3, 4, 5, 6
_KINDS = {"request": REQUEST, "stage": STAGE, "block": BLOCK, "step": STEP, "context": CONTEXT}
_NAMES = {BLOCK: b"block", STEP: b"step", CONTEXT: b"context pass"}
_OWN, _FOREIGN = "", None  # in the list; else "block" or "step", begun and not yet ended


class Thread:  # pylint: disable=too-many-instance-attributes
    """What is open on this thread, and the counts in it."""

    __slots__ = ("stack", "inside", "begun", "over", "keys", "request", "steps", "blocks", "note", "pointer",
                 "rest")

    def __init__(self, note):
        self.stack = []
        self.inside = set()  # lines whose range is open: a call in a call of the same line has none
        self.begun = {}  # "block", "step": its depth, where one has begun and not ended
        self.over = set()  # those of them that are to end as soon as what began in them has
        self.keys = {}
        self.request = None
        self.steps = self.blocks = 0  # so far: in the block, else in the request; in the request
        self.note, self.pointer = note, ctypes.byref(note)
        self.rest = False  # whether the note has more than a kind and an index


class Recorder:
    """Makes the ranges. `library` is the module vptrace's, `note_type` its struct of a note."""

    def __init__(self, library, note_type, ended=None, metadata=None):
        self._local = threading.local()
        self._note_type = note_type
        # Without declared types a call costs half as much. What is passed is made here: bytes and pointers to notes.
        self._note_push, self._note_mark = library.quick("note_push"), library.quick("note_mark")
        self._range_push, self._range_pop = library.quick("range_push"), library.quick("range_pop")
        self.ended = ended or (lambda: None)  # called at the end of stages and requests
        self.metadata = metadata or (lambda key, value: None)

    def thread(self):
        try:
            return self._local.thread
        except AttributeError:
            thread = self._local.thread = Thread(self._note_type(0, -1, -1, -1, -1.0))
            return thread

    # ---- open and close ----

    def push(self, thread, name, kind, index=-1, rest=None, entry=_OWN):  # pylint: disable=too-many-arguments
        """`rest` may have frames, latents and timestep."""
        note = thread.note  # which is copied
        note.kind, note.index = kind, index
        if rest or thread.rest:
            rest = rest or {}
            thread.rest = bool(rest)
            note.frames, note.latents = rest.get("frames", -1), rest.get("latents", -1)
            note.timestep = rest.get("timestep", -1.0)
        self._note_push(name, thread.pointer)
        thread.stack.append(entry)

    def pusher(self, name, kind):
        """push() for a name and a kind with nothing else but the index that is counted, at less cost."""
        if kind in _NAMES:
            return lambda thread, args, kwargs: self.push(thread, name, kind, self.count(thread, kind, None))
        note = self._note_type(kind, -1, -1, -1, -1.0)
        note_push, pointer = self._note_push, ctypes.byref(note)

        def push(thread, args, kwargs):  # pylint: disable=unused-argument
            note_push(name, pointer)
            thread.stack.append(_OWN)

        return push

    def push_plain(self, thread, name):
        self._range_push(name)
        thread.stack.append(_OWN)

    def pop_to(self, thread, depth):
        """Closes all that was opened since the thread had `depth` open, and what is over then."""
        stack, range_pop = thread.stack, self._range_pop
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

    def begin(self, thread, kind, key=None, index=None, context=0, rest=None):  # pylint: disable=too-many-arguments
        """Begins a step or a block unless one has begun with the same key."""
        if kind in thread.begun:
            if thread.keys.get(kind) == key:
                return
            self.end(thread, kind)
            if kind in thread.begun:
                return
        code = BLOCK if kind == "block" else CONTEXT if context else STEP
        self.push(thread, _NAMES[code], code, self.count(thread, code, index), rest, kind)
        thread.begun[kind], thread.keys[kind] = len(thread.stack), key

    @staticmethod
    def count(thread, kind, index):
        """The index of a block or step that begins, and counts it."""
        if kind == BLOCK:
            known, thread.blocks, thread.steps = thread.blocks, thread.blocks + 1, 0
        else:
            known, thread.steps = thread.steps, thread.steps + 1
        return known if index is None else index

    def frames(self, thread, index, frames):
        """Marks that the frames of the block that is open, or of the last one, are ready."""
        note = thread.note
        note.kind, note.index, note.frames, note.latents, note.timestep = FRAMES, index, frames, -1, -1.0
        thread.rest = True
        self._note_mark(b"frames ready", thread.pointer)

    # ---- a request ----

    def enter_request(self, thread, owner):
        """Resets the counts, and returns what leave_request() needs to restore them."""
        saved = thread.begun, thread.over, thread.keys, thread.request, thread.steps, thread.blocks
        thread.begun, thread.over, thread.keys, thread.request = {}, set(), {}, owner
        thread.steps = thread.blocks = 0
        return saved

    @staticmethod
    def leave_request(thread, saved):
        thread.begun, thread.over, thread.keys, thread.request, thread.steps, thread.blocks = saved

    # ---- ranges of the program itself ----

    def follow(self, library):
        """Sees ranges that the module vptrace opens and closes, so that a step that has begun inside one ends in it. Returns a
        function that undoes it."""
        kept = library.note_push, library.range_push, library.range_pop
        thread_of = self.thread

        def note_push(name, note):
            kept[0](name, note)
            thread_of().stack.append(_FOREIGN)

        def range_push(name):
            kept[1](name)
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

        def undo():
            library.note_push, library.range_push, library.range_pop = kept

        return undo


def kind_of(line):
    return _KINDS[line.kind]


def name_of(kind):
    return _NAMES[kind]
