"""Values of a mark: small expressions over the arguments of the call.

    num_frames                      an argument, by its name; its default where the call gives none
    self.config.sample_frames       an attribute of it
    latents.shape[2]                an item of a tuple, a list or a dictionary
    len(timesteps)                  how many it has
    4 * latents.shape[2] - 3        whole numbers, + - * //, and comparisons, which are 1 or 0
    num_frames | video_length       the first one that is known
    count                           how many blocks or steps came before
    request.steps                   `request` is the first argument of the request around the call

A value is a number that Python has at hand. Nothing here ever computes with a tensor or reads one: that would launch
work on the GPU or wait for it. Where a value would need that, it is unknown.

A value is there twice. Value.bind() makes a chain of functions, which says why a value is unknown, and tries one
alternative after the other. numbers_of() makes one function of Python for all values of a line, at a third of the cost:
it computes the first alternatives, and leaves whatever fails in it to that chain.
"""

import ast
import operator
import sys

_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class Unknown(Exception):
    """A part of a value is not there, or is not a plain number."""


def arguments_of(signature):
    """{name: (position or None, default or Unknown)} of an inspect.Signature."""
    found, position = {}, 0
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        default = Unknown if parameter.default is parameter.empty else parameter.default
        if parameter.kind is parameter.KEYWORD_ONLY:
            found[parameter.name] = None, default
        else:
            found[parameter.name] = position, default
            position += 1
    return found


def whatever(value):
    """None means that a value is not there."""
    if value is None:
        raise Unknown("None")
    return value


def number(value):
    """Tensors have __index__ and __float__, which wait for the GPU, so the type decides."""
    if not isinstance(value, (int, float)):
        raise Unknown("a %s, not a number" % type(value).__name__)
    return value


# What follows makes functions of a call: (args, kwargs, count, request).


def _argument(name, arguments):
    if name == "count":
        return lambda args, kwargs, count, request: count
    if name == "request":
        return _request
    position, default = arguments.get(name, (None, Unknown))
    if position is None:
        position = sys.maxsize

    def get(args, kwargs, count, request):  # pylint: disable=unused-argument
        if name in kwargs:
            return kwargs[name]
        if position < len(args):
            return args[position]
        if default is Unknown:
            raise Unknown("the call has no argument " + name)
        return default

    return get


def _request(args, kwargs, count, request):  # pylint: disable=unused-argument
    if request is None:
        raise Unknown("there is no request around the call")
    return request


def _attribute(of, name):
    def get(*call):
        whole = of(*call)
        try:
            return getattr(whole, name)
        except AttributeError:
            raise Unknown("%s has no %s" % (type(whole).__name__, name)) from None

    return get


def _item(of, key):
    def get(*call):
        whole = of(*call)
        if not isinstance(whole, (tuple, list, dict)):
            raise Unknown("items of a %s are not read" % type(whole).__name__)
        try:
            return whole[key]
        except (IndexError, KeyError):
            raise Unknown("there is no item %r" % (key,)) from None

    return get


def _length(of):
    def get(*call):
        try:
            return len(of(*call))
        except TypeError:
            raise Unknown("it has no length") from None

    return get


def _binary(operation, left, right):
    def get(args, kwargs, count, request):
        a, b = left(args, kwargs, count, request), right(args, kwargs, count, request)
        return operation(a if type(a) is int else number(a), b if type(b) is int else number(b))  # pylint: disable=unidiomatic-typecheck

    return get


def _key_of(node):
    node = getattr(node, "value", node) if type(node).__name__ == "Index" else node  # Python 3.8
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return -node.operand.value
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, str)):
        return node.value
    raise ValueError("a number or a name in quotes between the brackets")


def _build(node, arguments):  # pylint: disable=too-many-return-statements
    """The node as a function of a call, for a function with these arguments."""
    if isinstance(node, ast.Constant) and type(node.value) is int:  # pylint: disable=unidiomatic-typecheck
        value = node.value
        return lambda args, kwargs, count, request: value
    if isinstance(node, ast.Name):
        return _argument(node.id, arguments)
    if isinstance(node, ast.Attribute):
        return _attribute(_build(node.value, arguments), node.attr)
    if isinstance(node, ast.Subscript):
        return _item(_build(node.value, arguments), _key_of(node.slice))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and (
            len(node.args) == 1 and not node.keywords):
        return _length(_build(node.args[0], arguments))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _binary(operator.sub, lambda *call: 0, _build(node.operand, arguments))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _binary(_OPERATORS[type(node.op)], _build(node.left, arguments), _build(node.right, arguments))
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _OPERATORS:
        return _binary(_OPERATORS[type(node.ops[0])], _build(node.left, arguments), _build(node.comparators[0], arguments))
    raise ValueError("arguments, attributes, [items], len(), whole numbers, + - * // and comparisons")


def _alternatives(node):
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _alternatives(node.left) + _alternatives(node.right)
    return [node]


