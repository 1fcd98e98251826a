"""The lines of a mark file: which calls of a program are what to a video pipeline.

    # Everything after a "#" at the start of a line or after a space is a comment.
    package wan
    wan.text2video:WanT2V.generate = request frames=frame_num facts=size,sampling_steps
    wan.modules.model:WanModel.forward = step begin
    wan.modules.vae:WanVAE.decode = stage vae_decode closes=step

README.md in the folder above describes them for users.
"""

import os

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "presets")
SUFFIX = ".marks"

# What may stand after the "=", and which values each takes.
KINDS = {
    "request": ("frames", "latents", "index", "facts", "closes"),
    "stage": ("frames", "latents", "index", "closes"),
    "block": ("frames", "latents", "index", "closes"),
    "block begin": ("frames", "latents", "index", "key"),
    "block end": (),
    "step": ("index", "timestep", "context", "closes"),
    "step begin": ("index", "timestep", "context", "key"),
    "step end": (),
    "context": ("index", "closes"),
    "pass": ("frames", "latents", "timestep", "context", "key"),
    "frames": ("index", "frames"),
    "none": (),
}
_WORDS = sorted(KINDS)  # for messages
_OPENS = ("block", "step")  # what "closes=" may name


class MarkError(ValueError):
    """A mistake in a mark file: "FILE:LINE: expected ..., found ..."."""


class Line:  # pylint: disable=too-many-instance-attributes
    """One mark."""

    __slots__ = ("source", "number", "module", "names", "subclasses", "kind", "name", "values", "facts", "closes",
                 "wrapped", "called", "problem", "fixed", "itself", "hidden_by", "at_call")

    def __init__(self, source, number):
        self.source, self.number = source, number
        self.module, self.names, self.subclasses = "", (), False
        self.itself = False  # the forward() of a torch.nn.Module is called by that name
        self.at_call = False  # it is marked at the module's __call__, so such a call is not seen
        self.kind, self.name, self.values, self.facts, self.closes = "", None, {}, (), ()
        self.wrapped, self.called, self.problem = 0, False, None
        self.hidden_by = None  # a line that comes first for a function that this one names too
        self.fixed = None  # its range's name in bytes, if that is always the same

    @property
    def target(self):
        """As it stands in the file."""
        names = list(self.names)
        if self.subclasses:
            names[-2] += "+"
        return self.module + ":" + ".".join(names)

    def __repr__(self):
        return "%s:%d: %s = %s" % (self.source.name, self.number, self.target, self.kind)


class Source:
    """A mark file, a preset, or lines that the program gave."""

    def __init__(self, name, text, preset=False):
        self.name, self.preset = name, preset
        self.packages, self.lines, self.asked_for = [], [], True
        for number, raw in enumerate(text.splitlines(), 1):
            words = _split(raw)
            if not words:
                continue
            if words[0] == "package":
                self._package(number, words)
            else:
                self.lines.append(self._line(number, words))

    def _fail(self, number, expected, found):
        raise MarkError("%s:%d: expected %s, found %s" % (self.name, number, expected,
                                                          '"%s"' % found if found else "nothing"))

    def _package(self, number, words):
        if len(words) != 2 or not _is_dotted(words[1]):
            self._fail(number, "the name of one package", " ".join(words[1:]))
        self.packages.append(words[1])

    def _line(self, number, words):
        line = Line(self, number)
        if len(words) < 2 or words[1] != "=":
            self._fail(number, 'MODULE:NAME, " = " and a kind', " ".join(words[:2]))
        self._target(line, words[0])
        kind, rest = " ".join(words[2:4]), words[4:]
        if kind not in KINDS:
            kind, rest = " ".join(words[2:3]), words[3:]
        if kind not in KINDS:
            self._fail(number, "one of " + ", ".join(_WORDS), kind)
        line.kind = kind
        if rest and "=" not in rest[0]:
            if kind not in ("stage", "request", "block", "step", "context"):
                self._fail(number, "no name for %s" % kind, rest[0])
            line.name = rest[0].strip('"')
            rest = rest[1:]
        if kind == "stage" and not line.name:
            self._fail(number, "the stage's name", rest[0] if rest else "")
        for word in rest:
            self._value(line, word)
        text = line.name or {"block": "block", "step": "step", "context": "context pass"}.get(kind)
        line.fixed = text.encode("utf-8", "replace") if text and "{" not in text else None
        return line

    def _target(self, line, word):
        module, colon, name = word.partition(":")
        if not colon or not _is_dotted(module, "*"):
            self._fail(line.number, "a module, a colon and a name", word)
        names = name.split(".")
        if len(names) > 1 and names[-2].endswith("+"):
            line.subclasses, names[-2] = True, names[-2][:-1]
        if names[-1].endswith("!"):
            line.itself, names[-1] = True, names[-1][:-1]
        if not all(_is_part(part) for part in names):
            self._fail(line.number, "names with dots between them after the colon", name)
        line.module, line.names = module, tuple(names)

    def _value(self, line, word):
        from .values import Value  # pylint: disable=import-outside-toplevel

        key, equals, text = word.partition("=")
        allowed = KINDS[line.kind]
        if not equals or key not in allowed:
            self._fail(line.number, "%s for %s" % (" or ".join(k + "=" for k in allowed) or "nothing more", line.kind), word)
        text = text.strip('"')
        if not text:
            self._fail(line.number, "a value for %s=" % key, "")
        if key in line.values or key == "closes" and line.closes or key == "facts" and line.facts:
            self._fail(line.number, "%s= once" % key, word)
        if key == "closes":
            line.closes = tuple(text.split(","))
            for what in line.closes:
                if what not in _OPENS:
                    self._fail(line.number, "block or step after closes=", what)
            return
        try:
            if key == "facts":
                line.facts = tuple(_fact(fact) for fact in text.split(","))
            else:
                line.values[key] = Value(text)
        except ValueError as expected:
            self._fail(line.number, "%s as the value of %s=" % (expected, key), text)


