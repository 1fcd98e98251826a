#!/usr/bin/env python3
"""page.py - reads a page of vptrace-analyze --format html as a browser would, without one.

    page.py check PAGE                 well-formed, one style and one script of the policy's hashes, no other way out,
                                       links that land, no character that a page would obey or hide
    page.py numbers PAGE REPORT.json   every cell of every table is that of the JSON report
    page.py compared PAGE COMPARED.json  the three of a comparison: check, numbers, and its bars: every part once, with its times,
                                       from where the last one ended
    page.py colours PAGE SOURCE        every kernel family and cause of idle time has a colour; every verdict of the checklist has
                                       one that can be read on both grounds, and a sign besides
    page.py names PAGE MARKER [LEAST]  the marker is in text and in titles alone, and it is there, 20 times or more
    page.py cost ANALYZER TRACE        time and memory of a page beside those of the text
"""
import base64
import hashlib
import json
import os
import re
import sys
import time
import unicodedata
from html.parser import HTMLParser

VOID = {"meta", "input", "br"}
TAGS = VOID | set(
    "html head body title style script header main nav section article figure figcaption details summary h1 h2 h3 p a b small "
    "span div label dl dt dd pre table thead tbody tr th td svg g rect line path text".split())
# Attributes that a name may stand in: quoted text that is only shown.
SHOWN = {"title", "data-label"}


