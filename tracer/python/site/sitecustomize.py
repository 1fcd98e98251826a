"""Marks of vptrace for a program that does not use it.

`vptrace run` puts this folder first on PYTHONPATH, so every Python that it starts runs this file first. This file only
watches for the import of a module that is marked; everything else is loaded then. It ends the capture where Python ends
the process without telling the C library. It also runs the sitecustomize that Python would have found without it, under
the same conditions. Nothing here may fail the program.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_ABOVE = os.path.dirname(_HERE)


class _Modules:
    """Stands last on sys.meta_path: finds our own modules where the program has none of these names."""

    NAMES = ("vptrace", "vptrace_marks")

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):  # pylint: disable=unused-argument
        if fullname not in cls.NAMES:
            return None
        from importlib.util import spec_from_file_location  # pylint: disable=import-outside-toplevel

        return spec_from_file_location(fullname, os.path.join(_ABOVE, fullname, "__init__.py"))


class _Watch:
    """Stands first on sys.meta_path until a module of a marked package is imported."""

    def __init__(self, packages):
        self._packages = packages

    def find_spec(self, fullname, path=None, target=None):  # pylint: disable=unused-argument
        if fullname.partition(".")[0] in self._packages:
            sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
            _load()
            for finder in list(sys.meta_path):  # which now begins with the one that marks
                spec = finder.find_spec(fullname, path, target) if hasattr(finder, "find_spec") else None
                if spec is not None:
                    return spec
        return None


def _load():
    try:
        import vptrace  # pylint: disable=import-outside-toplevel
        import vptrace_marks  # pylint: disable=import-outside-toplevel

        vptrace_marks.start_from_environment(vptrace)
    except Exception as error:  # pylint: disable=broad-except
        sys.stderr.write("vptrace: no marks: %s: %s\n" % (type(error).__name__, error))


def _packages_of(file):
    """The top-level packages that a mark file names."""
    found = set()
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            module, colon, _ = line.lstrip().partition(":")
            if colon and not module.startswith("#"):
                found.add(module.partition(".")[0])
    return found


def _watch(what):
    """Watches for the packages of the presets in VPTRACE_MARK. Anything that is not a preset is read at once, so that its
    mistakes are reported."""
    sys.meta_path.append(_Modules)
    folder = os.path.join(_ABOVE, "vptrace_marks", "presets")
    presets, packages = set(os.listdir(folder)), set()
    for item in what.split(","):
        file = item.strip().replace("-", "_").lower() + ".marks"
        if item.strip() != "auto" and file not in presets:
            _load()
            return
        for name in presets if item.strip() == "auto" else [file]:
            packages |= _packages_of(os.path.join(folder, name))
    sys.meta_path.insert(0, _Watch(packages))


def _end():
    """Ends the capture of this process, if libvptrace.so is in it. Python ends some processes without the C library's exit(),
    which would do it."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            path = next((line[line.index("/"):-1] for line in maps if "/libvptrace.so" in line), None)
        if path:
            import ctypes  # pylint: disable=import-outside-toplevel

            ctypes.CDLL(path).vptrace_stop(None)
    except Exception:  # pylint: disable=broad-except  # the program's end is not ours to spoil
        pass


def _end_if_interrupted():
    """After a KeyboardInterrupt that nobody caught, Python dies of SIGINT. The launcher writes the ring of a process that dies."""
    if getattr(sys, "last_type", None) is KeyboardInterrupt and not os.environ.get("VPTRACE_RING"):
        _end()


def _after_fork():
    """A process that multiprocessing has forked runs its finalizers, then os._exit(). Those of the parent are forgotten once
    this has returned, so ours is made after that."""
    util = sys.modules.get("multiprocessing.util")
    if util:
        util.register_after_fork(_end, lambda end: util.Finalize(None, end, exitpriority=-1000))


def _watch_ends():
    import atexit  # pylint: disable=import-outside-toplevel

    atexit.register(_end_if_interrupted)
    os.register_at_fork(after_in_child=_after_fork)


def _run_the_next():
    """Runs the sitecustomize that follows this one on sys.path."""
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or os.curdir) != _HERE]
    for finder in list(sys.meta_path):
        spec = finder.find_spec("sitecustomize", None, None) if hasattr(finder, "find_spec") else None
        if spec is None or spec.loader is None:
            continue
        from _frozen_importlib import module_from_spec  # pylint: disable=import-outside-toplevel

        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)
        return


_MARK = os.environ.get("VPTRACE_MARK", "")
if _MARK:
    try:
        _watch_ends()
        if _MARK != "none":
            _watch(_MARK)
    except Exception as _error:  # pylint: disable=broad-except
        sys.stderr.write("vptrace: no marks: %s: %s\n" % (type(_error).__name__, _error))
_run_the_next()