def _fact(text):
    """The fact's name, which "NAME:" may give before the value, and its Value."""
    from .values import Value  # pylint: disable=import-outside-toplevel

    name, colon, value = text.partition(":")
    return name.rpartition(".")[2], Value(value if colon else text)


def _is_name(text, wild=""):
    bare = text.replace(wild, "") if wild else text
    return text.isidentifier() or bare != text and (not bare or ("_" + bare).isidentifier())


def _is_part(part):
    """A name, which may be followed by that of a base class."""
    name, _, base = part.partition("(")
    return _is_name(name, "*") and ("(" not in part or base.endswith(")") and _is_name(base[:-1]))


def _is_dotted(text, wild=""):
    return all(_is_name(part, wild) for part in text.split("."))


def _split(raw):
    """The words of a line without its comment. Quotes keep spaces together, "=" stands alone only between spaces."""
    words, word, quoted = [], "", False
    for at, character in enumerate(raw):
        if character == '"':
            quoted = not quoted
            word += character
        elif quoted:
            word += character
        elif character == "#" and (at == 0 or raw[at - 1].isspace()):
            break
        elif character.isspace():
            if word:
                words.append(word)
            word = ""
        else:
            word += character
    return words + [word] if word else words


def presets():
    """The names of all presets."""
    return sorted(f[:-len(SUFFIX)] for f in os.listdir(FOLDER) if f.endswith(SUFFIX))


def read_preset(name):
    """The Source; its mistakes are ours."""
    path = os.path.join(FOLDER, name + SUFFIX)
    with open(path, encoding="utf-8") as file:
        return Source(name, file.read(), preset=True)


def read_file(path):
    """MarkError also if it cannot be read."""
    try:
        with open(path, encoding="utf-8") as file:
            return Source(path, file.read())
    except UnicodeDecodeError as error:
        line = error.object[:error.start].count(b"\n") + 1
        raise MarkError("%s:%d: expected UTF-8, found the byte 0x%02x" % (path, line, error.object[error.start])) from None
    except OSError as error:
        raise MarkError("%s: %s" % (path, getattr(error, "strerror", None) or error)) from None


def read(what):
    """The Sources of an item of VPTRACE_MARK: a preset's name, else a file's path."""
    name = what.replace("-", "_").lower()
    if os.sep not in what and name in presets():
        return read_preset(name)
    if os.sep not in what and not os.path.exists(what):
        raise MarkError('VPTRACE_MARK: expected auto, none, modules:N, a file or one of %s, found "%s"' %
                        (", ".join(presets()), what))
    return read_file(what)
