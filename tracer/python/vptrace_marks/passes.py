"""Steps, blocks and context passes of a denoiser's calls, for programs of which nothing else is known.

A mark of kind "pass" says that a call of a function is one pass of the denoiser. What the pass belongs to follows from the loops
around the call, see loops.py, inside the request:

        for chunk in ...:             the outermost loop around that of the steps: a turn is a block
            for t in timesteps:       the loop of the steps: a turn is a step
                v = model(x, t, text)     passes of one step
                w = model(x, t, empty)
            model(x, zero, text)      in the block's loop, after that of the steps: a context pass

Of several loops, the innermost whose names speak of time is that of the steps, else the innermost. Of those around it, the innermost
whose names speak of chunks and the like is that of the blocks, else the outermost, which is a guess. Loops over what is called, over
guidance, prompts, images, tiles or stages are neither. A loop that turns once makes no blocks. The call says the rest:

    a position      current_start, chunk_idx, kv_cache_flag["num_cached_chunks"] ...: where no loop shows blocks, they change with it
    a flag          kv_cache_flag["is_cache_step"] ...: whether this is a context pass
    a timestep      a number that is 0, where there is a KV cache or a position: a context pass
    the result      nobody uses it, where there is a KV cache or a position: a context pass
    the latents     where no loop shows steps, passes with the same object, or with the same timestep and another text, are one step

Where a scheduler's step() ends the steps, the next pass begins one. Only numbers, lengths and shapes of Python are read.
"""

import weakref

from . import loops
from .denoisers import TIMES

_TIME = frozenset("timestep timesteps sigma sigmas sig sigs step steps denoise denoising schedule tau taus ts".split())
_FRAMES = frozenset("chunk chunks block blocks section sections segment segments window windows clip clips rollout rollouts".split())
_FRAMES_TOO = frozenset("frame frames start starts padding paddings".split())
_GUIDANCE = frozenset("cond conds uncond guidance guider cfg branch branches negative neg embeds".split())
_NEITHER = frozenset("prompt prompts image images videos batch batches seed seeds sample samples tile tiles view views init job "
                     "jobs request requests layer layers stage stages level levels scale scales phase phases expert experts model models "
                     "resample restart restarts refine attempt attempts trial trials retry retries pass passes".split())

_WHERE = frozenset("start offset pos position idx index id past cached".split())
_OF_WHAT = frozenset("frame frames chunk chunks block segment section current cache window token tokens latent latents kv".split())
_WRITES = frozenset("step update write store save prefill only commit".split())
_LATENTS = ("hidden_states", "x", "sample", "latents", "latent", "noisy_image_or_video", "noisy", "z")
_TEXTS = frozenset("encoder context prompt text cond conditional embeds y".split())


def _role_of(loop, frame):
    """What a loop is over, as its names and its targets show: "calls", "guidance", "other", or words of which "time" and "frames"
    may be some."""
    values = loops.locals_of(frame, loop.targets) if loop.is_for else {}
    if any(callable(value) for value in values.values()):
        return "calls"
    words = loop.words_in(frame)
    role = " ".join(name for name, known in (("frames", _FRAMES), ("time", _TIME)) if words & known)
    if role:
        return role
    if loop.makes:
        return "other"
    for role, known in (("guidance", _GUIDANCE), ("other", _NEITHER), ("frames", _FRAMES_TOO)):
        if words & known:
            return role
    return ""


def _turns_once(loop, frame):
    """Whether what the loop is over, as far as it has a name, has one item."""
    values = list(loops.locals_of(frame, loop.names).values()) if loop.is_for else []
    sizes = [value for value in values if "range" in loop.names and type(value) is int]  # pylint: disable=unidiomatic-typecheck
    sizes += [len(value) for value in values if isinstance(value, (list, tuple))]
    return sizes == [1]


_known_words = {}


def _words_of(name):
    words = _known_words.get(name)
    if words is None:
        words = _known_words[name] = loops.words_of((name, ))
    return words


