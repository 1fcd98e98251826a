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


def _key(node):
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
        return _item(_build(node.value, arguments), _key(node.slice))
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
