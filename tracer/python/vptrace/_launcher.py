"""Lines for `vptrace run`, in the list of tracer/files/run_list.h. Any Python: sitecustomize reads this file too."""

import os

_HEAD = b"vptrace run 1\n"  # as in tracer/files/run_list.h: any other file is not written to


def _opened(path):
    """A descriptor, or None. Never waits, and reads from nothing but a regular file."""
    try:
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return None
    try:
        if os.fstat(file).st_mode & 0o170000 == 0o100000 and os.read(file, len(_HEAD)) == _HEAD:
            return file
    except OSError:
        pass
    os.close(file)
    return None


def _escaped(text):
    return "".join("\\x%02x" % ord(c) if c < " " or c == "\\" else c for c in text)


def tell(said):
    """Adds a line for each (what, text). Returns whether there is a list: `vptrace run` has started this process and has not
    ended."""
    path = os.environ.get("VPTRACE_LIST")
    file = _opened(path) if path else None
    if file is None:
        return False
    try:
        for what, text in said:
            os.write(file, (u"%s %d %s\n" % (what, os.getpid(), _escaped(text))).encode("utf-8", "replace"))
    except OSError:
        return False
    finally:
        os.close(file)
    return True
