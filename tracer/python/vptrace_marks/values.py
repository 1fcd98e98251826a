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


class Call:
    """What a value may ask about one call."""

    __slots__ = ("arguments", "args", "kwargs", "count", "request")

    def __init__(self, arguments, args, kwargs, count, request):
        self.arguments, self.args, self.kwargs = arguments, args, kwargs
        self.count, self.request = count, request

    def argument(self, name):
        if name == "count":
            return self.count
        if name == "request":
            if self.request is None:
                raise Unknown("there is no request around the call")
            return self.request
        if name in self.kwargs:
            return self.kwargs[name]
        known = self.arguments.get(name)
        if known is None:
            raise Unknown("the call has no argument " + name)
        position, default = known
        if position is not None and position < len(self.args):
            return self.args[position]
        if default is Unknown:
            raise Unknown("the call has no argument " + name)
        return default


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


def _number(value):
    """Tensors have __index__ and __float__, which wait for the GPU, so the type decides."""
    if not isinstance(value, (int, float)):
        raise Unknown("a %s, not a number" % type(value).__name__)
    return value


def _attribute(of, name):
    def get(call):
        whole = of(call)
        try:
            return getattr(whole, name)
        except AttributeError:
            raise Unknown("%s has no %s" % (type(whole).__name__, name)) from None

    return get


def _item(of, key):
    def get(call):
        whole = of(call)
        if not isinstance(whole, (tuple, list, dict)):
            raise Unknown("items of a %s are not read" % type(whole).__name__)
        try:
            return whole[key]
        except (IndexError, KeyError):
            raise Unknown("there is no item %r" % (key,)) from None

    return get


def _length(of):
    def get(call):
        try:
            return len(of(call))
        except TypeError:
            raise Unknown("it has no length") from None

    return get


def _binary(operation, left, right):
    return lambda call: operation(_number(left(call)), _number(right(call)))


def _key(node):
    node = getattr(node, "value", node) if type(node).__name__ == "Index" else node  # Python 3.8
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return -node.operand.value
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, str)):
        return node.value
    raise ValueError("a number or a name in quotes between the brackets")


def _build(node):
    """The node as a function of a Call."""
    if isinstance(node, ast.Constant) and type(node.value) is int:  # pylint: disable=unidiomatic-typecheck
        value = node.value
        return lambda call: value
    if isinstance(node, ast.Name):
        name = node.id
        return lambda call: call.argument(name)
    if isinstance(node, ast.Attribute):
        return _attribute(_build(node.value), node.attr)
    if isinstance(node, ast.Subscript):
        return _item(_build(node.value), _key(node.slice))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and (
            len(node.args) == 1 and not node.keywords):
        return _length(_build(node.args[0]))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _binary(operator.sub, lambda call: 0, _build(node.operand))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _binary(_OPERATORS[type(node.op)], _build(node.left), _build(node.right))
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _OPERATORS:
        return _binary(_OPERATORS[type(node.ops[0])], _build(node.left), _build(node.comparators[0]))
    raise ValueError("arguments, attributes, [items], len(), whole numbers, + - * // and comparisons")


def _alternatives(node):
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _alternatives(node.left) + _alternatives(node.right)
    return [_build(node)]


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

    def object_of(self, call, check=lambda found: found):
        """Whatever the value is; Unknown is raised, with the reason, if no alternative is known."""
        reason = None
        for alternative in self._alternatives:
            try:
                found = check(alternative(call))
                if found is not None:
                    return found
                reason = Unknown("None")
            except Unknown as unknown:
                reason = unknown
            except Exception as error:  # pylint: disable=broad-except  # a property of the program's, which goes on
                reason = Unknown("%s: %s" % (type(error).__name__, error))
        raise reason

    def number_of(self, call):
        """The value as a number; what is none is unknown."""
        return self.object_of(call, _number)
