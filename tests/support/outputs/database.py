"""database.py DATABASE FOLDER REPORT.json: compares a SQLite export with the same export as JSON lines and with the report."""
import json
import os
import sqlite3
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import report_tables  # noqa: E402

TYPES = {"integer": "INTEGER", "number": "REAL", "text": "TEXT", "any": ""}
database, folder, report = sys.argv[1:]
db = sqlite3.connect("file:%s?mode=ro" % database, uri=True)
db.row_factory = sqlite3.Row
schema = json.load(open(os.path.join(folder, "schema.json"), encoding="utf-8"))


def rows_of(query):
    return [dict(row) for row in db.execute(query)]


assert db.execute("pragma integrity_check").fetchone()[0] == "ok"
facts = {row["key"]: row["value"] for row in rows_of("select * from export")}
assert facts["schema"] == schema["schema"] and facts["complete"] == int(schema["complete"]), facts
for key in ("input", "window_start_ns", "window_end_ns", "unix_offset_ns"):
    assert facts.get(key) == schema.get(key), (key, facts)

values = indexed = 0
for table in schema["files"]:
    name = table["table"]
    columns = [(row["name"], row["type"]) for row in rows_of('pragma table_info("%s")' % name)]
    assert columns == [(c["name"], TYPES[c["type"]]) for c in table["columns"]], (name, columns)
    described = rows_of("select name, type, unit, help from columns where \"table\" = '%s'" % name)
    assert described == [{k: c.get(k) for k in ("name", "type", "unit", "help")} for c in table["columns"]], name
    found = rows_of('select * from "%s"' % name)
    wanted = [json.loads(line) for line in open(os.path.join(folder, table["file"]), encoding="utf-8")]
    assert len(found) == len(wanted) == table["rows"], (name, len(found), len(wanted))
    for a, b in zip(found, wanted):
        for key, value in b.items():
            whole = isinstance(value, int) and value >= 1 << 63  # above what SQLite has as an integer
            assert a[key] == (float(value) if whole else value), (name, key, a[key], value)
            assert value is None or whole or isinstance(value, float) or type(a[key]) is type(value), (name, key, a[key], value)
            values += 1
    times = [c["name"] for c in table["columns"] if c.get("unit") == "ns on the trace clock"]
    if times:
        plan = rows_of('explain query plan select * from "%s" where "%s" between 5 and 9' % (name, times[0]))
        assert "USING INDEX" in plan[0]["detail"], (name, plan)
        indexed += 1
tables = {row["name"]: rows_of('select * from "%s"' % row["name"]) for row in
          rows_of("select name from sqlite_master where type = 'table' and name glob 'report*'")}
report = json.load(open(report, encoding="utf-8"))
values += report_tables.compare(tables, report)
# The views are the same rows under the names that people use.
for view, key in (("requests", "requests"), ("stages", "stages")):
    assert len(rows_of("select * from " + view)) == len(report[key]), view
assert len(rows_of("select * from blocks")) == sum(len(r["blocks"]["series"]) for r in report["requests"] if r.get("blocks"))
ops = rows_of("select op, count(*) as n, sum(duration_ns) as ns from ops group by 1")
for row in ops:
    same = rows_of("select count(*) as n, sum(duration_ns) as ns from " + row["op"])[0]
    assert (same["n"], same["ns"]) == (row["n"], row["ns"]), (row, same)
assert rows_of("select sum(idle_ns) as ns from causes")[0]["ns"] == (
    sum(d["window_idle_ns"] for d in report["devices"]) if report["devices"] else None)
print(len(tables), "tables of the report,", values, "values,", indexed, "indexes,", sum(row["n"] for row in ops), "ops")
