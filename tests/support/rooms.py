"""rooms.py SOURCE: whether the sources keep the map of .github/CONTRIBUTING.md. Prints what does not.

The map lists the rooms from the bottom up: a file includes only files of its own room and of rooms above it in the
list, so rooms have no circles. A room without rooms in it has at least five files, so that its name says more than
theirs. A folder of tests is a room too, of at most as many files. A comment names only files that are there. No line
of C or Python is wider than MOST_COLUMNS; clang-format keeps code narrower than that, but neither comments nor texts.
"""

import collections
import os
import re
import sys

TOPS = ("formats", "analysis", "tracer")
SUFFIXES = (".c", ".h", ".def")
TEST_SUFFIXES = (".c", ".h", ".def", ".py", ".sh")
WIDE_SUFFIXES = (".c", ".h", ".py")
FEWEST_FILES, MOST_FILES, MOST_COLUMNS, TAB = 5, 25, 140, 8
# files of others, and patterns, that comments may name
FOREIGN = {"check_NAME.c", "cupti.h"}
# rooms of fewer files, with the reason
SMALL = {
    "analysis/mpi",  # a program of its own, which alone links MPI
}
# names, without their ends, that files of two rooms have, with the reason
TWICE = {
    "finding",  # a row of the report, and what makes such rows
}


def rooms_of(contributing):
    """The rooms of the map, in its order."""
    return re.findall(r"^\| `((?:formats|analysis|tracer)[a-z_/]*)/` \|", contributing, re.M)


def sources(root, tops, suffixes):
    for top in tops:
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if name.endswith(suffixes):
                    yield os.path.relpath(os.path.join(folder, name), root)


def files_named(root, file, text):
    """The files that comments name by a path: "../past/timeline.c" from here, or a name alone."""
    for comment in re.findall(r"/\*.*?\*/", text, re.S):
        for name in re.findall(r"(?<![\w<])((?:\.\./)*(?:\w+/)*\w+\.[ch])\b", comment):
            yield name, os.path.normpath(os.path.join(root, os.path.dirname(file), name)) if name.startswith("..") else None


def wide_lines(text):
    """The numbers and columns of lines that are too wide. What a line says to pylint must stand on it, so it does not count."""
    for number, line in enumerate(text.splitlines(), 1):
        columns = len(re.sub(r"  # pylint: .*", "", line).expandtabs(TAB))
        if columns > MOST_COLUMNS:
            yield number, columns


def main(root):
    with open(os.path.join(root, ".github", "CONTRIBUTING.md"), encoding="utf-8") as f:
        rooms = rooms_of(f.read())
    place = {room: i for i, room in enumerate(rooms)}
    files = list(sources(root, TOPS, SUFFIXES))
    faults = []
    sizes = collections.Counter(os.path.dirname(file) for file in files)
    tests = collections.Counter(os.path.dirname(file) for file in sources(root, ("tests",), TEST_SUFFIXES))
    for room in sorted(set(sizes) - set(rooms)):
        faults.append("%s: expected a row in the map of CONTRIBUTING.md, found none" % room)
    for room in rooms:
        if not os.path.isdir(os.path.join(root, room)):
            faults.append("%s: is in the map, but is no folder" % room)
    for room, count in sorted((sizes + tests).items()):
        if count > MOST_FILES:
            faults.append("%s: expected at most %d files, found %d" % (room, MOST_FILES, count))
    for room, count in sorted(sizes.items()):
        few = count < FEWEST_FILES and not any(other.startswith(room + "/") for other in sizes)
        if few != (room in SMALL):
            wanted = "at least %d files" % FEWEST_FILES if few else "a small room, since it is on the list of these"
            faults.append("%s: expected %s, found %d" % (room, wanted, count))
    for room in sorted(SMALL - set(sizes)):
        faults.append("%s: is on the list of small rooms, but has no file" % room)
    names = collections.defaultdict(set)
    for file in files:
        if file.endswith((".c", ".h")) and not file.endswith("/main.c"):
            names[os.path.basename(file)[:-2]].add(os.path.dirname(file))
    for name, where in sorted(names.items()):
        if len(where) > 1 and name not in TWICE:
            faults.append("%s: expected files of this name in one room, found them in %s" % (name, ", ".join(sorted(where))))
    for name in sorted(TWICE):
        if len(names[name]) < 2:
            faults.append("%s: may be there twice, but is not: take it off the list" % name)
    for file in files:
        room = os.path.dirname(file)
        with open(os.path.join(root, file), encoding="utf-8") as f:
            text = f.read()
        for included in re.findall(r'^#include "([^"]+)"', text, re.M):
            other = os.path.dirname(included)
            if room not in place or other not in place or place[other] <= place[room]:
                continue
            faults.append("%s: includes %s, of a room further down in the map" % (file, included))
        if not file.startswith("formats/"):
            wrong = "analysis/" if file.startswith("tracer/") else "tracer/"
            if re.search(r'^#include "%s' % wrong, text, re.M):
                faults.append("%s: includes a file of %s" % (file, wrong))
    names = {os.path.basename(file) for file in sources(root, TOPS + ("tests", "bench"), SUFFIXES)}
    for file in files:
        with open(os.path.join(root, file), encoding="utf-8") as f:
            text = f.read()
        for name, path in files_named(root, file, text):
            base = os.path.basename(name)
            if not (os.path.exists(path) if path else base in names or base in FOREIGN):
                faults.append("%s: a comment names %s, which is not there" % (file, name))
    for file in sources(root, TOPS + ("tests", "bench"), WIDE_SUFFIXES):
        with open(os.path.join(root, file), encoding="utf-8") as f:
            text = f.read()
        for number, columns in wide_lines(text):
            faults.append("%s:%d: expected at most %d columns, found %d" % (file, number, MOST_COLUMNS, columns))
    for fault in faults:
        print(fault)
    print("%d files in %d rooms" % (len(files), len(sizes)))
    return 1 if faults or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