class Page(HTMLParser):
    """Everything that a test asks for, in one pass."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.errors, self.ids, self.links = [], [], [], []
        self.texts, self.shown, self.styles, self.scripts, self.policy = [], [], [], [], None
        self.tables, self.falls, self.table, self.cell = [], [], None, None
        self.feed(text)
        self.close()
        if self.open:
            self.errors.append(f"never closed: {self.open}")

    def handle_starttag(self, tag, attrs, alone=False):
        if tag not in TAGS:
            self.errors.append(f"an element <{tag}> at {self.getpos()}")
        names = [name for name, _ in attrs]
        if len(names) != len(set(names)):
            self.errors.append(f"an attribute twice in <{tag}> at {self.getpos()}")
        for name, value in attrs:
            if name.startswith("on") or name in ("style", "src", "srcset", "action", "formaction", "xlink:href"):
                self.errors.append(f"{name} in <{tag}> at {self.getpos()}")
            if name == "href":
                self.links.append(value)
                if not (value or "").startswith("#"):
                    self.errors.append(f"a link to {value}")
            if name == "id":
                self.ids.append(value)
            (self.shown if name in SHOWN else self.texts if name not in ("content",) else []).append(
                (f"@{tag}.{name}" if name not in SHOWN else "", value or ""))
        given = dict(attrs)
        if tag == "meta" and given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]
        if tag == "table" and ("data-path" in given or "data-fall" in given):
            self.table = {"path": given.get("data-path"), "kind": given.get("data-kind"), "keys": [], "shown": [], "rows": []}
            (self.tables if "data-path" in given else self.falls).append(self.table)
        if self.table is not None:
            if tag == "th":
                self.table["keys"].append(given.get("data-k"))
                self.table["shown"].append("x" not in (given.get("class") or "").split())
            elif tag == "tr" and "tbody" in self.open:
                self.table["rows"].append([])
            elif tag == "td":
                self.cell = {"v": given.get("data-v"), "text": "", "bars": []}
                self.table["rows"][-1].append(self.cell)
            elif tag == "rect" and self.cell is not None and "x" in given:
                self.cell["bars"].append((float(given["x"].rstrip("%")), float(given["width"].rstrip("%"))))
        if tag not in VOID and not alone:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs, alone=True)

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.errors.append(f"</{tag}> at {self.getpos()} closes {self.open[-1:]}")
        else:
            self.open.pop()
        if tag == "td":
            self.cell = None
        if tag == "table":
            self.table = None

    def handle_data(self, data):
        where = self.open[-1] if self.open else ""
        if where == "style":
            self.styles.append(data)
        elif where == "script":
            self.scripts.append(data)
        else:
            self.shown.append(("", data))
            if self.cell is not None:
                self.cell["text"] += data

    def handle_comment(self, data):
        self.errors.append(f"a comment at {self.getpos()}")

    def unknown_decl(self, data):
        self.errors.append(f"a declaration at {self.getpos()}")


def read(path):
    data = open(path, "rb").read()
    return Page(data.decode("utf-8")), data


def hash_of(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def check(path):
    page, data = read(path)
    errors = page.errors
    if len(data) > 1500000:
        errors.append(f"{len(data)} bytes")
    if not data.startswith(b"<!DOCTYPE html>\n"):
        errors.append("no document type")
    policy = dict(part.strip().split(" ", 1) for part in (page.policy or "").split(";"))
    if policy.get("default-src") != "'none'" or set(policy) != {"default-src", "style-src", "script-src", "base-uri", "form-action"}:
        errors.append(f"the policy {page.policy}")
    for kind, found, count in (("style-src", page.styles, 1), ("script-src", page.scripts, 2)):
        if len(found) != count or policy.get(kind) != " ".join(f"'{hash_of(text)}'" for text in found):
            errors.append(f"{kind} {policy.get(kind)} is not that of {len(found)} element(s)")
    if re.search(r"url\(|@import|expression\(|http", "".join(page.styles)):
        errors.append("the style asks for something")
    if re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|fetch\(|XMLHttp|import\(|new Function",
                 "".join(page.scripts)):
        errors.append("the script could make markup of text, or a request")
    if len(page.ids) != len(set(page.ids)):
        errors.append(f"ids twice: {sorted(i for i in set(page.ids) if page.ids.count(i) > 1)[:5]}")
    errors += [f"the link {link} leads nowhere" for link in set(page.links) if link[1:] not in page.ids]
    for c in sorted(set(data.decode())):
        if (unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co") and c not in "\n\t") or c in "\u2028\u2029\ufeff":
            errors.append(f"a character U+{ord(c):04X}")
    if len(page.links) < 3 or not page.ids:
        errors.append("hardly a page")
    return errors


def rows_at(value, path):
    """The rows at a dotted path, through lists and objects."""
    key, _, rest = path.partition(".")
    value = value.get(key)
    if not rest:
        return value or []
    if isinstance(value, list):
        return [row for outer in value for row in rows_at(outer, rest)]
    return rows_at(value or {}, rest)


def shown_form(text):
    """As the page shows it: what cannot be seen as an escape. None: not to be said from JSON alone."""
    if "\ufffd" in text:
        return None
    return "".join(f"\\x{ord(c):02x}" if unicodedata.category(c) == "Cc" else
                   f"\\u{ord(c):04x}" if unicodedata.category(c) in ("Cf", "Zl", "Zp") else c for c in text)


def same(cell, value):
    if value is None:
        return cell["v"] is None and cell["text"] == "-"
    if isinstance(value, bool):
        return cell["text"] == ("yes" if value else "no")
    if isinstance(value, (int, float)):
        return cell["v"] is not None and float(cell["v"]) == float(value) and cell["text"] not in ("",)
    if isinstance(value, list):
        value = "; ".join(value)
    if isinstance(value, dict):
        value = "; ".join(f"{name}: {text}" for name, text in value.items()) or "-"
    wanted = shown_form(value)
    if wanted and len(wanted) > 400 and cell["text"].endswith("..."):
        return len(cell["text"]) >= 403 and wanted.startswith(cell["text"][:-3])
    return wanted is None or cell["text"] == wanted


def value_at(row, key):
    for part in key.split("."):
        if row is None:
            return None
        row = row.get(part)
    return row


def keys_of(row, above=""):
    """The keys of a row that have one value, through objects. Those of a histogram and of facts are values themselves."""
    for key, value in row.items():
        if isinstance(value, dict) and key not in ("histogram", "facts"):
            yield from keys_of(value, above + key + ".")
        elif not isinstance(value, (dict, list)) and value is not None or key == "facts" and value:
            yield above + key


def numbers(path, report):
    page, _ = read(path)
    report = json.load(open(report, encoding="utf-8", errors="replace"))
    errors, cells = [], 0
    for table in page.tables:
        rows = [row for row in rows_at(report, table["path"]) if table["kind"] in (None, row.get("kind"))]
        if min(len(rows), 32 if table["path"] == "iterations" else 200) != len(table["rows"]):
            errors.append(f"{table['path']}: {len(table['rows'])} rows, not {len(rows)}")
        for number, (row, found) in enumerate(zip(rows, table["rows"])):
            errors += [f"{table['path']} {number}: no column {key}" for key in keys_of(row) if key not in table["keys"]]
            if len(found) != len(table["keys"]):
                errors.append(f"{table['path']} {number}: {len(found)} cells under {len(table['keys'])} heads")
            for key, cell in zip(table["keys"], found):
                if not key:
                    continue
                cells += 1
                if not same(cell, value_at(row, key)):
                    errors.append(f"{table['path']} {number} {key}: {cell} is not {value_at(row, key)!r}")
        for column, (key, shown) in enumerate(zip(table["keys"], table["shown"])):
            if (key and shown and len(rows) <= 200
                    and all(cells[column]["text"] in ("-", "") and cells[column]["v"] is None for cells in table["rows"])):
                errors.append(f"{table['path']} {key}: an empty column")
    listed = {table["path"] for table in page.tables}
    errors += [f"no table of {key}" for key, value in report.items()
               if isinstance(value, list) and value and isinstance(value[0], dict) and key not in listed]
    print(f"{cells} cells")
    return errors


def rounded(ns, over):
    return (ns + over // 2) // over if over else 0


def label_of(part):
    """What a part is called: a family, a cause, what the host did in its time."""
    return part["name"] + (": " + part["host"] if part["host"] else "")


def falls(path, compared):
    page, _ = read(path)
    mean = json.load(open(compared, encoding="utf-8", errors="replace"))["mean"]
    errors, parts = [], {(p["kind"], label_of(p)): p for p in mean["parts"]}
    rows = page.falls[0]["rows"] if len(page.falls) == 1 else []
    kinds = {"GPU busy": "busy", "GPU idle": "idle", "recording paused": "paused"}
    means = {s: rounded(mean[s + "_ns"], mean[s + "_over"]) for s in "ab"}
    kind, shown, ends = None, {}, [0, 0]
    for number, cells in enumerate(rows):
        name, a, b = cells[0]["text"], cells[1]["bars"][0], cells[6]["bars"][0]
        numbers = [int(cells[i]["v"]) for i in (2, 4, 5)]
        kind = next((kinds[k] for k in kinds if name.startswith(k)), kind)
        is_sum = number == 0 or any(name.startswith(k) for k in kinds)
        if number == 0:
            wanted = [means["a"], mean["delta_ns"], means["b"]]
        elif is_sum:
            own = [p for p in mean["parts"] if p["kind"] == kind]
            wanted = [rounded(sum(p[s + "_ns"] for p in own), mean[s + "_over"]) for s in "ab"]
            wanted.insert(1, sum(p["delta_ns"] for p in own))
        else:
            # The place of what the host did may be cut.
            name = next(label for k, label in parts if k == kind and (name == label or ": " in label and name.startswith(label)))
            part = shown[kind, name] = parts[kind, name]
            wanted = [part["a_mean_ns"], part["delta_ns"], part["b_mean_ns"]]
        if numbers != wanted:
            errors.append(f"{kind} {name}: {numbers}, not {wanted}")
        for side, bar, ns in ((0, a, numbers[0]), (1, b, numbers[2])):
            if abs(bar[0] - ends[side]) > .02 * len(rows) or abs(bar[1] - 100 * ns / max(*means.values(), 1)) > .01:
                errors.append(f"{kind} {name}: the bar {bar} of {ns} ns after {ends[side]}")
            if not is_sum or (kind == "paused" and number):
                ends[side] = bar[0] + bar[1]
    if len(rows) < 3:
        errors.append(f"{len(page.falls)} tables, {len(rows)} rows")
    divided = {k for k in parts if k[0] != "paused" and k[1] != "all"}
    if set(shown) != divided:
        errors.append(f"parts {sorted(set(shown) ^ divided)}")
    table = next((t for t in page.tables if t["path"] == "mean.parts"), {"rows": [], "keys": []})
    at = table["keys"].index("delta_ns") if "delta_ns" in table["keys"] else 0
    deltas = [int(row[at]["v"]) for row in table["rows"]]
    # Differences that have no number of 64 bits stop at the last one.
    whole = all(abs(delta) < (1 << 63) - 1 for delta in [*deltas, mean["delta_ns"]])
    if whole and sum(deltas) != mean["delta_ns"]:
        errors.append("the parts do not add up")
    return errors


def compared(path, comparison):
    return check(path) + numbers(path, comparison) + falls(path, comparison)


def colours(path, source):
    page, _ = read(path)
    errors = []
    for name, pattern in (("names/families.def", r'(?m)^VPA_FAMILY\(\w+, "([^"]+)"'),
                          ("report/rows/causes.def", r'(?m)^VPA_CAUSE\(\w+, "([^"]+)"')):
        words = re.findall(pattern, open(os.path.join(source, "analysis", name), encoding="utf-8").read())
        if len(words) < 10:
            errors.append(f"{name} was not read")
        for word in words:
            slug = re.sub("[^a-z0-9]+", "-", word.lower()).strip("-")
            if slug and not re.search(rf"\.p-{slug}[ ,{{]", page.styles[0]):
                errors.append(f"no colour for {word}")
    return errors + verdicts(page) + idle_colours(page, source) + paper(page)


def paper(page):
    """Printed, a page is light: each colour that the dark setting changes has its own value there."""
    style = page.styles[0]
    dark = re.findall(r"prefers-color-scheme: dark\) \{(.*?)\n\}", style, re.S)
    printed = re.search(r"@media print \{(.*?)\n\}", style, re.S)
    changed = re.findall(r"(--[a-z]+): #", "".join(dark)) + re.findall(r"(?m)^\t(\.[a-z-]+) \{ fill", "".join(dark))
    if len(changed) < 12 or not printed:
        return [f"{len(changed)} colours of the dark setting"]
    return [f"{name} has no colour on paper" for name in changed if not re.search(re.escape(name) + r"(:| \{ fill:) #", printed.group(1))]


def luminance(colour):
    """As WCAG 2 defines it, of #rrggbb or #rgb."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * c for c in colour[1:])
    parts = [int(digits[i:i + 2], 16) / 255 for i in (0, 2, 4)]
    parts = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(a, b):
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def idle_colours(page, source):
    """Idle time is never paler than work: each cause stands out from both grounds, with no opacity, and not as work does."""
    style, errors = page.styles[0], []
    grounds = re.findall(r"--ground: (#[0-9a-f]+);", style)[:2]
    fills = {name: colour for names, colour in re.findall(r"(?m)^((?:\.p-[a-z-]+,? ?)+)\{ fill: (#[0-9a-f]+); \}", style)
             for name in re.findall(r"\.p-([a-z-]+)", names)}
    causes = open(os.path.join(source, "analysis/report/rows/causes.def"), encoding="utf-8").read()
    causes = re.findall(r'(?m)^VPA_CAUSE\(\w+, "([^"]+)"', causes)
    seen = 0
    for word in causes + ["other idle"]:
        slug = re.sub("[^a-z0-9]+", "-", word.lower()).strip("-")
        if slug not in fills:
            continue
        seen += 1
        for ground in grounds:
            if contrast(fills[slug], ground) < 3:
                errors.append(f"{word}, {fills[slug]}, has a contrast of {contrast(fills[slug], ground):.2f} with {ground}")
    if seen < 15 or len(set(grounds)) != 2:
        errors.append(f"{seen} colours of idle time on {grounds}")
    if re.search(r"\.idle \{[^}]*opacity", style):
        errors.append("idle time is drawn with an opacity")
    if abs(luminance(fills["before-first-work"]) - luminance(fills["other-busy"])) < 0.2:
        errors.append("before first work looks like other busy")
    return errors


