"""Marks of vptrace for a program that does not use it.

`vptrace run` puts this folder first on PYTHONPATH, so every Python that it starts runs this file first. This file only
watches for the import of a module that is marked; everything else is loaded then. It ends the capture where Python ends
the process without telling the C library, and tells `vptrace run` that it was here, and which marks nothing was imported
for. It also runs the sitecustomize that Python would have found without it, under the same conditions. Nothing here may
fail the program, in whatever Python: marks need one of 3.8 or later, and an older one says so.
"""

import io
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_ABOVE = os.path.dirname(_HERE)
_HAS_MARKS = sys.version_info >= (3, 8)


def _names_of(file, package="vptrace"):
    """What a file of one of our packages defines. The package itself is loaded only where it is needed."""
    path = os.path.join(_ABOVE, package, file)
    names = {"__file__": path, "__name__": file[:-len(".py")]}
    with io.open(path, encoding="utf-8") as text:
        exec(compile(text.read().encode("utf-8"), path, "exec"), names)  # pylint: disable=exec-used
    return names


class _Standard(object):  # pylint: disable=useless-object-inheritance
    """While our modules are loaded, stands first on sys.meta_path and finds the modules of Python that they import, where the
    program has files of their names too: none of these is run for us. It sees this thread alone."""

    def __init__(self):
        self._path = [path for path in sys.path if os.path.abspath(path or os.curdir) != _HERE]  # without the script's folder
        self._thread, self._found = None, []

    def find_spec(self, fullname, path=None, target=None):  # pylint: disable=unused-argument
        if path is not None or fullname in _Modules.NAMES or self._thread != self._own_thread():
            return None
        from _frozen_importlib_external import PathFinder  # pylint: disable=import-outside-toplevel

        spec = PathFinder.find_spec(fullname, self._path)
        if spec is not None:
            self._found.append((fullname, spec.origin))
        return spec

    @staticmethod
    def _own_thread():
        from _thread import get_ident  # pylint: disable=import-outside-toplevel

        return get_ident()

    def __enter__(self):
        self._thread = self._own_thread()
        sys.meta_path.insert(0, self)

    def __exit__(self, *error):
        from _frozen_importlib_external import PathFinder  # pylint: disable=import-outside-toplevel

        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
        for name, origin in self._found:  # the program gets what it would get without us
            spec = PathFinder.find_spec(name)
            if spec is not None and spec.origin != origin:
                sys.modules.pop(name, None)
        self._found = []


_standard = _Standard()


class _Modules(object):  # pylint: disable=useless-object-inheritance
    """Stands last on sys.meta_path: finds our own modules where the program has none of these names."""

    NAMES = ("vptrace", "vptrace_marks")

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):  # pylint: disable=unused-argument
        if fullname not in cls.NAMES:
            return None
        from importlib.util import spec_from_file_location  # pylint: disable=import-outside-toplevel

        return spec_from_file_location(fullname, os.path.join(_ABOVE, fullname, "__init__.py"))


class _Watch(object):  # pylint: disable=useless-object-inheritance
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


# Marks whose packages were not imported so far: (key, words, whether this is said also of a process that was not recorded).
_waiting = []


def _load():
    del _waiting[:]
    try:
        with _standard:
            load = _names_of("_own.py")["load"]
            vptrace = load("vptrace")
            load("vptrace_marks").start_from_environment(vptrace)
            if os.environ.get("VPTRACE_SIMULATE"):
                _simulate(vptrace)
    except Exception as error:  # pylint: disable=broad-except
        _fail(error)


def _simulate(vptrace):
    """Without a GPU, CUDA does not load the tracer: `vptrace run --simulate` asks for the marks alone."""
    if vptrace.start() == 0:
        vptrace.metadata("simulate", "recorded without a GPU: all times are the host's own")


def _fail(error):
    text = "no marks: %s: %s" % (type(error).__name__, error)
    if not _tell("unused", "failure\t" + text):
        sys.stderr.write("vptrace: %s\n" % text)


# ---- what is marked ----


def _read(file):
    with io.open(file, encoding="utf-8") as lines:
        return lines.read().splitlines()


def _packages_of(lines, name=None):
    """The top-level packages that lines of marks name. `name` of the lines: each of them waits for its package."""
    found = set()
    for number, line in enumerate(lines, 1):
        words = line.split()
        module, colon, _ = line.lstrip().partition(":")
        if not colon or module.startswith("#"):
            continue
        found.add(module.partition(".")[0])
        if name and words[2:3] != ["none"]:
            key = "%s:%d" % (name, number)
            _waiting.append((key, "%s: %s: the module was never imported" % (key, words[0]), True))
    return found


def _packages_of_item(item, folder, presets):
    """The same of an item of VPTRACE_MARK; of one that is to be read at once, "*"."""
    preset = item.replace("-", "_").lower() + ".marks"
    if item in ("", "none"):
        return set()
    if item == "auto":
        return {package for name in presets for package in _packages_of(_read(os.path.join(folder, name)))}
    if preset in presets:
        key = "preset " + preset[:-len(".marks")]
        _waiting.append((key, key + ": none of its modules was imported", False))
        return _packages_of(_read(os.path.join(folder, preset)))
    if not os.environ.get("VPTRACE_LIST"):  # nobody has looked for mistakes
        return {"*"}
    if item.startswith("modules:"):
        _waiting.append(("modules", "modules: no torch.nn.Module was called", True))
        return {"torch"}
    if "=" in item and item[0] not in "./":
        return _packages_of([item], "mark_calls()")
    return _packages_of(_read(item), item) if os.path.isfile(item) else {"*"}


