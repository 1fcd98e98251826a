"""loaded.py TRACE FOLDER REPORT.json: compares what vptrace.load() reads with the same export as JSON lines, and the report.

Reads the structs of Arrow's C interface with ctypes alone."""
import gc
import json
import os
import sys
import threading
import weakref

import vptrace

trace, folder, report = sys.argv[1:4]
schema = json.load(open(os.path.join(folder, "schema.json"), encoding="utf-8"))
run = vptrace.load(trace, tables=None)
values = 0


def as_cell(column, value):
    """What a column of whole numbers, or of either numbers or texts, has for a value of JSON."""
    if value is None or (column["type"] == "integer" and value >= 1 << 63):
        return None
    if column["type"] == "number":
        return float(value)
    return str(value) if column["type"] == "any" and not isinstance(value, str) else value


names = [table["table"] for table in schema["files"]]
assert run.tables[:len(names)] == names, (run.tables, names)
for table in schema["files"]:
    found = run[table["table"]]
    wanted = [json.loads(line) for line in open(os.path.join(folder, table["file"]), encoding="utf-8")]
    assert list(found.schema) == found.columns == [c["name"] for c in table["columns"]], table["table"]
    assert list(found.schema.values()) == [{k: c[k] for k in ("help", "unit") if k in c} for c in table["columns"]], table["table"]
    rows = list(found)
    assert len(rows) == len(found) == len(wanted) == table["rows"], (table["table"], len(rows), len(wanted))
    for row, line in zip(rows, wanted):
        for column in table["columns"]:
            value = as_cell(column, line[column["name"]])
            same = row[column["name"]] == value or (column["type"] == "any" and value is not None)
            assert same and isinstance(row[column["name"]], type(value)), (table["table"], column["name"], row, value)
            values += 1
ops = list(run.ops)
kernels, copies = list(run["kernel"]), list(run["copy"])
assert [row["op"] for row in ops] == ["kernel"] * len(kernels) + ["copy"] * len(copies)
for row, same in zip(ops, kernels + copies):
    assert row["name"] == same.get("name", same.get("copy_kind")), row
    assert all(row[key] == same[key] for key in row if key not in ("op", "name")), (row, same)
for short, name in (("calls", "call"), ("ranges", "range"), ("gaps", "gap"), ("causes", "idle"),
                    ("stages", "report_stages"), ("stacks", "stack"),
                    ("requests", "report_requests"), ("blocks", "report_requests_blocks_series"), ("steps", "report_marked_steps_series")):
    assert list(getattr(run, short)) == list(run[name]), short
assert run.report == json.load(open(report, encoding="utf-8")) and run.report is run.report
assert run.complete == run.report["verdict"]["complete"]

# A table outlives what it was loaded from, and a batch its stream; threads may read at once.
few = vptrace.load(trace, "kernel")
assert few.tables == ["kernel"], few.tables
kernel, gone = few.kernel, weakref.ref(few)
batches = kernel._batches()
pair = next(batches, None)
del few
gc.collect()
assert gone() is None and list(kernel) == kernels
batches.close()
results = []
threads = [threading.Thread(target=lambda: results.append(list(kernel) == kernels)) for _ in range(4)]
threads += [threading.Thread(target=lambda: results.append(vptrace.load(trace, "kernel").tables == ["kernel"])) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert results == [True] * 6, results
# A capsule that nobody takes is released with what it holds.
for _ in range(100):
    kernel.__arrow_c_stream__()


def raises(kind, words, function, *arguments, **options):
    try:
        function(*arguments, **options)
    except kind as error:
        assert words in str(error), error
        return
    raise AssertionError("expected %s: %s" % (kind, words))


raises(OSError, "No such file", vptrace.load, "nowhere.zst")
raises(ValueError, 'found "kernels"', vptrace.load, trace, "kernels")
raises(ValueError, 'found "kernels"', vptrace.load, trace, ["kernel", "kernels"])
raises((ValueError, vptrace.VptraceError), "no-such-range", vptrace.load, trace, range="no-such-range")
raises(vptrace.VptraceError, "", vptrace.load, __file__)
raises(KeyError, "expected a table that was loaded", lambda: run["kernels"])
raises(AttributeError, "the names are in `tables`", lambda: run.kernels)
print(len(names), "tables,", values, "values,", len(ops), "ops")
