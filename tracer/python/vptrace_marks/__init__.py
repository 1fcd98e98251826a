"""Requests, stages, steps, blocks and frames of a program that knows nothing of vptrace.

    vptrace run -- python generate.py               the presets of what the program imports
    VPTRACE_MARK=my.marks ...                       your own mark file, or `diffusers,my.marks`, or `modules:2`
    vptrace.mark_calls("diffusers")                 the same from the program

A mark gives the role of a function in a video pipeline. It is put around the function when its module is imported, or
at once if it has been. README.md describes the lines; lines.py and values.py read them, places.py finds the functions,
script.py those of the script itself, calls.py wraps them, and ranges.py defines how ranges nest. Without libvptrace.so
nothing is marked, at no cost.
"""

import atexit
import os
import sys

from . import denoisers, lines
from .lines import MarkError, Source

__all__ = ["MarkError", "start", "stop", "presets"]

_ESSENTIAL = ("request", "block", "step", "block begin", "step begin", "step end", "context")
_SAID = 3  # complaints in the line at the end


def _origin(name, preposition=" from "):
    """Where a module comes from, in words: it may be another one of this name, beside the script."""
    module = sys.modules.get(name)
    places = [getattr(module, "__file__", None)] + list(getattr(module, "__path__", ()))
    return next((preposition + os.path.abspath(place) for place in places if isinstance(place, str)), "")


def _in_words(complaints):
    """The first of them, in a line."""
    more = len(complaints) - _SAID
    return "; ".join(text for _, text in complaints[:_SAID]) + ("; and %d more" % more if more > 0 else "")


