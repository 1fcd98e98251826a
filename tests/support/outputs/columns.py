"""columns.py FOLDER JSONL: the files of Parquet or Arrow of FOLDER are those that its schema.json lists, and have the rows of JSONL,
the same export as JSON lines; what schema.json says of a column is with the column."""
import json
import os
import sys

import pyarrow
import pyarrow.feather
import pyarrow.parquet

folder, lines = sys.argv[1:]
TYPES = {"integer": "int64", "number": "double", "text": "large_string", "any": "large_string"}


def read(path):
    return pyarrow.parquet.read_table(path) if path.endswith(".parquet") else pyarrow.feather.read_table(path)


def is_same(found, value, kind):
    """2^63 and more is no int64, and what may be a number or a text is a text."""
    if kind == "integer" and value is not None and value > 2**63 - 1:
        return found is None
    if kind == "any" and isinstance(value, (int, float)):
        return float(found) == value
    return found == value and isinstance(found, float if kind == "number" and value is not None else type(value))


schema = json.load(open(folder + "/schema.json"))
values = 0
for table in schema["files"]:
    kinds = {column["name"]: column["type"] for column in table["columns"]}
    found = read("%s/%s" % (folder, table["file"]))
    found.validate(full=True)
    assert found.column_names == list(kinds), (table["table"], found.column_names)
    for column in table["columns"]:
        field = found.schema.field(column["name"])
        assert str(field.type) == TYPES[column["type"]], (column, field.type)
        assert field.metadata[b"help"].decode() == column["help"], field
        assert field.metadata.get(b"unit", b"").decode() == column.get("unit", ""), field
    wanted = [json.loads(line) for line in open("%s/%s.jsonl" % (lines, table["table"]))]
    rows = found.to_pylist()
    assert len(rows) == len(wanted) == table["rows"], (table["table"], len(rows), len(wanted))
    for row, other in zip(rows, wanted):
        assert all(is_same(row[name], other[name], kind) for name, kind in kinds.items()), (table["table"], row, other)
        values += len(row)
extra = set(os.listdir(folder)) - {table["file"] for table in schema["files"]} - {"schema.json"}
assert not extra, extra
print(schema["format"], len(schema["files"]), "tables,", values, "values")
