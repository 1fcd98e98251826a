"""Checks reports against the schema that `vptrace-analyze schema --of report --format json` prints.

    report_schema.py SCHEMA REPORT...        every report is as the schema says, key by key
    report_schema.py --covers SCHEMA REPORT...  and together they show each key with a value other than null
    report_schema.py --covers=KEY,KEY SCHEMA REPORT...  each but these, which they never have
    report_schema.py --refuses SCHEMA REPORT    each way to spoil the report is noticed

A schema allows keys that it does not name, since later versions add some; here they are faults. Only Python's own library
is needed; where jsonschema is installed, it has to agree.
"""
import json
import sys

NAMES = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
UNITS = {"_ns": "ns", "_ms": "ms", "bytes": "bytes"}


def is_type(value, name):
    found = NAMES[type(value)]
    return found == name or (name == "number" and found == "integer")


class Schema:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.root = json.load(file)
        self.seen = set()
        self.faults = []

    def resolve(self, schema):
        while "$ref" in schema:
            start, defs, name = schema["$ref"].split("/")
            assert (start, defs) == ("#", "$defs"), schema
            schema = self.root["$defs"][name]
        return schema

    def fault(self, path, text):
        self.faults.append(f"{path}: {text}")

    def check(self, value, schema, path, name):
        """`name` is the key's place in the schema, whatever rows and objects it was found in."""
        if "anyOf" in schema:
            schema = next(s for s in schema["anyOf"] if (s.get("type") == "null") == (value is None))
        name = schema["$ref"].rsplit("/", 1)[1] if "$ref" in schema else name
        schema = self.resolve(schema)
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(is_type(value, t) for t in types):
            self.fault(path, f"expected {' or '.join(types)}, found {value!r}")
            return
        if "enum" in schema and value not in schema["enum"]:
            self.fault(path, f"{value!r} is none of the words")
        if isinstance(value, int) and value < schema.get("minimum", value):
            self.fault(path, f"{value} is below {schema['minimum']}")
        if isinstance(value, dict):
            self.check_object(value, schema, path, name)
        elif isinstance(value, list):
            if len(value) > schema.get("maxItems", len(value)):
                self.fault(path, f"{len(value)} items")
            for i, item in enumerate(value):
                self.check(item, schema["items"], f"{path}[{i}]", name)

    def check_object(self, value, schema, path, name):
        known = schema.get("properties", {})
        for key, member in value.items():
            if key in known:
                self.check(member, known[key], f"{path}.{key}", f"{name}.{key}")
                if member not in (None, []):
                    self.seen.add(f"{name}.{key}")
            elif "additionalProperties" in schema:
                self.check(member, schema["additionalProperties"], f"{path}.{key}", name)
            else:
                self.fault(path, f"{key} is not documented")
        for key in schema.get("required", []):
            if key not in value:
                self.fault(path, f"{key} is missing")
        order = [key for key in value if key in known]
        if "additionalProperties" not in schema and order != [key for key in known if key in value]:
            self.fault(path, "the keys are in another order")

    def faults_of(self, report):
        self.faults = []
        self.check(report, self.root, "report", "report")
        return self.faults

    def objects(self):
        yield "report", self.root
        yield from self.root["$defs"].items()

    def keys(self):
        """Every key of every object, with what is said of it."""
        for name, schema in self.objects():
            for key, value in schema["properties"].items():
                yield f"{name}.{key}", key, value


def check_schema(schema):
    """Each key has a sentence, each number a unit, and a name that goes with it."""
    for name, table in schema.objects():
        assert table["description"], name
        always = [key for key, value in table["properties"].items() if "absent if" not in value["description"]]
        assert always == table["required"], f"{name}: keys and required keys differ"
    for path, key, value in schema.keys():
        assert value["description"], f"{path} has no description"
        types = value.get("type", [])
        types = [types] if isinstance(types, str) else types
        is_number = "number" in types or types[:1] == ["integer"] and "string" not in types
        assert "unit" in value or not is_number, f"{path} has no unit"
        for end, unit in UNITS.items():
            if key.endswith(end) and is_number:
                assert value["unit"] == unit, f"{path} is in {value['unit']}"
        may_be_null = "null" in types or any(s.get("type") == "null" for s in value.get("anyOf", []))
        assert may_be_null == ("null" in value["description"]), f"{path}: description and type differ about null"


def second_opinion(schema, reports):
    try:
        import jsonschema
    except ImportError:
        print("SKIPPED: a second opinion: no jsonschema")
        return
    kind = getattr(jsonschema, "Draft202012Validator", None)
    if not kind:
        print("SKIPPED: a second opinion: jsonschema is too old")
        return
    kind.check_schema(schema.root)
    for path, report in reports:
        for error in kind(schema.root).iter_errors(report):
            sys.exit(f"{path}: jsonschema: {error.message}")


def places(value, path=()):
    """The path of every key, of the first row of each array."""
    for key, member in value.items() if isinstance(value, dict) else enumerate(value[:1]):
        if path[-1:] in (("versions",), ("tags",), ("facts",)):
            continue
        if isinstance(value, dict):
            yield value, key, ".".join(map(str, path + (key,)))
        if isinstance(member, (dict, list)):
            yield from places(member, path + (key,))


def spoil(report):
    """Makes one thing wrong in the report, in turn: a key left out, one too many, a value of another type."""
    for here, key, path in list(places(report)):
        kept = dict(here)
        del here[key]
        yield f"without {path}"
        here.clear()
        here.update(kept, undocumented=0)
        yield f"a key beside {path}"
        del here["undocumented"]
        here[key] = {"wrong": 0} if isinstance(kept[key], list) else ["wrong"]
        yield f"another type of {path}"
        here.clear()
        here.update(kept)


def main(words):
    option = words.pop(0) if words[0].startswith("--") else ""
    schema = Schema(words[0])
    check_schema(schema)
    reports = []
    for path in words[1:]:
        with open(path, encoding="utf-8") as file:
            reports.append((path, json.load(file)))
    assert reports, "no report was given"
    for path, report in reports:
        for fault in schema.faults_of(report):
            sys.exit(f"{path}: {fault}")
    second_opinion(schema, reports)
    if option.startswith("--covers"):
        never = {key for key in option.partition("=")[2].split(",") if key}
        missing = sorted({path for path, _, _ in schema.keys()} - schema.seen ^ never)
        if missing:
            sys.exit(f"no report has a value of, or one has of what none should: {', '.join(missing)}")
    if option == "--refuses":
        report = reports[0][1]
        count = 0
        for what in spoil(report):
            count += 1
            if not schema.faults_of(report):
                sys.exit(f"not noticed: {what}")
        assert not schema.faults_of(report)
        print(f"{count} faults noticed")
    else:
        print(f"{len(reports)} reports, {sum(1 for _ in schema.keys())} keys")


main(sys.argv[1:])
