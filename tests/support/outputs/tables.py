"""Reads a folder of tables as any program would, by its schema alone, and compares it with the report of the same trace.

tables.py FOLDER REPORT.json: fails on what a reader would stumble over, and where sums differ from the report's."""
import csv
import io
import json
import os
import subprocess
import sys

folder, report = sys.argv[1], json.load(open(sys.argv[2], encoding="utf-8"))
schema = json.load(open(os.path.join(folder, "schema.json"), encoding="utf-8"))
assert schema["schema"] == "vptrace.rows/1", schema["schema"]


def text_of(name):
    path = os.path.join(folder, name)
    if name.endswith(".zst"):
        return subprocess.run(["zstd", "-dcq", path], check=True, capture_output=True).stdout
    return open(path, "rb").read()


def check_type(table, column, value):
    where = "%s.%s: %r" % (table, column["name"], value)
    if value is None:
        return
    kind = column["type"]
    if kind == "integer":
        assert isinstance(value, int) and -(1 << 63) <= value < 1 << 64, where
    elif kind == "number":
        assert isinstance(value, (int, float)), where
    elif kind == "text":
        assert isinstance(value, str), where
        known = column.get("words")
        assert not known or value in known or "#" in value, where


def csv_rows(table, text):
    # Names may hold any bytes; those that are no UTF-8 stay as they are.
    lines = csv.reader(io.StringIO(text.decode("utf-8", "surrogateescape"), newline=""), strict=True)
    names = [column["name"] for column in table["columns"]]
    header = next(lines)
    assert header == names, (table["file"], header, names)
    for line in lines:
        assert len(line) == len(names), (table["file"], line)
        row = {}
        for column, value in zip(table["columns"], line):
            if value == "":
                value = None
            elif column["type"] == "integer":
                value = int(value)
            elif column["type"] == "number":
                value = float(value)
            row[column["name"]] = value
        yield row


def json_rows(table, text):
    names = [column["name"] for column in table["columns"]]
    for line in text.decode("utf-8").split("\n")[:-1]:
        row = json.loads(line)
        assert list(row) == names, (table["file"], list(row), names)
        yield row


tables = {}
for table in schema["files"]:
    assert table["help"] and all(column["help"] for column in table["columns"]), table["file"]
    text = text_of(table["file"])
    read = csv_rows if schema["format"] == "csv" else json_rows
    rows = list(read(table, text))
    assert len(rows) == table["rows"], (table["file"], len(rows), table["rows"])
    for row in rows[:1000]:
        for column in table["columns"]:
            check_type(table["table"], column, row[column["name"]])
    tables[table["table"]] = rows
assert sorted(os.listdir(folder)) == sorted([t["file"] for t in schema["files"]] + ["schema.json"])


def total(rows, key, value):
    sums = {}
    for row in rows:
        sums[row[key]] = sums.get(row[key], 0) + row[value]
    return sums


# What the pass shows has a family; what it does not show has no length, or invalid times.
ops = [row for row in tables["kernel"] + tables["copy"] if row["duration_ns"] > 0 and row["family"]]
kernels = [row for row in tables["kernel"] if row["duration_ns"] > 0 and row["family"]]
found = total(kernels, "device", "duration_ns")
for device in report["devices"]:
    assert found.get(device["device"], 0) == device["kernel_ns"], (device["device"], found, device["kernel_ns"])
found = total(ops, "family", "duration_ns")
assert found == {row["family"]: row["total_ns"] for row in report["families"]}, found
gaps = total(tables["gap"], "device", "duration_ns")
for device in report["devices"]:
    assert gaps.get(device["device"], 0) == device["window_idle_ns"], (device["device"], gaps)
# Places and lines are the report's: a gap's own where stacks are exact, else through its place.
parts = [(d["device"], c["cause"], c["range"], c["call"], c["ns"], c["gaps"], c["line"]) for d in report["devices"] for c in d["causes"]]
line_of = lambda row: row["line_share"] is not None and (row["function"] or "", row["file"] or "", row["line"], round(row["line_share"], 6))
report_line = lambda line: bool(line and line["file"] is not None) and (line["function"] or "", line["file"], line["line"], line["share"])
found = [(r["device"], r["cause"], r["place"], r["call"], r["idle_ns"], r["gaps"], line_of(r), r["samples"]) for r in tables["idle"]]
assert found == [p[:6] + (report_line(p[6]), p[6] and p[6]["samples"] or 0) for p in parts], (found[:5], parts[:5])
gap_at = {(row["device"], row["start_ns"]): row for row in tables["gap"]}
places = {(r["device"], r["cause"], r["place"], r["call"]): line_of(r) for r in tables["idle"] if r["samples"]}
lines = 0
for gap in report["gaps"]:
    row = gap_at.get((gap["device"], gap["start_ns"]))
    if row:
        line = line_of(row) or places.get((row["device"], row["cause"], row["place"], row["call"]), False)
        assert line == report_line(gap["line"]), (gap, row)
        lines += line is not False
print("lines", lines)
# Stacks: each is its caller's with one frame more, and their times are the report's.
stacks = {row["stack"]: row for row in tables["stack"]}
assert sorted(stacks) == list(range(1, len(stacks) + 1))
for row in stacks.values():
    place = "%s%s" % (row["file"] or "", ":%d" % row["line"] if row["line"] else "")
    frame = (row["function"] or "") + (" (%s)" % place if place else "")
    outer = stacks[row["caller"]] if row["caller"] else None
    assert row["text"] == (outer["text"] + ";" if outer else "") + frame, (row, outer)
    assert row["depth"] == (outer["depth"] if outer else 0) + 1, (row, outer)
for row in tables["sample"]:
    assert (row["stack_number"] is None) == (not row["stack"]), row
    assert not row["stack"] or stacks[row["stack_number"]]["text"] == row["stack"], row
times = {}
for row in tables["stack_time"]:
    assert row["stack"] is None or row["stack"] in stacks, row
    assert (row["cause"] is None) == (row["kind"] == "launched"), row
    key = (row["kind"], row["device"], row["cause"])
    times[key] = times.get(key, 0) + row["time_ns"]
if stacks:
    causes = {}
    for device, cause, _, _, ns, _, _ in parts:
        causes["idle", device, cause] = causes.get(("idle", device, cause), 0) + ns
    assert {k: ns for k, ns in times.items() if k[0] == "idle"} == causes, (times, causes)
    launched = sum(ns for k, ns in times.items() if k[0] == "launched")
    assert launched == sum(row["busy_ns"] for row in report["lines"]["launches"]), launched
print("stacks", len(stacks))
busy = {}
for row in tables["range_gpu"]:
    key = (row["name"], row["domain"] or "")
    busy[key] = busy.get(key, 0) + (0 if row["nested"] else row["busy_ns"])
for row in report["ranges"]:
    key = (row["name"], row["domain"])
    assert busy.get(key, 0) == row["busy_ns"], (key, busy.get(key), row["busy_ns"])
without = sum(row["family"] is not None and row["call"] is None and row["call_start_ns"] is None for row in ops)
assert without == report["verdict"]["ops_without_launch"], (without, report["verdict"]["ops_without_launch"])
for name in ("kernels", "calls"):
    print(name, len(tables[name[:-1]]))
print("blocks", sorted({row["block"] for row in kernels if row["block"] is not None}))
print("steps", sorted({row["step"] for row in kernels if row["step"] is not None}))
print("stages", sorted({row["stage"] for row in kernels if row["stage"] is not None}))
