"""Marks functions of the script that Python was started with: MODULE is `__main__`.

Python runs a script without importing it, so no finder sees it. This file follows the top level of the script instead:
before each of its lines, the functions and classes defined so far are marked, exactly as those of a module, so nothing
can call one of them before it is marked. It stops at the first line after the last definition that the marks name. From
then on nothing remains but the marks.

    def generate(frames):       <- not yet defined
        ...
    if __name__ == "__main__":  <- generate is marked; it is the last one, so nothing is followed from here on
        generate(81)

Python 3.12 and later have events for the lines of one code object (sys.monitoring). Before that sys.settrace() is the
only way; while it is on, all Python of this thread is slower, and sys.gettrace() is not None.
An audit hook would find the script too, but it cannot be removed, and would make every audited call slower for good.

A process of multiprocessing (spawn, forkserver) runs the script again, as `__mp_main__`; it is followed there too.
"""

import builtins
import dis
import sys
import threading
import types

from .places import _matches

_NAMES = ("__main__", "__mp_main__")
_RUN_IT_AGAIN = ("multiprocessing.spawn", "multiprocessing.forkserver")  # imported by the first script of such a process

_TAKEN = "cannot be marked: %s; move it into a module" % (
    "other tools hold the tool ids of sys.monitoring" if hasattr(sys, "monitoring") else
    "a debugger or another tool uses sys.settrace(), which Python before 3.12 needs for functions of the script")


def _last_line(code):
    inner = [_last_line(item) for item in code.co_consts if isinstance(item, types.CodeType)]
    return max(inner + [line for _, line in dis.findlinestarts(code) if line] + [code.co_firstlineno])


def _definitions(code):
    """The functions and classes that a script defines at its top level, with the last line of each."""
    found = {}
    for item in code.co_consts:
        if not isinstance(item, types.CodeType):
            continue
        if item.co_name.startswith("<generic parameters of "):
            inner = _definitions(item)
        else:
            inner = {item.co_name: _last_line(item)}
        for name, line in inner.items():
            found[name] = max(line, found.get(name, 0))
    return found


def _may_name(line, name):
    return _matches(name, line.names[0].partition("(")[0])


class _Trace:
    """sys.settrace(), for Python before 3.12. It is off in imports, where it would cost a third of their time."""

    def __init__(self, script):
        self._script, self._on, self._import = script, False, None

    def start(self):
        if sys.gettrace() is not None:
            return False
        self._on = True
        self._resume()
        return True

    def stop(self):
        self._on = False
        self._suspend()

    def holds(self):
        """Whether no other tool has replaced this one."""
        return sys.gettrace() == self._call

    def _resume(self):
        self._import, builtins.__import__ = builtins.__import__, self._importing
        sys.settrace(self._call)

    def _suspend(self):
        if builtins.__import__ == self._importing:
            builtins.__import__ = self._import
        if self.holds():
            sys.settrace(None)

    def _importing(self, *args, **named):
        if not self.holds():  # another thread, or another tool's turn
            return self._import(*args, **named)
        self._suspend()
        try:
            return self._import(*args, **named)
        finally:
            if self._on and sys.gettrace() is None:
                self._resume()

    def _call(self, frame, event, arg):  # pylint: disable=unused-argument
        name = frame.f_code.co_name
        if name == "<module>":
            return self._line if self._script.begins(frame) else None
        if name == "_bootstrap":  # of a process of multiprocessing, which had no script to run again
            self._script.stop()
        return None

    def _line(self, frame, event, arg):  # pylint: disable=unused-argument
        if event == "exception" or self._script.reaches(frame.f_lineno if event == "line" else None):
            return self._line
        frame.f_trace = None
        return None