def _asks():
    """Whether the module vptrace is asked for something that it does beside torch."""
    return any(os.environ.get("VPTRACE_" + name, "0") not in ("", "0") for name in ("MEMORY_HISTORY", "MEMORY_PEAKS", "COMPILATIONS"))


def _watch(what):
    """Watches for the packages of the marks in VPTRACE_MARK. The script itself is not imported, and a pattern may be anything."""
    sys.meta_path.append(_Modules)
    folder = os.path.join(_ABOVE, "vptrace_marks", "presets")
    presets, packages = set(os.listdir(folder)), set()
    try:
        for item in what.split(","):
            packages |= _packages_of_item(item.strip(), folder, presets)
    except (OSError, ValueError):  # which is reported there
        packages.add("*")
    if os.environ.get("VPTRACE_SIMULATE"):
        packages.add("vptrace")  # a program that marks itself
    if _asks():
        packages.add("torch")
    if any(package == "__main__" or "*" in package or package in sys.modules for package in packages):
        _load()
    else:
        sys.meta_path.insert(0, _Watch(packages))


# ---- what is told ----


def _tell(what, text):
    """Adds a line to the launcher's list. Returns whether there is one."""
    return bool(os.environ.get("VPTRACE_LIST")) and _names_of("_launcher.py")["tell"]([(what, text)])


def _library():
    """The path of libvptrace.so, if it is in this process: before marks are loaded, since it records."""
    with io.open("/proc/self/maps", encoding="utf-8", errors="replace" if sys.version_info < (3, ) else "surrogateescape") as maps:
        return next((line[line.index("/"):-1] for line in maps if "/libvptrace.so" in line), None)


def _tell_waiting():
    """At the end of the process: marks that nothing was imported for."""
    try:
        helper = sys.argv[:1] == ["-c"]  # as vptrace_marks has it
        recorded = _waiting and _library()
        said = [(key, text) for key, text, always in _waiting if recorded or (always and not helper)]
        del _waiting[:]
        if recorded and said:
            _tell_capture(recorded, "; ".join(text for _, text in said))
        listed = [_tell("unused", "%s\t%s" % complaint) for complaint in said]
        if said and not all(listed):
            sys.stderr.write("vptrace: marks: %s\n" % "; ".join(text for _, text in said))
    except Exception:  # pylint: disable=broad-except  # the program's end is not ours to spoil
        pass


def _tell_capture(path, text, key="marks.unused"):
    """The same as a fact of the capture of this process, which is ended later."""
    _loaded(path).vptrace_metadata(key.encode("ascii"), text.encode("utf-8", "replace"))


def _tell_denoisers():
    """Where no marks were loaded, the report is to say which line of a mark file may find the program's steps."""
    try:
        path = "torch.nn" in sys.modules and {"vptrace_marks", "_own_vptrace_marks"}.isdisjoint(sys.modules) and _library()
        found = _names_of("denoisers.py", "vptrace_marks")["lines"]() if path else []
        if found:
            _tell_capture(path, ", ".join(found), "marks.denoisers")
    except Exception:  # pylint: disable=broad-except  # the program's end is not ours to spoil
        pass


def _loaded(path):
    """The library at this path, which is in this process."""
    if not _HAS_MARKS:
        import ctypes  # pylint: disable=import-outside-toplevel
    else:
        with _standard:
            import ctypes  # pylint: disable=import-outside-toplevel
    return ctypes.CDLL(path)


# ---- ends ----


def _stop(path):
    _loaded(path).vptrace_stop(None)


def _end():
    """Ends the capture of this process, if libvptrace.so is in it. Python ends some processes without the C library's exit(),
    which would do it."""
    _tell_waiting()
    _tell_denoisers()
    try:
        path = _library()
        if path:
            _stop(path)
    except Exception:  # pylint: disable=broad-except  # the program's end is not ours to spoil
        pass


def _at_exit():
    """After a KeyboardInterrupt that nobody caught, Python dies of SIGINT. The launcher writes the ring of a process that dies."""
    if getattr(sys, "last_type", None) is KeyboardInterrupt and not os.environ.get("VPTRACE_RING"):
        _end()
    else:
        _tell_waiting()
        _tell_denoisers()


def _after_fork():
    """A process that multiprocessing has forked runs its finalizers, then os._exit(). Those of the parent are forgotten once
    this has returned, so ours is made after that."""
    _tell("site", "")
    util = sys.modules.get("multiprocessing.util")
    if util:
        util.register_after_fork(_end, lambda end: util.Finalize(None, end, exitpriority=-1000))


def _watch_ends():
    import atexit  # pylint: disable=import-outside-toplevel

    _tell("site", "")
    atexit.register(_at_exit)
    if hasattr(os, "register_at_fork"):  # Python 3.7
        os.register_at_fork(after_in_child=_after_fork)


# ---- the next ----


def _run_the_next():
    """Runs the sitecustomize that follows this one on sys.path."""
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or os.curdir) != _HERE]
    if sys.version_info < (3, 4):
        import imp  # pylint: disable=import-outside-toplevel,deprecated-module,import-error

        try:
            found = imp.find_module("sitecustomize", sys.path)
        except ImportError:
            return
        _Modules.this = sys.modules.pop("sitecustomize")  # else the next would be run in it
        imp.load_module("sitecustomize", *found)
        return
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
        if _HAS_MARKS and (_MARK != "none" or _asks()):
            _watch(_MARK)
        elif _MARK != "none":
            _waiting.append(("python", "they need Python 3.8 or later, and a process ran Python %d.%d" % sys.version_info[:2], False))
    except Exception as _error:  # pylint: disable=broad-except
        _fail(_error)
_run_the_next()