def verdicts(page):
    style, errors, signs = page.styles[0], [], set()
    themes = [dict(re.findall(r"--(\w+): (#[0-9a-f]+);", block)) for block in re.findall(r":root \{([^}]*)\}", style)]
    for word in ("pass", "warn", "fail", "unknown"):
        colour = re.search(rf"td\.v-{word} \{{ color: var\(--(\w+)\); \}}", style)
        sign = re.search(rf'td\.v-{word} span::before \{{ content: "([^"]+)"; \}}', style)
        if not colour or not sign:
            errors.append(f"no colour or no sign for {word}")
            continue
        signs.add(sign[1])
        for theme in themes:
            for ground in ("ground", "panel"):
                ratio = contrast(theme[colour[1]], theme[ground])
                if ratio < 4.5:
                    errors.append(f"{word} has a contrast of {ratio:.2f} on the {ground} {theme[ground]}")
    if len(signs) != 4 or len(themes) < 3:
        errors.append(f"{len(signs)} signs, {len(themes)} themes")
    return errors


def names(path, marker, least=20):
    page, _ = read(path)
    errors = page.errors + [f"{where} holds a name" for where, text in page.texts if marker in text]
    found = sum(marker in text for _, text in page.shown)
    return errors + ([f"{found} names"] if found < int(least) else [])