class _Marking:
    """What is marked in this process."""

    def __init__(self, vptrace):
        from .hook import Finder  # pylint: disable=import-outside-toplevel
        from .places import Places  # pylint: disable=import-outside-toplevel
        from .ranges import Recorder  # pylint: disable=import-outside-toplevel

        self.vptrace, self.sources, self.modules = vptrace, [], None
        library = vptrace._library.loaded  # pylint: disable=protected-access
        self.recorder = Recorder(library, vptrace._library.Note, vptrace._torch_memory, vptrace.fact,  # pylint: disable=protected-access
                                 vptrace._suspending)  # pylint: disable=protected-access
        self.unfollow = self.recorder.follow(library)
        vptrace._capture.before_stop.append(self.record)  # pylint: disable=protected-access
        self.places = Places(self.recorder)
        self.finder = Finder(self.places)

    def add(self, sources, modules):
        self.sources += sources
        if modules and not self.modules:
            from .modules import Modules  # pylint: disable=import-outside-toplevel

            self.modules = Modules(self.recorder, modules)
            self.finder.whenever = self.modules.attach
        self.finder.add([line for source in sources for line in source.lines])

    def remove(self):
        self.recorder.end_all()
        self.finder.remove()
        self.places.detach()
        if self.modules:
            self.modules.detach()
        self.unfollow()
        self.vptrace._capture.before_stop.remove(self.record)  # pylint: disable=protected-access

    # ---- what was of no use ----

    def complaints(self):
        """What was of no use: a key and words, the most important first. A key is "FILE:LINE" or "preset NAME", as for what was of
        use; a mistake that only a call shows has one of its own, since a good call elsewhere does not undo it."""
        for source in self.sources:
            if source.preset:
                yield from self._about_preset(source)
            else:
                yield from self._about_file(source)
        yield from self.guesses()
        if self.modules and not self.modules.called:
            yield "modules", "modules: no torch.nn.Module was called"

    def guesses(self):
        """What the passes took for steps and blocks where they are not sure, and the line that decides it, as complaints()."""
        guessed = self.recorder.passes.guessed
        if "step" in guessed:
            yield "passes steps", ("%s: its calls are in no loop: those with the same latents, or the same timestep and another text, were "
                                   'taken for a step; a line "MODULE:FUNCTION = step" in a mark file decides' % guessed["step"][0].target)
        if "block" in guessed:
            line, loop = guessed["block"]
            yield "passes blocks", ('%s: each turn of the loop at %r was taken for a block; a line "MODULE:FUNCTION = block" in '
                                    'a mark file decides, or "%s = pass key=0": no blocks' % (line.target, loop, line.target))

    def _about_preset(self, source):
        key = "preset " + source.name
        packages = [package for package in source.packages if package in sys.modules]
        if not any(line.wrapped for line in source.lines):
            for package in packages[:1]:
                yield key, "%s: %s was imported%s, but nothing in it is what the preset names" % (key, package, _origin(package))
            if source.asked_for and not packages:
                yield key, key + ": none of its modules was imported"
            return
        if source.packages and not packages:
            return
        unused = [line for line in source.lines if line.kind in _ESSENTIAL and line.wrapped]
        called = {line.kind for line in unused if line.called}
        if any(line.kind == "pass" and line.called for line in source.lines):  # whose loops end the steps
            called.add("step end")
        unused = [line for line in unused if line.kind not in called]
        if unused:
            first = {}
            for line in unused:
                first.setdefault(line.kind, line.target)
            yield key, "%s: never called: %s" % (
                key, ", ".join("%s (%s)" % (kind, target) for kind, target in first.items()))

    def _about_file(self, source):
        for line in source.lines:
            if line.kind == "none":
                continue
            key = "%s:%d" % (source.name, line.number)
            where = "%s: %s" % (key, line.target)
            if line.problem:
                yield key + " problem" * line.called, "%s: %s" % (where, line.problem)
            elif not line.wrapped:
                yield key, "%s: %s" % (where, self._why_absent(line))
            elif not line.called:
                yield key, where + " was never called" + (
                    " as a module; if the program calls forward() itself, write %s!" % line.target if line.at_call else "")

    def _why_absent(self, line):
        if line.hidden_by:
            first = line.hidden_by
            return "%s:%d comes first, and a function has one mark of each kind" % (first.source.name, first.number) + (
                ", none after none" if first.kind == "none" else "")
        if line.module == "__main__":
            return self.finder.script.why_absent()
        if line.module == getattr(getattr(sys.modules["__main__"], "__spec__", None), "name", None):
            return "python -m runs this module as __main__, write __main__ instead"
        imported = "*" in line.module or line.module in sys.modules
        return "there is no such function" + _origin(line.module, " in ") if imported else "the module was never imported"

    def record(self):
        """Before a capture ends: what was of no use so far, and what is a guess, are facts of it. Never fails."""
        try:
            vptrace = self.vptrace
            if vptrace.status() not in (vptrace.State.STOPPED, vptrace.State.INERT):
                if not any(line.called for source in self.sources for line in source.lines if line.kind in _ESSENTIAL + ("pass", )):
                    found = denoisers.lines()
                    if found:
                        vptrace.metadata("marks.denoisers", ", ".join(found))
                guesses = list(self.guesses())
                facts = {"unused": [found for found in self.complaints() if found not in guesses], "guessed": guesses}
                for name, found in facts.items():
                    if found:
                        vptrace.metadata("marks." + name, _in_words(found))
        except Exception:  # pylint: disable=broad-except
            pass

    def _hit(self):
        """The marks that calls of the program have hit, in words."""
        found = ["%s %s" % (line.kind, line.target) for source in self.sources for line in source.lines if line.called]
        if self.modules and self.modules.called:
            found.append("modules")
        more = len(found) - _SAID
        return ", ".join(found[:_SAID]) + (" and %d more" % more if more > 0 else "")

    def _used(self, unused):
        """The keys of what was of use."""
        for source in self.sources:
            if source.preset:
                keys = ["preset " + source.name] if any(line.called for line in source.lines) else []
            else:
                keys = ["%s:%d" % (source.name, line.number) for line in source.lines if line.called]
            yield from (key for key in keys if key not in unused)
        if self.modules and self.modules.called:
            yield "modules"

    def report(self):
        """At the end of a program, what was of no use, if it was recorded or has marks of its own. `vptrace run` is told, and says
        it once for all processes; else it is one line on stderr."""
        try:
            self.recorder.end_all()
            vptrace = self.vptrace
            recorded = vptrace.status() != vptrace.State.STOPPED or vptrace.statistics().received
            self.record()
            helper = sys.argv[:1] == ["-c"]  # one that multiprocessing starts; scripts have their name there
            found = list(self.complaints())
            used = [("used", key) for key in self._used({key for key, _ in found})]
            found = [(key, text) for key, text in found if recorded or not (helper or key.startswith("preset "))]
            unused = [("unused", "%s\t%s" % complaint) for complaint in found]
            hit = [("marks", self._hit())] if self._hit() and not recorded else []
            if not vptrace._launcher.tell(hit + used + unused) and found:  # pylint: disable=protected-access
                sys.stderr.write("vptrace: marks: %s\n" % _in_words(found))
        except Exception:  # pylint: disable=broad-except  # the program's end is not ours to spoil
            pass