class _Call:  # pylint: disable=too-few-public-methods
    """What a pass's arguments say. `names`: those of the function's parameters by position. Modules that wrap the denoiser,
    called from `frame`, may know more."""

    __slots__ = ("position", "writes", "number", "timestep", "latents", "shape", "texts", "cached")

    def __init__(self, names, args, kwargs, frame):
        self.position = self.writes = self.number = self.timestep = self.latents = None
        self.shape, self.texts, self.cached = (), [], False
        for name, value in [*zip(names, args), *kwargs.items()]:
            if value is None:
                continue
            if name in TIMES:
                self.timestep = _kept(value)
                self.number = value if type(value) in (int, float) else None
            elif name in _LATENTS and self.latents is None:
                self.latents, self.shape = _kept(value), getattr(value, "shape", ())
            else:
                self._see(name, value, True)
        for wrapper in loops.wrappers(frame):
            values, code = wrapper.f_locals, wrapper.f_code
            for name in code.co_varnames[1:code.co_argcount + code.co_kwonlyargcount]:
                if values.get(name) is not None and not (name in TIMES or name in _LATENTS or _words_of(name) & _TEXTS):
                    self._see(name, values[name], True)

    def _see(self, name, value, deeper):
        words, kind = _words_of(name), type(value)
        self.cached = self.cached or "cache" in words or "kv" in words
        if kind is bool:
            if "cache" in words and words & _WRITES:
                self.writes = bool(self.writes) or value
        elif kind is int:
            if words & _WHERE and words & _OF_WHAT:
                self._found(words, value)
        elif kind is dict and deeper:
            for key, item in list(value.items()):
                if type(key) is str:  # pylint: disable=unidiomatic-typecheck
                    self._see(key, item, False)
        elif kind in (list, tuple):
            if "partition" in words and words & _OF_WHAT:
                self._found(words, len(value))
        elif words & _TEXTS:
            self.texts.append(id(value))

    def _found(self, words, value):
        """`current_start` and the like go before others."""
        if self.position is None or "start" in words:
            self.position = value

    @property
    def is_causal(self):
        return self.cached or self.position is not None


def _kept(value):
    """A number as it is; of anything else a reference that does not keep it, so that no other can pass for it."""
    if value is None or type(value) in (int, float):
        return value
    try:
        return weakref.ref(value)
    except TypeError:
        return None


def _is_same(kept, before):
    """Whether two of them are of the same object, or equal numbers. References are never compared, which would compare tensors."""
    if isinstance(kept, weakref.ref):
        return isinstance(before, weakref.ref) and kept() is before()
    return kept is not None and not isinstance(before, weakref.ref) and kept == before


class _Level:  # pylint: disable=too-few-public-methods
    """A loop around a call: its frame, and how many frames are between."""

    __slots__ = ("loop", "frame", "depth")

    def __init__(self, loop, frame, depth):
        self.loop, self.frame, self.depth = loop, frame, depth

    def is_that_of(self, turn):
        return turn is not None and turn.loop is self.loop and turn.frame == id(self.frame)

    def goes_on_with_steps(self):
        """Whether a loop of steps follows in its turn."""
        return any(inner.first > self.frame.f_lasti and inner.words & _TIME for inner in self.loop.inner)


class _State:  # pylint: disable=too-few-public-methods
    """The passes of one request, or of a thread outside one: the block and the step of the last, as turns of their loops, and what
    its arguments were."""

    __slots__ = ("block", "at", "position", "step", "site", "nested", "latents", "timestep", "texts", "begun", "blocks", "used", "moved")

    def __init__(self):
        self.block = self.at = self.step = self.site = None
        self.position = None  # of the block's steps
        self.begun = None  # the step that passes have begun, as in thread.begun
        self.blocks = False  # whether passes have begun one
        self.moved = 0  # which way the count of the steps goes in the block, 1 or -1; 0: it is not known
        self.used = False  # whether somebody uses the result of the last pass of a step
        self.nested = set()  # loops around loops of steps
        self.latents = self.timestep = None
        self.texts = []  # of all passes of the step


