#!/usr/bin/env python3
"""decode.py - reads a capture with nothing but formats/FORMAT.md, Python's library and zstd.

    decode.py FORMATS-FOLDER CAPTURE          every row of every kind as JSON lines
    decode.py FORMATS-FOLDER CAPTURE ROWS     compares them with the JSON lines in ROWS

It shares no code with the reader in C: columns, units and words come from the tables of FORMAT.md, names
of calls from calls.def. So it fails when the page and the program say different things. It trusts the file
and is slow; damage is the reader's business, apart from a file that ends too early.
"""
import json
import math
import re
import struct
import subprocess
import sys

MASK = (1 << 64) - 1
LANE_COLUMNS = {"STREAM": ("pid", "device", "context", "stream"), "THREAD": ("pid", "tid"),
                "SERIES": ("series", "unit"), "ANY": ("lane",), "NONE": ()}
LANE_SOURCE = {"series": "name", "unit": "lane_unit"}  # where cat's columns have other names


class Page:
    """The tables of FORMAT.md."""

    def __init__(self, folder):
        self.kinds, self.words = {}, {"CALL": {}}
        kind = None
        with open(folder + "/FORMAT.md", encoding="utf-8") as page:
            for line in page:
                heading = re.match(r"### (\d+) ([a-z]+)$", line)
                lane = re.search(r"; lane: ([A-Z]+)\)$", line)
                column = re.match(r"\| (\d+) \| (\w+) \| (\w+) \| (\w+) \| ", line)
                word = re.match(r"\| ([A-Z_]+) \| (0 .*) \|$", line)
                if heading:
                    kind = {"name": heading[2], "lane": "NONE", "columns": []}
                    self.kinds[int(heading[1])] = kind
                elif lane and kind:
                    kind["lane"] = lane[1]
                elif column and kind:
                    kind["columns"].append((int(column[1]), column[2], column[4]))
                elif word:
                    pairs = (item.split(" ", 1) for item in word[2].split(", "))
                    self.words[word[1]] = {int(number): text for number, text in pairs}
        with open(folder + "/calls.def", encoding="utf-8") as calls:
            for number, name in re.findall(r'^VPT_CALL_NAME\((\d+), "(\w+)"', calls.read(), re.M):
                self.words["CALL"][int(number)] = name


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def numbers(planes, rows, width):
    """The small numbers of a column: plane 0 holds the lowest bytes."""
    return [sum(planes[p * rows + i] << 8 * p for p in range(width)) for i in range(rows)]


def undo(encoding, base, small, durations):
    if encoding == 0:
        return [(base + number) & MASK for number in small]
    out = []
    for i, number in enumerate(small):
        if encoding == 1:
            base = (base + (number >> 1 ^ -(number & 1))) & MASK
            out.append(base)
            continue
        gap = signed(number) >> 1
        start = (base + gap - (durations[i] if number & 1 else 0)) & MASK
        out.append(start)
        base = (start + durations[i]) & MASK
    return out


def read_section(kind, rows, body, column_count):
    """Column values by name. STRING's text column comes back as bytes."""
    parts, at = {}, 0
    for _ in range(column_count):
        column, encoding, width, _, size, base = struct.unpack_from("<BBBBIQ", body, at)
        parts[column] = (encoding, width, base, body[at + 16:at + 16 + size])
        at += 16 + (size + 7 & ~7)
    out = {}
    for column, name, _ in reversed(kind["columns"]):
        if column not in parts:
            out[name] = [0] * rows
            continue
        encoding, width, base, data = parts[column]
        out[name] = data if encoding == 3 else undo(
            encoding, base, numbers(data, rows, width), out.get("duration_ns"))
    return out


