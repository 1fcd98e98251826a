"""What a request was asked for, by its arguments, and what it made, by its result.

Nobody has to say where: pipelines call these things by few names. A mark file's "facts=" goes first. Frames are counted in
the result, since a pipeline may round their number, make several videos, or stop early. A result that is not understood
has no frames here; neither has one of latents, which nothing has decoded, nor a call that failed.

Only shapes and lengths are read, never what is in a tensor.
"""

# fact: the arguments that mean it, the first one that is known
ARGUMENTS = {
    "height": ("height",),
    "width": ("width",),
    "steps": ("num_inference_steps", "sampling_steps", "infer_steps", "num_steps", "num_sampling_steps", "steps"),
    "guidance": ("guidance_scale", "guide_scale", "cfg_scale", "true_cfg_scale"),
    "frames": ("num_frames", "frame_num", "video_length", "frames", "target_video_length", "num_output_frames"),
    "seed": ("seed", "base_seed", "generator"),
    "output": ("output_type",),  # if these are latents
}
_MEANS = {argument: fact for fact, arguments in ARGUMENTS.items() for argument in arguments if fact not in ("frames", "output")}
_VIDEOS = ("frames", "videos", "video")  # in results
_SEEDS = 4  # of a list that are told
_ROUNDED = 16  # a pipeline leaves out fewer frames than this to fit its decoder


def name_of(fact):
    """As the report knows it: a mark file may call it like the argument."""
    return _MEANS.get(fact, fact)


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _seed(value):
    """Of a number, a generator of torch or a list of either; None: unknown."""
    if isinstance(value, (list, tuple)):
        seeds = [_seed(item) for item in value[:_SEEDS]]
        return ",".join(map(str, seeds)) if seeds and None not in seeds else None
    ask = getattr(value, "initial_seed", None)
    value = ask() if callable(ask) else value
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


class Asked:
    """The facts of calls of one function. `arguments`: its arguments_of()."""

    def __init__(self, arguments):
        self._arguments = arguments

    def _find(self, fact, args, kwargs):
        for name in ARGUMENTS[fact]:
            value = kwargs.get(name)
            if value is None and name in self._arguments:
                position, default = self._arguments[name]
                given = position is not None and position < len(args)
                value = args[position] if given else None if name in kwargs else default
            if fact == "seed":
                value = _seed(value)
            elif fact == "output":
                value = value if isinstance(value, str) and value.startswith("latent") else None
            elif not _is_number(value):
                value = None
            if value is not None:
                return value
        return None

    def facts(self, args, kwargs):
        """{fact: value} of what is known; "frames" are those of a video."""
        found = {}
        for fact in ARGUMENTS:
            try:
                value = self._find(fact, args, kwargs)
            except Exception:  # pylint: disable=broad-except  # an object of the program's
                continue
            if value is not None:
                found[fact] = value
        return found


# ---- results ----


class Made:  # pylint: disable=too-few-public-methods
    """Videos, or images: how many, all their frames (0: images), and the size of one in pixels (0: unknown)."""

    def __init__(self, batch, frames, height=0, width=0):
        self.batch, self.frames, self.height, self.width = batch, frames, height, width


def _shape(value):
    shape = getattr(value, "shape", None)
    return tuple(shape) if isinstance(shape, tuple) and all(type(n) is int for n in shape) else None  # pylint: disable=unidiomatic-typecheck


# Where channels, frames, height and width may stand in a video, the likeliest first.
_ORDERS = ("FCHW", "CFHW", "FHWC")


def _video(shape):
    """(frames, height, width) of the shape of one video; None: it is none."""
    for channels in ((3,), (1, 4)):  # colours before what may be frames
        for order in _ORDERS:
            if shape[order.index("C")] in channels:
                return tuple(shape[order.index(axis)] for axis in "FHW")
    return None


def _of_shape(shape):
    if len(shape) == 5:
        found = _video(shape[1:])
        return found and Made(shape[0], shape[0] * found[0], *found[1:])
    found = _video(shape) if len(shape) == 4 else None
    return found and Made(1, *found)


def _size(image):
    """(height, width) of a picture of PIL, or of an array; None: it is neither."""
    size = getattr(image, "size", None)
    if isinstance(size, tuple) and len(size) == 2:
        return size[1], size[0]
    shape = _shape(image)
    if shape and len(shape) == 3:
        return (shape[1], shape[2]) if shape[0] in (1, 3, 4) else shape[:2]
    return shape if shape and len(shape) == 2 else None


def _of_videos(value):
    """Made, of a value that holds videos: an array, a list of arrays, of frames, or of lists of frames."""
    shape = _shape(value)
    if shape is not None:
        return _of_shape(shape)
    if not isinstance(value, (list, tuple)) or not value:
        return None
    size = _size(value[0])
    if size:
        return Made(1, len(value), *size)
    parts = [_of_videos(item) for item in value]
    if None in parts:
        return None
    return Made(sum(part.batch for part in parts), sum(part.frames for part in parts), parts[0].height, parts[0].width)


def _of_images(value):
    shape = _shape(value)
    if shape and len(shape) == 4:
        size = _size_of_images(shape)
        return Made(shape[0], 0, *size)
    if isinstance(value, (list, tuple)) and value and _size(value[0]):
        return Made(len(value), 0, *_size(value[0]))
    return None


def _size_of_images(shape):
    return shape[2:] if shape[1] in (1, 3, 4) else shape[1:3]


def _member(result, name):
    values = result if isinstance(result, dict) else getattr(result, "values", None)  # of a state of modular pipelines
    found = values.get(name) if isinstance(values, dict) else None
    return getattr(result, name, None) if found is None else found


def _is_surely_video(value):
    """Without anybody's word for it: an array of videos in colour, or lists of frames."""
    shape = _shape(value)
    if shape is not None:
        return len(shape) == 5 and 3 in (shape[1], shape[2], shape[4])
    return isinstance(value[0], (list, tuple))


def _made(result, asked):
    for name in _VIDEOS:
        value = _member(result, name)
        if value is not None:
            return _of_videos(value)
    images = _member(result, "images")
    if images is not None:
        return _of_images(images)
    value = result[0] if isinstance(result, tuple) and result else result  # without return_dict, say; sound may follow
    found = _of_videos(value)
    if found and asked.get("frames"):
        missing = asked["frames"] * found.batch - found.frames
        return found if 0 <= missing < _ROUNDED * found.batch else None
    return found if found and _is_surely_video(value) else None


def is_latent(asked):
    """Whether a call that was `asked` for these facts() makes latents, which nothing decodes in it."""
    return "output" in asked


def made(result, asked):
    """What a call that was `asked` for these facts() has made; None: nothing, or it is not known."""
    if is_latent(asked):
        return None
    try:
        return _made(result, asked)
    except Exception:  # pylint: disable=broad-except  # an object of the program's
        return None