def cost(analyzer, trace):
    def run(*words):
        began = time.monotonic()
        pid = os.posix_spawn(analyzer, [analyzer, trace, "--no-progress", "--force", *words], os.environ)
        _, status, used = os.wait4(pid, 0)
        if os.waitstatus_to_exitcode(status) not in (0, 3):
            raise RuntimeError(f"{words}: exit status {status}")
        return time.monotonic() - began, used.ru_maxrss

    text = [run("-o", "cost.txt") for _ in range(3)]
    page = [run("--format", "html", "-o", "cost.html") for _ in range(3)]
    seconds, kilobytes = min(page)[0] - min(text)[0], min(p[1] for p in page) - min(t[1] for t in text)
    print(f"a page costs {seconds:.3f} s and {kilobytes / 1024:.1f} MiB more than the text "
          f"({min(text)[0]:.3f} s, {text[0][1] / 1024:.1f} MiB)")
    errors = [f"{seconds:.3f} s more than the text"] if seconds > 1 else []
    return errors + ([f"{kilobytes} KiB more than the text"] if kilobytes > 16384 else [])


def main():
    """VERB WORDS [-- WORDS...]: the verb for each list of words."""
    verb = {"check": check, "numbers": numbers, "compared": compared, "colours": colours, "names": names, "cost": cost}[sys.argv[1]]
    failed, words = 0, []
    for word in sys.argv[2:] + ["--"]:
        if word != "--":
            words.append(word)
            continue
        errors, words, of = verb(*words), [], words[0]
        failed += len(errors)
        for error in errors[:20]:
            print(f"{sys.argv[1]} {of}: {error}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