class Passes:
    """Opens what the passes belong to. `recorder`: the ranges.Recorder, whose threads keep the state."""

    def __init__(self, recorder):
        self._recorder = recorder
        self._roles = {}  # loop: its role
        # "step": the line of a pass whose steps only its arguments told; "block": a line, and the loop whose turns were taken for blocks
        self.guessed = {}

    # ---- loops ----

    def _levels(self, frame, limit):
        """The loops around a call that may be of steps or blocks, outermost first; where each frame is, innermost first; and the
        innermost loop of any kind."""
        found, sites, innermost = [], [], None
        while frame is not None and id(frame) != limit:
            sites.append(frame.f_lasti)
            for loop in reversed(loops.around(frame)):
                innermost = innermost or loop
                role = self._roles.get(loop)
                if role is None:
                    role = self._roles[loop] = _role_of(loop, frame)
                if role not in ("calls", "guidance", "other"):
                    found.append(_Level(loop, frame, len(sites)))
            frame = frame.f_back
        return found[::-1], sites, innermost

    def _around(self, levels, call, in_request):
        """The level of the blocks among these, which are around the steps, or None."""
        roles = [self._roles[level.loop] for level in levels]
        outer = [(level, role) for level, role in zip(levels, roles)
                 if call.is_causal or "frames" in role or in_request and role != "time"]
        outer = [(level, role) for level, role in outer if call.position is not None or not _turns_once(level.loop, level.frame)]
        named = [level for level, role in outer if "frames" in role]
        if named or not outer:
            return named[-1] if named else None
        return outer[0 if in_request else -1][0]

    def _choose(self, levels, call, in_request):
        """The levels of the block's loop and of the steps', or None."""
        roles = [self._roles[level.loop] for level in levels]
        at = max((i for i, role in enumerate(roles) if "time" in role), default=None)
        if at is None and levels and roles[-1] != "frames":
            at = len(levels) - 1
        return self._around(levels[:at], call, in_request), None if at is None else levels[at]

    def _choose_for_context(self, state, levels, call, in_request):
        """The level of the block's loop around a context pass, or None: that of the block which is open, else one that has the steps in it,
        as far as is known."""
        for level in levels:
            if state.block is not None and level.is_that_of(state.block):
                return level
        return self._around([level for level in levels if level.loop in state.nested or level.goes_on_with_steps()], call, in_request)

    def _is_step(self, state, step, is_used):
        """Whether a pass where steps are is one, whatever else speaks against it: its result is used, or nobody's was so far in the turn,
        as where the model writes into something."""
        if not step or "time" not in self._roles[step.loop] and "t" not in step.loop.targets:
            return False
        return is_used or not state.used or state.step is None or not state.step.is_now(step.loop, step.frame)

    def _is_context(self, state, call, block, step, is_unused):  # pylint: disable=too-many-arguments,too-many-return-statements
        """Whether this pass only writes the KV cache."""
        if call.writes is not None:
            return call.writes
        if call.is_causal and (call.number == 0 or is_unused) and not self._is_step(state, step, not is_unused):
            return True
        if step or not block or not (call.is_causal or is_unused):
            return False
        site = block.frame.f_lasti
        steps = [inner for inner in block.loop.inner if inner.words & _TIME and not inner.words & _FRAMES]
        return block.loop in state.nested or any(inner.last < site for inner in steps)

    # ---- a pass ----

    def enter(self, thread, line, numbers, names, args, kwargs, frame):  # pylint: disable=too-many-arguments
        """A pass begins, called from that frame: opens its block and its step, and returns whether it is a context pass, for which
        the caller opens the range. `numbers`: as numbers_of() returns them. `names`: of the parameters."""
        if any(other.kind in ("step", "context", "pass") and other is not line for other in thread.inside):
            return False
        state = thread.passes
        if state is None:
            state = thread.passes = _State()
        if thread.begun.get("step", state.begun) != state.begun:  # another line's
            return False
        _, frames, latents, timestep, context, key = numbers
        call = _Call(names, args, kwargs, frame)
        if key is not None:
            call.position = None if line.values["key"].text.isdigit() else key
        if "context" in line.values:
            call.writes = bool(context)
        levels, sites, innermost = self._levels(frame, thread.limit)
        if state.block is not None and not state.block.holds(frame, state.at):
            self._end_block(thread, state)
        block, step = self._choose(levels, call, bool(thread.limit))
        block = block if key is None else None
        is_unused = loops.is_unused(frame)
        if self._is_context(state, call, block, step, is_unused):
            self._recorder.end(thread, "step")
            state.step = state.latents = None
            block = self._choose_for_context(state, levels, call, bool(thread.limit)) if key is None else None
            # Not in a stage, which would end the block with itself.
            if block and self._turns(thread, state, call, block, None, levels) and not any(line.kind == "stage" for line in thread.inside):
                self._begin_block(thread, state, line, call, block, (None, -1, -1, -1.0, 0, None))
                state.position = None
            return True
        if block and step:
            state.nested.add(block.loop)
        is_new = self._turns(thread, state, call, block, step, levels)
        if is_new:
            latents = _latents(latents, call, args)
            self._begin_block(thread, state, line, call, block, (None, _frames(frames, latents, thread), latents, -1.0, 0, None))
        site = sites[:step.depth][::-1] if step else None
        joins = not is_new and "step" in thread.begun and self._joins(state, call, step, site, innermost)
        if not joins:
            if timestep < 0 and call.number is not None:
                timestep = float(call.number)
            self._begin_step(thread, state, line, step is not None or call.number is not None, timestep)
            state.step = loops.Turn(step.loop, step.frame) if step else None
        state.site = site
        state.latents, state.timestep = call.latents, call.timestep
        state.texts.append(call.texts)
        state.used = not is_unused
        return False

    @staticmethod
    def _turns(thread, state, call, block, step, levels):  # pylint: disable=too-many-arguments,too-many-return-statements
        """Whether another block begins."""
        if "block" in thread.begun and not state.blocks or any(line.kind == "block" for line in thread.inside):
            return False  # another line makes the blocks
        if not block:
            return call.position is not None and state.position != call.position
        turn, loop, before = state.block, block.loop, state.at
        if not block.is_that_of(turn):
            return True
        state.at = now = block.frame.f_lasti
        if now > before and not loop.is_for:
            return False  # a `while` may count before its turn ends
        if turn.shows and (loop.counts or not turn.is_now(loop, block.frame)):
            return not turn.is_now(loop, block.frame)
        # Its targets may have the same values in each turn, or be those of an inner loop, which begins again then.
        if step and step.is_that_of(state.step) and levels.index(step) == levels.index(block) + 1:
            moved = state.step.moved(step.frame)
            if moved and moved == -state.moved:
                return True
            state.moved = moved or state.moved
        if now < before and not any(inner.first <= now and before <= inner.last for inner in loop.inner):
            return True
        if state.position is None or not step:  # which a context pass may set to something else
            state.position = call.position if step else state.position
            return False
        return not loop.counts and call.position is not None and call.position != state.position

    def _begin_block(self, thread, state, line, call, block, numbers):  # pylint: disable=too-many-arguments
        self._recorder.end(thread, "step")
        self._recorder.end(thread, "block")
        self._recorder.begin(thread, "block", numbers)
        state.blocks = True
        state.block, state.at = (loops.Turn(block.loop, block.frame), block.frame.f_lasti) if block else (None, None)
        state.texts, state.moved = [], 0
        state.position = call.position
        if block and not (call.is_causal or "frames" in self._roles[block.loop]):
            self.guessed.setdefault("block", (line, block.loop))

    def _end_block(self, thread, state):
        """The loop of its blocks is left."""
        if state.blocks:
            self._recorder.end(thread, "step")
            self._recorder.end(thread, "block")
        state.block = state.at = state.position = None

    def _begin_step(self, thread, state, line, is_sure, timestep):  # pylint: disable=too-many-arguments
        self._recorder.end(thread, "step")
        self._recorder.begin(thread, "step", (None, -1, -1, timestep, 0, None))
        if not is_sure and state.texts:
            self.guessed.setdefault("step", (line, None))
        state.begun = thread.begun["step"]
        state.texts = []

    @staticmethod
    def _joins(state, call, step, site, innermost):
        """Whether the pass belongs to the step of the one before."""
        if step:
            if state.step is None or not state.step.is_now(step.loop, step.frame):
                return False
            return innermost is not step.loop or site > state.site
        return _is_same(call.latents, state.latents) or (
            _is_same(call.timestep, state.timestep) and bool(call.texts) and call.texts not in state.texts)

    # ---- other calls ----

    def goes_on(self, thread, frame):
        """Whether the step may have more calls of a scheduler after that from this frame: another follows in its loop, or this one is
        itself in a loop in it."""
        state = thread.passes
        if state is None or state.step is None:
            return False
        while frame is not None and id(frame) != thread.limit:
            for loop in reversed(loops.around(frame)):
                if loop is state.step.loop:
                    return id(frame) == state.step.frame and any(at > frame.f_lasti for at in loop.steps)
                if self._roles.setdefault(loop, _role_of(loop, frame)) != "calls":
                    return True
            frame = frame.f_back
        return False

    @staticmethod
    def is_in_block(thread, frame):
        """Whether the block that passes have begun is not over where this frame is."""
        state = thread.passes
        return state is not None and state.block is not None and state.block.holds(frame, state.at)


def _frames(frames, latents, thread):
    """The number of video frames of a block: that which the line gives, else as a causal VAE makes them, if the pipeline has its factor.
    The first latent frame of a video gives one."""
    factor = getattr(thread.request, "vae_scale_factor_temporal", None)
    if frames >= 0 or latents < 1 or type(factor) is not int:  # pylint: disable=unidiomatic-typecheck
        return frames
    return factor * latents - (factor - 1) * (thread.blocks == 0)


def _latents(latents, call, args):
    """The number of latent frames: that which the line gives, else where the channels of a module's five-dimensional latents say
    which dimension is that of the frames."""
    if latents >= 0 or not call.is_causal:
        return latents
    shape = call.shape
    channels = getattr(getattr(args[0], "config", None), "in_channels", None) if args else None
    if len(shape) != 5 or type(channels) is not int:  # pylint: disable=unidiomatic-typecheck
        return -1
    found = [int(shape[3 - at]) for at in (1, 2) if shape[at] == channels]
    return found[0] if len(set(found)) == 1 else -1
