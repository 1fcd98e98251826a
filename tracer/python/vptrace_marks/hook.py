"""Marks what is imported, when it is imported."""

import sys
import threading

from . import calls
from .places import _matches
from .script import Script


class _Loader:
    """Runs a module's loader, then marks the module. For loaders whose exec_module cannot be replaced."""

    def __init__(self, loader, then):
        self._loader, self._then = loader, then

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        self._then(module)

    def __getattr__(self, name):
        return getattr(self._loader, name)


class Finder:
    """Stands first on sys.meta_path, finds nothing itself, and sees which modules are run."""

    def __init__(self, places):
        self._places = places
        self._exact, self._patterns, self._roots = {}, [], {"torch"}
        self.whenever = None  # called when torch is there
        self.script = Script(lambda module, lines: self.run(module, "__main__", lines))
        self._busy = threading.local()

    def add(self, lines):
        """Marks what these lines name: in modules that are there now, and in others once they are."""
        for line in lines:
            if "*" in line.module:
                self._patterns.append((line.module.partition("*")[0], line))
            else:
                self._exact.setdefault(line.module, []).append(line)
            root = line.module.partition(".")[0]
            self._roots = self._roots | ({root} if "*" not in root else {None})
        for name, module in list(sys.modules.items()):
            found = [line for line in self.lines_of(name) if line in lines]
            if found and module is not None:
                self.run(module, name, found)
        self.script.watch(self.lines_of("__main__"))
        self._torch("torch")
        self._torch("torch._dynamo.eval_frame")
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def remove(self):
        self.script.stop()
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]

    def lines_of(self, name):
        """In the order of their files."""
        found = self._exact.get(name, [])
        more = [line for before, line in self._patterns if name.startswith(before) and _matches(name, line.module)]
        return sorted(found + more, key=lambda line: (line.source.name, line.number)) if more else found

    def _torch(self, name):
        if name == "torch":
            calls.torch_is_there()
            if self.whenever:
                self.whenever()
        elif name == "torch._dynamo.eval_frame":
            calls.compiler_is_there()

    def run(self, module, name, lines=None):
        """The module has been executed. Never fails."""
        try:
            self._torch(name)
            self._places.attach(module, self.lines_of(name) if lines is None else lines)
        except Exception as error:  # pylint: disable=broad-except
            for line in self.lines_of(name):
                line.problem = line.problem or "%s: %s" % (type(error).__name__, error)

    # ---- the protocol of sys.meta_path ----

    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] not in self._roots and None not in self._roots:
            return None
        if not (self.lines_of(fullname) or fullname in ("torch", "torch._dynamo.eval_frame")):
            return None
        names = self._busy.__dict__.setdefault("names", set())
        if fullname in names:
            return None
        names.add(fullname)
        try:
            return self._spec(fullname, path, target)
        finally:
            names.discard(fullname)

    def _spec(self, fullname, path, target):
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec = find(fullname, path, target) if find and finder is not self else None
            if spec is not None:
                break
        else:
            return None
        loader = spec.loader
        if loader is None or not hasattr(loader, "exec_module"):
            return spec

        def then(module):
            self.run(module, fullname)

        execute = loader.exec_module

        def execute_and_mark(module):
            execute(module)
            then(module)

        try:
            loader.exec_module = execute_and_mark
        except AttributeError:
            spec.loader = _Loader(loader, then)
        return spec