_marking = None  # pylint: disable=invalid-name


def presets():
    """The names of the presets."""
    return lines.presets()


def _sources_of(items):
    """Sources of the items of VPTRACE_MARK, and the depth of modules, or 0. MarkError."""
    found, depth = [], 0
    for item in items:
        kind, colon, number = item.partition(":")
        if "=" in item and item[0] not in "./":  # a path is that of a file
            found.append(Source("mark_calls()", item))
        elif item in ("", "none"):
            continue
        elif item == "auto":
            for name in presets():
                found.append(lines.read_preset(name))
                found[-1].asked_for = False
        elif kind == "modules":
            if not colon or not number.isdigit() or not int(number):
                raise MarkError('VPTRACE_MARK: expected modules: and a depth from 1, found "%s"' % item)
            depth = int(number)
        else:
            found.append(lines.read(item))
    return found, depth


def start(vptrace, items):
    """Marks what the items say, now and in what is imported later, and returns how many callables are marked so far. `vptrace`
    is the module. MarkError, before anything is marked; 0 without a library."""
    global _marking  # pylint: disable=global-statement
    sources, modules = _sources_of(items)
    if not vptrace.available() or not (sources or modules):
        return 0
    if _marking is None:
        _marking = _Marking(vptrace)
        atexit.register(_marking.report)
    known = {source.name for source in _marking.sources if source.preset}
    _marking.add([s for s in sources if not s.preset or s.name not in known], modules)
    return sum(line.wrapped for source in _marking.sources for line in source.lines)


def _after_fork():
    """A process that multiprocessing has forked runs no atexit functions, but finalizers, of which the parent's are forgotten first:
    see sitecustomize, whose own ends the capture after this one. `vptrace run` is to know what was hit here."""
    if _marking:
        _marking.recorder.forked()
    util = sys.modules.get("multiprocessing.util")
    if util and _marking and os.environ.get("VPTRACE_LIST"):
        util.register_after_fork(_marking, lambda marking: util.Finalize(None, marking.report, exitpriority=-999))


os.register_at_fork(after_in_child=_after_fork)


def stop():
    """Puts every function back."""
    global _marking  # pylint: disable=global-statement
    if _marking:
        atexit.unregister(_marking.report)
        _marking.remove()
        _marking = None


def start_from_environment(vptrace):
    """For sitecustomize; `vptrace` is the module. A mistake must not fail the program: it is reported in one line on stderr."""
    items = [item.strip() for item in os.environ.get("VPTRACE_MARK", "").split(",")]
    try:
        start(vptrace, items)
    except MarkError as error:
        sys.stderr.write("vptrace: %s; nothing is marked\n" % error)


