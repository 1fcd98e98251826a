"""loaded_by_others.py TRACE: what consumers of Arrow's C interface make of the tables of vptrace.load(), each that is here.

Prints the names of those that are not."""
import importlib
import sys

import vptrace

run = vptrace.load(sys.argv[1])
rows = list(run.ops)
sums = {}
for row in rows:
    sums[row["family"]] = sums.get(row["family"], 0) + row["duration_ns"]


def pyarrow(pa):
    for name in run.tables:
        table = pa.table(run[name])
        table.validate(full=True)
        assert table.num_rows == len(run[name]), name
    table = pa.table(run.ops)
    assert table.to_pylist() == rows
    assert table.schema.field("duration_ns").metadata[b"unit"] == b"ns"
    # No copy: numbers lie where the library has them, the same in each table made of it.
    where = [pa.table(run.calls).column("start_ns").chunk(0).buffers()[1].address for _ in range(2)]
    assert where[0] == where[1], where
    # What the manual says of Parquet and Arrow's files.
    for module, write, read in (("parquet", "write_table", "read_table"), ("feather", "write_feather", "read_table")):
        try:
            form = importlib.import_module("pyarrow." + module)
        except ImportError:
            print("SKIPPED: no pyarrow." + module)
            continue
        getattr(form, write)(table, "ops." + module)
        assert getattr(form, read)("ops." + module).to_pylist() == rows, module


def pandas(pd):
    if hasattr(pd.DataFrame, "from_arrow"):
        frame = pd.DataFrame.from_arrow(run.ops)
    else:
        frame = importlib.import_module("pyarrow").table(run.ops).to_pandas()
    assert dict(frame.groupby("family", observed=True)["duration_ns"].sum()) == sums
    assert len(pd.DataFrame.from_records(list(run.ops))) == len(rows)


def duckdb(db):
    ops = run.ops  # noqa: F841  # the query names it
    assert dict(db.sql("select family, sum(duration_ns) from ops group by 1").fetchall()) == sums


def polars(pl):
    frame = pl.DataFrame(run.ops).group_by(pl.col("family").cast(pl.String)).agg(pl.col("duration_ns").sum())
    assert dict(frame.iter_rows()) == sums


def nanoarrow(na):
    assert na.ArrayStream(run.ops).read_all().to_pylist() == rows


missing, found = [], []
for check in (pyarrow, pandas, duckdb, polars, nanoarrow):
    try:
        module = importlib.import_module(check.__name__)
    except ImportError:
        missing.append(check.__name__)
        continue
    check(module)
    found.append(check.__name__)
print("found", *found)
print("missing", *missing)
