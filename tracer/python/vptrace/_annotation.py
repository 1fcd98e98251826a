"""Annotations of ranges and marks: flat JSON objects, see vptrace.h."""

from . import _library
from ._library import as_bytes

_BYTES_MOST = 255  # of an object; a longer one would not be recorded


def text_of(value, most):
    """A text as it may stand between quotes, of at most so many bytes."""
    text = bytes(0x3f if byte < 0x20 or byte in b'"\\' else byte for byte in as_bytes(value)[:most])
    return text.decode("utf-8", "ignore").encode()


def annotation(**members):
    """The bytes of {"kind":"stage","frames":12}; None: no member has a value. Texts are cut where they do not fit."""
    parts, room = [], _BYTES_MOST - 2
    for key, value in members.items():
        if value is None:
            continue
        if isinstance(value, int):
            part = b'"%s":%d' % (key.encode(), value)
        else:
            part = b'"%s":"%s"' % (key.encode(), text_of(value, max(room - len(key) - 6, 0)))
        if len(part) + bool(parts) <= room:
            room -= len(part) + bool(parts)
            parts.append(part)
    return b"{%s}" % b",".join(parts) if parts else None


def push(name, json, note=None):
    """Opens a range with an annotation; with an older library, one with a note."""
    library = _library.loaded
    if json is not None and library.annotated_push:
        library.annotated_push(name, json)
    elif note is not None:
        library.note_push(name, note)
    else:
        library.range_push(name)


def mark(name, json):
    """A mark with an annotation; with an older library, without."""
    library = _library.loaded
    if library.annotated_mark:
        library.annotated_mark(name, json)
    else:
        library.mark(name)
