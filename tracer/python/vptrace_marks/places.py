"""Where marks go: the functions that lines name, in modules that are there or come later.

A mark is put where its function is defined, so that everybody who has it from there calls it: on the class for a method,
which subclasses and copies of objects then share; in the module for a function. The forward() of a torch.nn.Module is
marked at __call__ of its class: hooks, wrappers set on an object and torch.compile(), all of which lie between the two,
are inside the range then, and compiled code stays as it is.
"""

import fnmatch
import functools
import sys
import types

from . import calls


def _matches(name, pattern):
    return name == pattern or "*" in pattern and fnmatch.fnmatchcase(name, pattern)


def _is_torch_module(holder):
    torch = sys.modules.get("torch.nn")
    return isinstance(holder, type) and torch is not None and issubclass(holder, torch.Module)


def _holders(module, names):
    """The classes, or the module, that a line's names but the last lead to."""
    found = [module]
    for part in names:
        pattern, _, base = part.partition("(")
        if pattern != part or "*" in pattern:
            found = [item for holder in found for name, item in list(vars(holder).items())
                     if isinstance(item, type) and item.__module__ == module.__name__ and _matches(name, pattern)
                     and (not base or any(b.__name__ == base[:-1] for b in item.__mro__[1:]))]
        else:
            found = [getattr(holder, pattern) for holder in found if hasattr(holder, pattern)]
    return found


def _static(holder, name):
    """An attribute as it is stored, by whichever class."""
    if isinstance(holder, type):
        for base in holder.__mro__:
            if name in base.__dict__:
                return base.__dict__[name]
        return None
    return vars(holder).get(name)


class Places:
    """All functions that are marked, to undo it."""

    def __init__(self, recorder):
        self._recorder = recorder
        self._kept = {}  # (holder's id, name): holder, name, what was there, whether it was the holder's own
        self._bases = {}  # class: lines for its subclasses

    # ---- lines of a module ----

    def attach(self, module, lines):
        """Marks what the lines name in the module."""
        wanted = {}  # (holder's id, name): holder, name, lines
        for line in lines:
            for holder in _holders(module, line.names[:-1]):
                if line.subclasses and isinstance(holder, type):
                    self._subclasses(holder, line, wanted)
                else:
                    self._collect(holder, line, "*" not in "".join(line.names), wanted)
        for holder, name, found in wanted.values():
            self._mark(holder, name, found)

    @staticmethod
    def _collect(holder, line, inherited, wanted):
        """Adds the functions of a holder that the line's last name matches. `inherited`: also those of its bases."""
        pattern = line.names[-1]
        own = vars(holder)
        names = [name for name in list(own) if _matches(name, pattern)]
        if not names and inherited and _static(holder, pattern) is not None:
            names = [pattern]
        for name in names:
            wanted.setdefault((id(holder), name), (holder, name, []))[2].append(line)

    def _subclasses(self, base, line, wanted):
        """The class, its subclasses, and those that come later, where they define the function themselves."""
        self._hook(base)
        self._bases[base].append(line)
        seen, todo = set(), [base]
        while todo:
            cls = todo.pop()
            if cls not in seen:
                seen.add(cls)
                self._collect(cls, line, False, wanted)
                todo.extend(type.__subclasses__(cls))

    def _hook(self, base):
        if base in self._bases:
            return
        lines = self._bases[base] = []
        own = base.__dict__.get("__init_subclass__")

        def init_subclass(cls, **named):
            if own is not None:
                own.__func__(cls, **named)
            else:
                super(base, cls).__init_subclass__(**named)
            if base in self._bases:
                wanted = {}
                for line in lines:
                    self._collect(cls, line, False, wanted)
                for holder, name, found in wanted.values():
                    self._mark(holder, name, found)

        self._keep(base, "__init_subclass__")
        base.__init_subclass__ = classmethod(init_subclass)

    # ---- one function ----

    def _keep(self, holder, name):
        own = name in vars(holder)
        self._kept.setdefault((id(holder), name), (holder, name, vars(holder).get(name), own))

    def _mark(self, holder, name, lines):
        try:
            self._try_to_mark(holder, name, lines)
        except (ValueError, TypeError, AttributeError) as error:
            for line in lines:
                line.problem = line.problem or str(error)

    def _try_to_mark(self, holder, name, lines):
        stored = _static(holder, name)
        place, signature_of = name, None
        if name == "forward" and _is_torch_module(holder) and not any(line.itself for line in lines):
            place, signature_of = "__call__", stored
            for line in lines:
                line.at_call = True
            stored = _static(holder, "__call__")
        kind = type(stored) if isinstance(stored, (staticmethod, classmethod)) else None
        function = stored.__func__ if kind else stored
        if isinstance(function, type):
            raise ValueError("%s is a class: name its method, such as %s.__call__" % (name, name))
        if not isinstance(function, (types.FunctionType, types.BuiltinFunctionType)):  # which may have more than a call
            raise ValueError("%s: expected a function, found a %s" % (name, type(function).__name__))
        before = getattr(function, "__vptrace_marks__", None)
        if before:
            function, lines = before[0], _merged(before[1], lines)
            if lines == before[1]:
                self._count(lines)
                return
        lines = _effective(lines)
        if not lines:
            return
        if place == "__call__" and place not in vars(holder):
            function, signature_of = _of_base(holder, function), signature_of or function
        marked = calls.wrap(function, self._recorder, lines, signature_of)
        self._keep(holder, place)
        setattr(holder, place, kind(marked) if kind else marked)
        if isinstance(holder, types.ModuleType):
            _replace_elsewhere(stored, marked, holder)
        self._count(lines)

    @staticmethod
    def _count(lines):
        for line in lines:
            line.wrapped += 1

    def detach(self):
        """Puts everything back."""
        self._bases.clear()
        for holder, name, stored, own in self._kept.values():
            now = vars(holder).get(name)
            if own:
                setattr(holder, name, stored)
            elif name in vars(holder):
                delattr(holder, name)
            if isinstance(holder, types.ModuleType):
                _replace_elsewhere(now, stored, holder)
        self._kept.clear()


def _of_base(holder, function):
    """The __call__ that a class inherits, looked up at each call: tracers of torch replace it for a time."""

    @functools.wraps(function)
    def inherited(self, *args, **kwargs):
        return super(holder, self).__call__(*args, **kwargs)

    return inherited


def _merged(before, more):
    return before + [line for line in more if line not in before]


def _effective(lines):
    """A callable has one mark of each kind, the first that names it; after "none" there are no more."""
    kept = []
    for line in lines:
        if line.kind == "none":
            break
        if all(line.kind != other.kind for other in kept):
            kept.append(line)
    if any(line.kind in ("step", "step begin", "context") for line in kept):
        kept = [line for line in kept if line.kind != "pass"]
    for line in lines:
        if line not in kept and line.kind != "none":
            line.hidden_by = next(other for other in lines if other.kind in (line.kind, "none") or line.kind == "pass")
    return kept


def _replace_elsewhere(old, new, home):
    """Modules that have imported a function by its name have it too."""
    for module in list(sys.modules.values()):
        if module is home or not isinstance(module, types.ModuleType):
            continue
        for name, item in list(vars(module).items()):
            if item is old:
                setattr(module, name, new)
