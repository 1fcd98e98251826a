#!/usr/bin/env python3
"""Prints the rows of the steps of run.sh as one table, and helps scripts to print rows.

    table.py ROWS [--json FILE]     exit code 1 if anything failed

ROWS is a file of tab-separated lines: step, where, name, status, value, unit, limit, note. WHERE is
the device: a GPU's name, "simulated" or "cpu". Scripts print the last six fields on standard output.
"""

import json
import sys

STATUSES = ("ok", "failed", "not run", "skipped", "measured")
FIELDS = ("step", "where", "name", "status", "value", "unit", "limit", "note")


def clean(text):
    """Replaces characters that would end a field."""
    return " ".join(str(text).split())


def shown(value):
    return "%.6g" % value if isinstance(value, float) else clean(value)


def line(name, status, value="", unit="", limit="", note=""):
    if status not in STATUSES:
        raise ValueError("status: expected one of %s, found %r" % (", ".join(STATUSES), status))
    return "\t".join((clean(name), status, shown(value), clean(unit), clean(limit), clean(note)))


def say(*fields, **named):
    """Prints a row without step and where, which run.sh adds."""
    print(line(*fields, **named), flush=True)


def within(name, value, limit, unit="", note=""):
    """Prints whether a value is at most a limit."""
    say(name, "ok" if value <= limit else "failed", value, unit, "<= %s" % shown(limit), note)


def equal(name, found, expected, unit="", note=""):
    say(name, "ok" if found == expected else "failed", found, unit, "= %s" % shown(expected), note)


def read(path):
    with open(path, encoding="utf-8") as file:
        return [dict(zip(FIELDS, text.rstrip("\n").split("\t"))) for text in file]


def on_a_gpu(where):
    return where not in ("simulated", "cpu")


def banner(rows):
    places = sorted({row["where"] for row in rows})
    text = "RESULTS of " + ", ".join(places)
    if not any(on_a_gpu(place) for place in places):
        text += ": NOTHING HERE WAS MEASURED ON A GPU"
    return text


def joined(rows):
    """Combines plain numbers of one step into the note of one row; other rows do not change."""
    result, line_before = [], None
    for row in rows:
        bare = row["status"] == "measured" and not row["limit"] and not row["note"]
        if not bare:
            result.append(row)
            line_before = None
            continue
        text = " ".join((row["name"], row["value"], row["unit"])).strip()
        same = line_before and (line_before["step"], line_before["where"]) == (row["step"], row["where"])
        if same and len(line_before["note"]) + len(text) < 120:
            line_before["note"] += "; " + text
        else:
            line_before = dict(row, name="", value="", unit="", note=text)
            result.append(line_before)
    return result


def printed(rows):
    """The table's lines. Fields equal to those of the row above are left empty."""
    yield banner(rows)
    before = None
    for row in joined(rows):
        step = row["step"], row["where"]
        if step != before:
            yield "%s [%s]" % step
        before = step
        number = " ".join((row["value"], row["unit"])).strip()
        limit = "(%s)" % row["limit"] if row["limit"] else ""
        cells = ["  " + row["status"].ljust(8)] + [cell for cell in (row["name"], number, limit) if cell]
        if row["note"]:
            cells.append(row["note"] if len(cells) == 1 else "- " + row["note"])
        yield " ".join(cells)
    counts = ["%d %s" % (sum(row["status"] == status for row in rows), status) for status in STATUSES]
    yield "IN ALL %s" % ", ".join(counts)


def main(words):
    if len(words) not in (1, 3) or words[1:2] not in ([], ["--json"]):
        print(__doc__, file=sys.stderr)
        return 2
    rows = read(words[0])
    print("\n".join(printed(rows)))
    if words[1:]:
        with open(words[2], "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    return 1 if any(row["status"] == "failed" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
