"""Checks flame graphs of `vptrace-analyze stacks` against the report in JSON.

    flames.py REPORT IDLE SYNC LAUNCHES ALL MERGED SPEEDSCOPE SVG

IDLE to ALL keep numbered frames apart; MERGED is ALL without that.
"""
import json
import re
import sys
import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"


def folded(path):
    """The weight of each stack. A line is frames that semicolons separate, a blank, and a whole number above 0."""
    weights = {}
    for line in open(path, encoding="utf-8", newline="\n"):
        assert line.endswith("\n"), "the last line has no end"
        stack, _, count = line[:-1].rpartition(" ")
        frames = tuple(stack.split(";"))
        assert count.isdigit() and int(count) > 0, f"no weight: {line!r}"
        assert all(f and f.isprintable() for f in frames), f"a frame without a name, or with a control character: {line!r}"
        assert frames[-1].startswith("["), f"the last frame is no cause: {line!r}"
        weights[frames] = weights.get(frames, 0) + int(count)
    return weights


def kind_of(frame):
    """Without the number at the end of the function's name."""
    return re.sub(r"([_.#])[0-9]+( \(.*\))?$", r"\1*\2", frame)


def merged_by_hand(apart):
    """Frames of one kind under one frame are one: under the kind's name if they are several."""
    kinds = {tuple(map(kind_of, stack)): {} for stack in apart}
    names = {}
    for stack in apart:
        for depth, frame in enumerate(stack):
            names.setdefault(tuple(map(kind_of, stack[:depth + 1])), set()).add(frame)
    for kind in kinds:
        kinds[kind] = tuple(frame if len(names[kind[:depth + 1]]) > 1 else min(names[kind[:depth + 1]])
                            for depth, frame in enumerate(kind))
    merged = {}
    for stack, ns in apart.items():
        name = kinds[tuple(map(kind_of, stack))]
        merged[name] = merged.get(name, 0) + ns
    return merged


def check_speedscope(path, idle):
    with open(path, encoding="utf-8") as f:
        file = json.load(f)
    assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = file["shared"]["frames"]
    assert all(isinstance(f["name"], str) and f.keys() <= {"name", "file", "line", "col"} for f in frames)
    profile = file["profiles"][file["activeProfileIndex"]]
    assert profile["type"] == "sampled" and profile["unit"] == "nanoseconds"
    assert len(profile["samples"]) == len(profile["weights"])
    assert profile["endValue"] - profile["startValue"] == sum(profile["weights"]) == sum(idle.values())
    assert len({json.dumps(f, sort_keys=True) for f in frames}) == len(frames), "a frame is there twice"
    assert all(0 <= i < len(frames) for s in profile["samples"] for i in s)


def check_svg(path, idle):
    root = ET.parse(path).getroot()
    assert root.tag == SVG + "svg"
    assert "max-width: 100%" in root.find(SVG + "style").text and root.get("class") == "picture", "a picture of one width only"
    scripts = [e for e in root.iter() if e.tag == SVG + "script"]
    assert len(scripts) == 1, f"{len(scripts)} scripts"
    for e in root.iter():
        assert not any(a.startswith("on") or a.endswith("href") or a.endswith("src") for a in e.attrib), e.attrib
    nodes = [e for e in root.iter(SVG + "svg") if e.get("class") == "fl"]
    titles = [e.find(SVG + "title").text for e in nodes]
    assert titles[0].startswith("all\n") and "100 %" in titles[0]
    # A node stands below one that holds it.
    spans = [(int(e.get("y")), int(e.get("data-x")), int(e.get("data-w"))) for e in nodes]
    top = min(y for y, _, _ in spans)
    for y, x, w in spans:
        assert y == top or any(py == y - 18 and px - 1 <= x and x + w <= px + pw + 1 for py, px, pw in spans), (y, x, w)
    # The widest stacks are there by their names.
    whole = sum(idle.values())
    for frames, ns in idle.items():
        if ns * 50 > whole:
            assert any(t.split("\n")[0] == frames[-1] for t in titles), frames[-1]
    return titles


def main():
    report = json.load(open(sys.argv[1], encoding="utf-8"))
    idle, sync, launches, everything, merged = (folded(p) for p in sys.argv[2:7])
    devices = {d["device"]: d for d in report["devices"]}
    assert sum(idle.values()) == sum(d["window_idle_ns"] for d in devices.values()), "idle time differs from the report's"
    waits = sum(c["ns"] for d in devices.values() for c in d["causes"] if c["cause"] in ("sync", "blocking copy"))
    assert sum(sync.values()) == waits, "time of syncs differs from the report's"
    work = sum(row["busy_ns"] for row in report["lines"]["launches"])
    assert sum(launches.values()) == work, "work differs from the report's"
    together = dict(idle)
    for stack, ns in launches.items():
        together[stack] = together.get(stack, 0) + ns
    assert everything == together, "--of all is not idle and launches"
    assert merged == merged_by_hand(everything), "numbered frames are not merged as they should"
    check_speedscope(sys.argv[7], idle)
    for title in check_svg(sys.argv[8], idle):
        print(title.split("\n")[0])


main()
