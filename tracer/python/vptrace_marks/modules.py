"""Ranges around every torch.nn.Module, down to a depth: VPTRACE_MARK=modules:2.

Depth 1 is a module that no other one calls, a transformer or a decoder; 2 are those that it calls, and so on. The range of
the first has the name of its class, the others that of their place in it, such as "blocks.3". They are noted as nothing else,
since a module's name does not show its role in the pipeline: a "block1" is no block of frames. Modules in compiled code have
no range, and cause no graph break.
"""

import sys
import threading
import weakref

from . import calls


class _Depth(threading.local):
    value = 0
    names = None  # in the outermost module that is open, by id


class Modules:
    """Marks torch.nn.Module itself, once torch is there."""

    module, names = "torch.nn.modules.module", ("Module", "__call__")

    def __init__(self, recorder, limit):
        self._recorder, self._limit = recorder, limit
        self._depth = _Depth()
        self._known = weakref.WeakKeyDictionary()  # outermost module: {id: name}
        self._original = self._class = None
        self.called = False

    def attach(self):
        """Does nothing as long as torch is not imported, or if it is done."""
        cls = getattr(sys.modules.get(self.module), "Module", None)
        if cls is None or self._class:
            return
        self._class, self._original = cls, cls.__call__
        cls.__call__ = self._wrapper(cls.__call__)

    def detach(self):
        if self._class:
            self._class.__call__ = self._original
            self._class = None

    def _names_in(self, root):
        """Empty where methods of the program fail: then its modules have the names of their classes."""
        try:
            known = self._known.get(root)
            if known is None:
                known = {id(module): name.encode() for name, module in root.named_modules() if name}
                self._known[root] = known
            return known
        except Exception:  # pylint: disable=broad-except  # no hash, or whatever named_modules() does
            return {}

    def _enter(self, module, inputs):
        depth = self._depth
        if depth.value == 0:
            depth.names = self._names_in(module)
        name = depth.names.get(id(module)) if depth.value else None
        thread = self._recorder.thread()
        self.called = True
        self._recorder.push_plain(thread, name or type(module).__name__.encode(), inputs, module)
        depth.value += 1
        return thread, len(thread.stack) - 1

    def _wrapper(self, original):
        depth, limit, recorder, enter = self._depth, self._limit, self._recorder, self._enter

        def marked(self, *args, **kwargs):
            if calls.tracing() or depth.value >= limit:
                return original(self, *args, **kwargs)
            thread, at = enter(self, (*args, *kwargs.values()) if recorder.annotate else ())
            try:
                return original(self, *args, **kwargs)
            finally:
                depth.value -= 1
                recorder.pop_to(thread, at)

        return marked