class _Monitor:
    """sys.monitoring, for Python 3.12 and later. The start of any other code is seen once, then never again."""

    def __init__(self, script):
        self._script, self._tool, self._code = script, None, None

    def start(self):
        monitoring = sys.monitoring
        free = [tool for tool in (4, 3) if monitoring.get_tool(tool) is None]  # the two that have no fixed purpose
        if not free:
            return False
        self._tool = free[0]
        monitoring.use_tool_id(self._tool, "vptrace")
        events = monitoring.events
        for event, callback in ((events.PY_START, self._call), (events.LINE, self._line), (events.PY_RETURN, self._return)):
            monitoring.register_callback(self._tool, event, callback)
        monitoring.set_events(self._tool, events.PY_START)
        return True

    def stop(self):
        if self._tool is None:
            return
        monitoring, tool, self._tool = sys.monitoring, self._tool, None
        monitoring.set_events(tool, 0)
        if self._code:
            monitoring.set_local_events(tool, self._code, 0)
        for event in (monitoring.events.PY_START, monitoring.events.LINE, monitoring.events.PY_RETURN):
            monitoring.register_callback(tool, event, None)
        monitoring.free_tool_id(tool)

    def holds(self):
        return True

    def _call(self, code, offset):  # pylint: disable=unused-argument
        if code.co_name == "<module>" and self._script.begins(sys._getframe(1)):  # pylint: disable=protected-access
            monitoring = sys.monitoring
            self._code = code
            monitoring.set_events(self._tool, 0)
            monitoring.set_local_events(self._tool, code, monitoring.events.LINE | monitoring.events.PY_RETURN)
            return None
        return sys.monitoring.DISABLE if self._tool is not None else None

    def _line(self, code, line):  # pylint: disable=unused-argument
        self._script.reaches(line)

    def _return(self, code, offset, value):  # pylint: disable=unused-argument
        self._script.reaches(None)


class Script:
    """The script of this process. `mark(module, lines)` marks what the lines name, and never fails."""

    def __init__(self, mark):
        self._mark, self._lines, self._follower = mark, [], None
        self._file = self._code = None
        self._module, self._names, self._last = None, {}, 0  # names of definitions: the object that was marked last

    def watch(self, lines):
        """Follows the script, unless it runs already. Call it before the program starts, or any time in its main thread."""
        self._lines = lines
        if not lines or self._follower or self._runs():
            return
        self._follower = (_Monitor if hasattr(sys, "monitoring") else _Trace)(self)
        if not self._follower.start():
            self._follower = None
            for line in lines:
                line.problem = line.problem or _TAKEN

    @staticmethod
    def _runs():
        if threading.current_thread() is not threading.main_thread():
            return True
        frame, script = sys._getframe(), vars(sys.modules["__main__"])  # pylint: disable=protected-access
        while frame and frame.f_globals is not script:
            frame = frame.f_back
        return frame is not None

    def stop(self):
        if self._follower:
            self._follower.stop()
            self._follower = None

    def why_absent(self):
        """Why a line of the script has marked nothing, at the end."""
        if self._follower and not self._follower.holds():
            return _TAKEN
        return "there is no such function in " + (self._file or "the script")

    def begins(self, frame):
        """Code of a module begins. Returns whether to follow its lines: those of the script, but not of what it passes to exec()."""
        try:
            if self._code not in (None, frame.f_code):
                return False
            name = frame.f_globals.get("__name__")
            module = sys.modules.get(name) if name in _NAMES else None
            if module is None or vars(module) is not frame.f_globals:
                return False
            self._file = frame.f_code.co_filename
            found = _definitions(frame.f_code)
            found = {name: last for name, last in found.items() if any(_may_name(line, name) for line in self._lines)}
            if not found:
                if not set(_RUN_IT_AGAIN).intersection(frame.f_code.co_names):
                    self.stop()
                return False
            self._code, self._module = frame.f_code, module
            self._names, self._last = dict.fromkeys(found), max(found.values())
            return True
        except Exception as error:  # pylint: disable=broad-except
            self._failed(error)
            return False

    def reaches(self, number):
        """The script is about to run this line; None: it ends. Returns whether to follow it further."""
        try:
            known = vars(self._module)
            new = [name for name, marked in self._names.items() if known.get(name) is not marked]
            if new:
                self._mark(self._module, [line for line in self._lines if any(_may_name(line, name) for name in new)])
                self._names.update((name, known.get(name)) for name in new)
            if number is None or number > self._last:
                self.stop()
        except Exception as error:  # pylint: disable=broad-except
            self._failed(error)
        return self._follower is not None

    def _failed(self, error):
        for line in self._lines:
            line.problem = line.problem or "%s: %s" % (type(error).__name__, error)
        self.stop()
