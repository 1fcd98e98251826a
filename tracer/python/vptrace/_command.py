"""The command `vptrace` of an installation by pip, and `python -m vptrace`: runs the program of that name.

It is the one that VPTRACE_BIN names, or lies in the folder that it names; else the one beside libvptrace.so, as pip installs it, or
in the folder bin of its prefix; else the one on PATH.
"""

import os
import sys

from . import _library

_HOW = ("vptrace: the program vptrace is neither named by VPTRACE_BIN nor beside %s nor on PATH: in a checkout, `cmake -S . -B build && "
        "cmake --build build` builds it, and VPTRACE_BIN=$PWD/build names it")


def _is_program(path):
    """Scripts are none: pip's own, which has run this, is on PATH too."""
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF" and os.access(path, os.X_OK)
    except OSError:
        return False


def find(program="vptrace"):
    """The path of it or of another program of vptrace, or None."""
    named = os.environ.get("VPTRACE_BIN")
    if named and program != "vptrace" and not os.path.isdir(named):
        named = os.path.dirname(named)
    folders = [named] if named else []
    if not named:
        library = os.path.realpath(_library.mapped() or __file__)
        beside = os.path.dirname(library)
        folders = [beside, os.path.join(os.path.dirname(beside), "bin"), *os.get_exec_path()]
    for path in ([named] if named else []) + [os.path.join(folder, program) for folder in folders]:
        if _is_program(path):
            return path
    return None


def main():
    path = find()
    if path is None:
        named = os.environ.get("VPTRACE_BIN")
        sys.exit("vptrace: VPTRACE_BIN: expected a program, or a folder with the program vptrace, found %s" % named if named else
                 _HOW % (_library.mapped() or "a libvptrace.so, of which there is none,"))
    try:
        os.execv(path, [path, *sys.argv[1:]])
    except OSError as error:
        sys.exit("vptrace: %s: %s" % (path, error.strerror))