class Value:
    """A value as it stands in a line. ValueError: what was expected instead."""

    __slots__ = ("text", "_alternatives")

    def __init__(self, text):
        self.text = text
        try:
            tree = ast.parse(text.strip(), mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ValueError("an expression") from None
        self._alternatives = _alternatives(tree.body)
        self.bind({}, whatever)  # finds mistakes

    def bind(self, arguments, convert):
        """The value as a function of a call, (args, kwargs, count, request), of a function with these arguments_of(). `convert`:
        `int`, `float`, `number` for either, or `whatever`. It raises Unknown, with the reason, if no alternative is known; a
        number that is not finite is no `int`: OverflowError or ValueError."""
        alternatives = [_build(node, arguments) for node in self._alternatives]

        def find(args, kwargs, count, request):
            reason = None
            for get in alternatives:
                try:
                    found = get(args, kwargs, count, request)
                    kind = type(found)
                    if kind is convert:
                        return found
                    if convert is whatever:
                        return whatever(found)
                    if kind is not int and kind is not float:
                        number(found)
                except Unknown as unknown:
                    reason = unknown
                except Exception as error:  # pylint: disable=broad-except  # a property of the program's, which goes on
                    reason = Unknown("%s: %s" % (type(error).__name__, error))
                else:
                    return convert(found)
            raise reason

        return find

    def write(self, writer):
        """The first alternative as an expression of Python."""
        return writer.text(self._alternatives[0])


# ---- the same as Python ----

_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//",
          ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}

# What numbers_of() gives for a value that is unknown or that the line does not have, and the types that it gives as they are.
ABSENT = {"index": None, "frames": -1, "latents": -1, "timestep": -1.0, "context": 0, "key": None}
_TYPES = {"timestep": float, "key": whatever}  # else int


class _Writer:
    """Writes a node as an expression over args, kwargs, count and request. Where the value is unknown the expression fails, with
    whatever exception."""

    def __init__(self, arguments, names):
        self._arguments, self._names = arguments, names  # names: what the expression needs, which grows

    def _new(self, value=None):
        name = "v%d" % len(self._names)
        self._names[name] = value
        return name

    def _argument(self, name):
        if name in ("count", "request"):
            return name
        position, default = self._arguments.get(name, (None, Unknown))
        if position is None:
            return "kwargs[%r]" % name if default is Unknown else "kwargs.get(%r, %s)" % (name, self._new(default))
        if default is Unknown:
            return "(kwargs[%r] if %r in kwargs else args[%d])" % (name, name, position)
        return "(args[%d] if len(args) > %d else kwargs.get(%r, %s))" % (position, position, name, self._new(default))

    def _number(self, node):
        text = self.text(node)
        if isinstance(node, (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare)):  # which make nothing else
            return text
        name = self._new()
        return "(%s if type(%s := %s) is int or type(%s) is float else number(%s))" % (name, name, text, name, name)

    def text(self, node):
        """For a node that _build() has accepted."""
        if isinstance(node, ast.Constant):
            return "(%r)" % node.value
        if isinstance(node, ast.Name):
            return self._argument(node.id)
        if isinstance(node, ast.Attribute):
            return "%s.%s" % (self.text(node.value), node.attr)
        if isinstance(node, ast.Subscript):
            name = self._new()
            return "(%s if isinstance(%s := %s, (tuple, list, dict)) else ())[%r]" % (
                name, name, self.text(node.value), _key_of(node.slice))
        if isinstance(node, ast.Call):
            return "len(%s)" % self.text(node.args[0])
        if isinstance(node, ast.UnaryOp):
            return "(0 - %s)" % self._number(node.operand)
        if isinstance(node, ast.BinOp):
            left, sign, right = node.left, node.op, node.right
        else:
            left, sign, right = node.left, node.ops[0], node.comparators[0]
        return "(%s %s %s)" % (self._number(left), _SIGNS[type(sign)], self._number(right))


def _lines_of(key, value, arguments, names):
    """The lines that set the variable `key`."""
    careful = "%s = careful_%s(args, kwargs, count, request)" % (key, key)
    try:
        text = value.write(_Writer(arguments, names))
        compile(text, "", "eval")
    except (SyntaxError, RecursionError, MemoryError):  # nested too deeply
        return [careful]
    kind = _TYPES.get(key, int)
    if kind is whatever:
        check = "if %s is None: raise ValueError" % key
    else:
        check = "if type(%s) is not %s: %s = %s(number(%s))" % (key, kind.__name__, key, kind.__name__, key)
    return ["try:", "    %s = %s" % (key, text), "    " + check, "except Exception:", "    " + careful]


def numbers_of(values, arguments, tell):
    """A function of a call, (args, kwargs, count, request), that returns index, frames, latents, timestep, context and key, as in
    ABSENT. `values`: {key: Value}. `tell(key, value, reason)` is called where one is unknown."""
    names, lines = {"number": number}, []
    for key, value in values.items():
        names["careful_" + key] = _careful(key, value, value.bind(arguments, _TYPES.get(key, int)), tell)
        lines += _lines_of(key, value, arguments, names)
    found = ", ".join(key if key in values else repr(absent) for key, absent in ABSENT.items())
    text = "".join("\n    " + line for line in [*lines, "return " + found])
    exec(compile("def numbers(args, kwargs, count, request):" + text, __file__, "exec"), names)  # pylint: disable=exec-used
    return names["numbers"]


def _careful(key, value, find, tell):
    def get(args, kwargs, count, request):
        try:
            return find(args, kwargs, count, request)
        except Unknown as reason:
            tell(key, value, reason)
        except (OverflowError, ValueError):  # not finite
            pass
        return ABSENT[key]

    return get