class Chunk:
    def __init__(self, page, sections):
        self.page, self.sections, self.strings, self.lanes, self.configs = page, sections, [], {}, []
        self.frames, self.stacks = [], []
        for kind, _, rows, columns in sections:
            if kind["name"] == "string":
                at = 0
                for length in columns["length"]:
                    self.strings.append(columns["text"][at:at + length].decode("utf-8", "replace"))
                    at += length
            elif kind["name"] == "lane":
                for i, key in enumerate(columns["key"]):
                    self.lanes.setdefault(key, {name: columns[name][i] for name in columns})
            elif kind["name"] == "config" and not self.configs:
                self.configs = [{name: columns[name][i] for name in columns} for i in range(rows)]
            elif kind["name"] == "frame" and not self.frames:
                self.frames = list(zip(columns["function"], columns["file"], columns["line"]))
            elif kind["name"] == "stack" and not self.stacks:
                self.stacks = list(zip(columns["caller"], columns["frame"]))
        self.by_name = {kind["name"]: kind for kind in page.kinds.values()}

    def lane_text(self, key):
        lane = self.lanes.get(key)
        if not key or lane is None:
            return None
        if lane["lane_type"] == 1:
            return "pid %d tid %d" % (signed(lane["pid"]), signed(lane["tid"]))
        if lane["lane_type"] == 2:
            return "pid %d device %d context %d stream %d" % (signed(lane["pid"]), signed(lane["device"]),
                                                             lane["context"], signed(lane["stream"]))
        return self.show("STRING", lane["name"])

    def frame_text(self, number):
        if number >= len(self.frames):
            return "?"
        name, file, line = self.frames[number]
        name, file = (self.strings[text] if text < len(self.strings) else "?" for text in (name, file))
        return name + (" (%s%s)" % (file, ":%d" % line if line else "") if file or line else "")

    def stack_text(self, stack):
        """Outermost frame first; from 64 KiB on, cat leaves out frames, which no test here has."""
        frames = []
        while 0 < stack < len(self.stacks):
            stack, frame = self.stacks[stack]
            frames.insert(0, self.frame_text(frame))
        return ";".join(frames) or None

    def show(self, unit, value):
        if unit in ("TIME_NS", "COUNT", "BYTES", "NUMBER"):
            return value
        if unit in ("DUR_NS", "SIGNED"):
            return signed(value)
        if unit == "HEX":
            return "0x%x" % value
        if unit == "F64":
            double = struct.unpack("<d", struct.pack("<Q", value))[0]
            return double if math.isfinite(double) else None
        if unit == "STRING":
            return self.strings[value] if value < len(self.strings) else None
        if unit == "LANE":
            return self.lane_text(value)
        if unit == "FRAME":
            return self.frame_text(value) if value < len(self.frames) else None
        if unit == "STACK":
            return self.stack_text(value)
        word = self.page.words[unit].get(value)
        return word if word or not value else "%s#%d" % (unit, value)

    def columns(self, kind, row, out):
        for _, name, unit in self.by_name[kind]["columns"]:
            if unit == "CONFIG":
                known = row[name] < len(self.configs)
                config = self.configs[row[name]] if known else {}
                for _, part, part_unit in self.by_name["config"]["columns"]:
                    out[part] = self.show(part_unit, config[part]) if known else None
            else:
                out[name] = row[name] if kind == "lane" and unit == "LANE" else self.show(unit, row[name])
        return out

    def rows(self):
        for kind, lane, rows, columns in self.sections:
            if kind["name"] == "string":
                continue
            for i in range(rows):
                out = {"kind": kind["name"]}
                of_lane = self.lanes.get(lane) if lane else None
                for name in LANE_COLUMNS[kind["lane"]]:
                    source = LANE_SOURCE.get(name, name)
                    unit = next((u for _, n, u in self.by_name["lane"]["columns"] if n == source), None)
                    out[name] = (self.lane_text(lane) if name == "lane" else
                                 None if of_lane is None else self.show(unit, of_lane[source]))
                yield self.columns(kind["name"], {name: columns[name][i] for name in columns}, out)


def chunks(page, data):
    """The decompressed frames one after the other; lengths say where each part ends."""
    if data[:8] != b"VPTRACE\n":
        sys.exit("not a capture")
    at = struct.unpack_from("<I", data, 12)[0]
    while at + 48 <= len(data):
        magic, length, count = struct.unpack_from("<4sII", data, at)
        if magic != b"VPCK":
            sys.exit("no chunk at offset %d of the content" % at)
        end, sections = at + 48 + length, []
        at += 48
        for _ in range(count):
            if at + 32 > len(data):
                break  # the file was torn here
            kind, _, rows, size, columns, _, lane = struct.unpack_from("<HHIIHHQ", data, at)
            body = data[at + 32:at + 32 + size]
            if len(body) < size:
                break
            if kind in page.kinds and rows:
                known = page.kinds[kind]
                sections.append((known, lane, rows, read_section(known, rows, body, columns)))
            at += 32 + size
        at = end
        yield Chunk(page, sections)


def main(folder, capture, expected=None):
    content = subprocess.run(["zstd", "-dcq", capture], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, check=False).stdout
    lines = ((row for chunk in chunks(Page(folder), content) for row in chunk.rows()))
    if expected is None:
        for row in lines:
            print(json.dumps(row, ensure_ascii=False, separators=(",", ":")))
        return
    count = 0
    with open(expected, encoding="utf-8") as file:
        for count, row in enumerate(lines, 1):
            line = file.readline()
            if not line or list(json.loads(line).items()) != list(row.items()):
                sys.exit("row %d: FORMAT.md says\n  %s\nthe program says\n  %s" % (count, row, line))
        if file.readline():
            sys.exit("the program has more than %d rows" % count)
    print("%d rows are the same" % count)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
