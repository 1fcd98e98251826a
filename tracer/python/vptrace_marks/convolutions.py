"""How many floating-point operations a convolution module of torch.nn does, by the shapes of its input and weight.

A multiplication and an addition are two. The same formula as that of formats/import/kineto/text/kineto_convolution.c, for modules
that VPTRACE_MARK=modules:N marks. Nothing here imports torch.
"""

_NEEDED = ("weight", "stride", "padding", "dilation", "groups", "transposed")


def _places(size, kernel, stride, padding, dilation):
    """How many positions the kernel has along a dimension."""
    return (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1


def _paddings(padding, dilation, kernel):
    """For each dimension, both sides together and halved: "same" and "valid" are words for them."""
    if isinstance(padding, str):
        return [step * (size - 1) / 2 if padding == "same" else 0 for step, size in zip(dilation, kernel)]
    return padding


def operations(module, inputs):
    """None: another module, or shapes that do not fit."""
    try:
        weight, stride, padding, dilation, _, transposed = (getattr(module, name) for name in _NEEDED)
        outer, inner, *kernel = map(int, weight.shape)
        *batch, channels = map(int, inputs[0].shape[:-len(kernel)])
        sizes = list(map(int, inputs[0].shape[-len(kernel):]))
        if len(batch) > 1 or channels != (outer if transposed else inner * module.groups):
            return None
        if not transposed:
            paddings = _paddings(padding, dilation, kernel)
            sizes = [max(0, int(_places(*of))) for of in zip(sizes, kernel, stride, paddings, dilation)]
        flop = 2 * outer * inner
        for factor in batch + sizes + kernel:
            flop *= factor
        return flop if flop > 0 else None
    except Exception:  # pylint: disable=broad-except  # no convolution, or whatever the program's classes raise
        return None
