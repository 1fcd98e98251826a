#!/usr/bin/env python3
"""marked.py - runs a program under marks and shows the ranges that they make.

    marked.py FILE FOLDER      unpacks FILE, runs its generate.py, compares the ranges with its `expected`

FILE holds several files, each after a line "==> PATH <==". They have the modules and names of a public project, and next to
nothing in them. The ranges are those that reach the library's functions, which are replaced here; what a range is stands
before its name, indented by how many are open around it. The environment says what is marked, as in real use.
"""
import os
import runpy
import sys

KINDS = {1: "request", 2: "stage", 3: "block", 4: "step", 5: "context", 6: "frames", 7: "range"}


class Note:  # pylint: disable=too-few-public-methods
    """The struct, as the library reads it from the arguments of its builtins."""

    def __init__(self, kind, index=-1, frames=-1, latents=-1, timestep=-1.0):  # pylint: disable=too-many-arguments
        assert {type(n) for n in (kind, index, frames, latents)} == {int} and type(timestep) is float
        self.kind, self.index, self.frames, self.latents, self.timestep = kind, index, frames, latents, timestep


class Library:
    """What libvptrace.so would be asked to do, as text."""

    builtins = True  # whether it has some
    request, facts = None, {}  # the depth of the outermost open request, and what was told in it

    def __init__(self):
        self.lines, self.depth, self.metadata_seen = [], 0, []

    def show(self, note, name):
        words = [KINDS[note.kind] if note else "range"]
        if note and note.kind in (1, 2, 7) or not note:
            words.append(name.decode())
        if note and note.index >= 0:
            words.append(str(note.index))
        words += ["%s=%d" % (key, getattr(note, key)) for key in ("frames", "latents") if note and getattr(note, key) >= 0]
        if note and note.timestep >= 0:
            words.append("timestep=%g" % note.timestep)
        self.lines.append("  " * self.depth + " ".join(words))

    def note_push(self, name, note):
        self.show(getattr(note, "_obj", note), name)
        if self.request is None and getattr(note, "_obj", note).kind == 1:
            self.request, self.facts = self.depth, {}
        self.depth += 1

    def note_fill(self, note):
        "Of the innermost open request, as no other is filled; its line is written again."
        assert note.kind == 1
        inner = self.depth
        for at in reversed(range(len(self.lines))):
            indent = (len(self.lines[at]) - len(self.lines[at].lstrip())) // 2
            if indent < inner and self.lines[at].split()[0] == "request":
                break
            inner = min(inner, indent)
        else:
            return
        self.lines[at] += "".join(" %s=%d" % (key, getattr(note, key)) for key in ("frames", "latents")
                                  if getattr(note, key) >= 0 and key + "=" not in self.lines[at])

    def range_push(self, name):
        self.show(None, name)
        self.depth += 1

    def range_pop(self):
        assert self.depth, "a pop without a push"
        self.depth -= 1
        if self.depth == self.request:
            self.request = None
            for name, value in self.facts.items():
                self.metadata(b"request." + name, value)

    def note_mark(self, name, note):
        self.show(getattr(note, "_obj", note), name)

    def builtin(self, name):
        function = getattr(self, name) if self.builtins else None
        if function and name.startswith("note"):
            return lambda name, *numbers: function(name, Note(*numbers))
        return function

    def quick(self, name):
        return getattr(self, name)

    def metadata(self, key, value):
        self.metadata_seen.append("%s=%s" % (key.decode(), value.decode()))
        return 0

    def fact(self, name, value):
        if self.request is not None:
            self.facts[name] = value  # the newest counts
        return 0

    def status(self):
        return 1

    def statistics(self, stats):
        return 0

    def version(self):
        return b"0"

    def stop(self, stats):
        return 0

    def start(self, options):
        return 0

    def counter(self, name, value, unit):
        return 0


def unpack(path, folder):
    files, name = {}, None
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("==> "):
                name = line.split()[1]
                files[name] = ""
            elif name:
                files[name] += line
    for name, text in files.items():
        if name == "expected":
            continue
        place = os.path.join(folder, name)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        parts = name.split("/")[:-1]
        for depth in range(1, len(parts) + 1):  # every folder is a package
            init = os.path.join(folder, *parts[:depth], "__init__.py")
            if not os.path.exists(init):
                with open(init, "w", encoding="utf-8"):
                    pass
        with open(place, "w", encoding="utf-8") as file:
            file.write(text)
    return files


def main():
    path, folder = sys.argv[1:]
    files = unpack(path, folder)
    import vptrace  # pylint: disable=import-outside-toplevel

    library = vptrace._library.loaded = Library()
    sys.path.insert(0, folder)
    sys.argv = ["generate.py"]
    runpy.run_path(os.path.join(folder, "generate.py"), run_name="__main__")
    assert library.depth == 0, "%d ranges are still open" % library.depth
    found = library.lines + library.metadata_seen
    if os.environ.get("VPT_RECORD"):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text[:text.index("==> expected <==\n")] + "==> expected <==\n" + "\n".join(found) + "\n")
        files["expected"] = "\n".join(found)
    expected = [line for line in files["expected"].splitlines() if line.strip()]
    if found != expected:
        import difflib  # pylint: disable=import-outside-toplevel

        print("\n".join(difflib.unified_diff(expected, found, "expected", "found", lineterm="", n=30)))
        sys.exit(1)
    vptrace.unmark_calls()


if __name__ == "__main__":
    main()
