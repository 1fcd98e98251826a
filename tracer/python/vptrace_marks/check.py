"""Says whether the lines of a mark file or rule can be read, for `vptrace run`.

    python3 -I -S check.py file PATH
    python3 -I -S check.py rule TEXT

Exit code 3 and a sentence: a mistake. 0: none.
"""

import os
import sys


def main(what, item):
    """The exit code."""
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from vptrace_marks import lines  # pylint: disable=import-outside-toplevel

    try:
        if what == "file":
            lines.read_file(item)
        else:
            lines.Source("mark_calls()", item)
    except lines.MarkError as error:
        sys.stdout.write(str(error).encode("utf-8", "backslashreplace").decode("utf-8"))
        sys.stdout.flush()
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
