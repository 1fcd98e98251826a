"""Compares the tables of a report, as rows of another program have them, with its JSON.

`tables` is {name: [row, ...]}, where a row is a dictionary; report_tables.py FOLDER REPORT.json reads JSON lines."""
import json
import os
import sys


def is_rows(value):
    return isinstance(value, list) and value and isinstance(value[0], dict)


def flat(value):
    """The single values of an object and of those inside it, by the names of their columns."""
    row = {}
    for key, item in value.items():
        if isinstance(item, dict):
            for inner, single in flat(item).items():
                row[key + ("__" if key + "_" + inner in row else "_") + inner] = single
        elif isinstance(item, list):
            if not is_rows(item):
                row[key] = "; ".join(text for text in item if text is not None)
        else:
            row[key] = item
    return row


def expected(report):
    """The tables that a report has, in the same form; those without rows are absent."""
    tables = {}

    def inside(value, name, number):
        for key, item in value.items():
            if isinstance(item, dict):
                inside(item, name + "_" + key, number)
            elif is_rows(item):
                for row in item:
                    put(row, name + "_" + key, number)

    def put(value, name, owner):
        rows = tables.setdefault(name, [])
        number = len(rows)
        rows.append((number, owner, flat(value)))
        inside(value, name, number)

    put(report, "report", None)
    return tables


def is_same(found, wanted):
    if wanted is None or found is None:
        return found is None and wanted in (None, "")  # an empty list of texts may be either
    if isinstance(wanted, bool):
        return found == int(wanted)
    if isinstance(wanted, float):
        return abs(found - wanted) <= 0.000501  # as JSON rounds it
    return str(found) == str(wanted)


def compare(tables, report):
    """How many values are equal. Raises where one is not."""
    wanted, values = expected(report), 0
    for name, rows in wanted.items():
        assert len(tables[name]) == len(rows), (name, len(tables[name]), len(rows))
        for found, (number, owner, row) in zip(tables[name], rows):
            assert found["row"] == number, (name, found)
            assert owner is None or "of_row" not in found or found["of_row"] == owner, (name, found, owner)
            for key, value in found.items():
                if key not in ("row", "of_row"):
                    assert is_same(value, row.get(key)), (name, number, key, value, row.get(key))
                    values += 1
            # Maps and empty lists have no columns; all else has.
            for key, value in row.items():
                inside = [column for column in found if column.startswith(key + "_") and column not in row]
                known = key in found or (value is None and inside and all(found[column] is None for column in inside))
                assert known or value == "" or key.startswith(("system_versions", "system_tags")), (name, key, value)
    for name, rows in tables.items():
        assert name.startswith("report") and (rows == [] or name in wanted), name
    return values


def main(folder, report):
    tables = {}
    for name in os.listdir(folder):
        if name != "schema.json":
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                tables[name.split(".")[0]] = [json.loads(line) for line in file]
    with open(report, encoding="utf-8") as file:
        values = compare(tables, json.load(file))
    print(len(tables), "tables,", values, "values")


if __name__ == "__main__":
    main(*sys.argv[1:])
