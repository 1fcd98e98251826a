"""screens.py WIDTH | full: reads first screens of reports from standard input, each after a line "=== NAME", and says what is wrong
with them: more than 40 lines, a line that is too long, a section out of order, a noun that has two numbers, or an explanation of nothing.

A noun is what a sentence or a row gives a number to: how long a unit takes, for how long the GPU works and waits in it,
how fast it is. Rows of a table have to add up to its last one. Prints a line for each fault, and how many figures were
compared with another one.

Of full reports, "full", it compares what several sections say: kernels, iterations, the rate. No time in them is "0.00".

    screens.py same SCREEN MARKDOWN PAGE    RESULT, CAUSE and FIX FIRST of a first screen, of Markdown and of the page are the same
                                            words, and their nouns have one number"""

import html
import re
import sys

ORDER = ["DATA", "RUN", "RESULT", "CAUSE", "FIX FIRST", "table", "BLOCK", "MORE"]
UNITS = {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}
TIME = r"([0-9][0-9.]*) (ns|us|ms|s)\b"


def ms(number, unit):
    return float(number.replace(",", "")) * UNITS[unit]


def section_of(line):
    """The section that a line begins; None: it continues one."""
    if not re.match("[A-Z]", line):
        return None
    for name in ("DATA", "RUN", "RESULT", "CAUSE", "FIX FIRST", "BLOCK", "MORE"):
        if line == name or line.startswith((name + " ", name + ",")):
            return name
    return "table"


def sections(lines):
    found = []
    for line in lines:
        name = section_of(line)
        if name:
            found.append((name, [line]))
        elif line and found:
            found[-1][1].append(line)
    return found


def words(lines):
    return " ".join(" ".join(lines).split())


class Nouns:
    """What each noun is said to be, and whether two sentences differ by more than they are rounded."""

    def __init__(self):
        self.said = {}
        self.compared = 0
        self.faults = []

    def say(self, noun, value, where, digits=3):
        if noun not in self.said:
            self.said[noun] = (value, where)
            return
        before, there = self.said[noun]
        self.compared += 1
        # Three digits of a number differ by half of the last one.
        if abs(before - value) > 0.011 * 10 ** (3 - digits) * max(abs(before), abs(value)) + 1e-9:
            self.faults.append("%s is %g in %s and %g in %s" % (noun, before, there, value, where))


def read_sentences(nouns, found):
    for name, lines in found:
        text = words(lines)
        if name not in ("RESULT", "CAUSE"):
            continue
        for who, n, u in re.findall(r"\b((?:A|An) (?:block|step|iteration|request)|The only \w+) takes " + TIME, text):
            nouns.say(who.split()[-1] + " takes", ms(n, u), name)
        for n, u in re.findall(r"works " + TIME, text):
            nouns.say("the GPU works", ms(n, u), name)
        for n, u in re.findall(r"and waits " + TIME, text):
            nouns.say("the GPU waits", ms(n, u), name)
        for n, u in re.findall(r"The host alone would need " + TIME, text):
            nouns.say("the host alone", ms(n, u), name)
        # Some blocks have a rate of their own.
        text = re.sub(r"(From block \S+ on it is|The last block runs at) [0-9.,]+ FPS", "", text)
        for n, rate in re.findall(r"([0-9][0-9.]*) (FPS|steps/s|it/s|iterations/s)(?! end)", text):
            nouns.say("rate in " + rate.replace("iterations/s", "it/s"), float(n), name)


def read_fixes(nouns, lines):
    now = re.search(r"now ([0-9.]+) (FPS|steps/s|it/s)", lines[0])
    if now:
        nouns.say("rate in " + now.group(2), float(now.group(1)), "FIX FIRST")


def read_legend(nouns, lines):
    """What is below the fixes explains nothing that is not in them."""
    text = words(lines)
    rows, _, legend = text.partition(" predicted: ") if " predicted: " in text else text.partition(" at most: ")
    numbered = [line for line in lines if re.match(" [0-9] ", line)]
    for said, has in (("less host code: by half.", "host code" in rows), (">=: at least.", ">=" in rows),
                      ("-: no prediction.", " - " in rows + " "),
                      ("Largest gain first", len(numbered) > 1)):
        if said in legend and not has:
            nouns.faults.append("\"%s\" is said below FIX FIRST, where it is of nothing" % said)


def read_table(nouns, lines, touched):
    """Columns end where their heads do: the GPU works, it waits, and, where a replay tells, the host alone."""
    heads = [(m.end(), m.group(1), UNITS[m.group(2)]) for m in re.finditer(r"(works|waits|host alone), (ms|us)", lines[0])]
    nouns_of = {"works": "the GPU works", "waits": "the GPU waits", "host alone": "the host alone"}
    if not heads or not lines[-1].startswith(" in all"):
        return
    sums, total = [0.0] * len(heads), [0.0] * len(heads)
    for line in lines[1:]:
        for m in re.finditer(r"(?<=  )[0-9.,]+(?= |$)", line):
            column = next((k for k, (end, _, _) in enumerate(heads) if end == m.end()), None)
            if column is None:
                nouns.faults.append("%s of the table is below no head" % m.group())
                continue
            value = heads[column][2] * float(m.group().replace(",", ""))
            if line.startswith(" in all"):
                total[column] = value
            else:
                sums[column] += value
    for (_, head, _), value in zip(heads, total):
        if head == "works" and touched:
            continue  # the GPU worked for what came before too
        nouns.say(nouns_of[head], value, "the table")
    whole = total[0] + total[1]
    for k, (_, head, _) in enumerate(heads):
        left, rounded = total[k] - sums[k], 0.001 * len(lines) * whole
        # Each row is rounded; parts of the GPU's time below a twentieth of the unit have none.
        least = 0.05 * whole + rounded if head != "host alone" else rounded
        if (sums[k] or head == "host alone") and not -rounded <= left <= least:
            nouns.faults.append("rows of the table add up to %g, not to %g" % (sums[k], total[k]))


def check(name, lines, width):
    found = sections(lines)
    nouns = Nouns()
    faults = nouns.faults
    if len(lines) > 40:
        faults.append("%d lines" % len(lines))
    faults += ["a line of %d columns" % len(line) for line in lines if len(line) > width]
    order = [ORDER.index(section) for section, _ in found]
    if order != sorted(order) or len(set(order)) != len(order):
        faults.append("sections in the order %s" % [section for section, _ in found])
    faults += ["no %s" % must for must in ("DATA", "RESULT") if must not in [section for section, _ in found]]
    before = "still did earlier work" in words(lines)
    read_sentences(nouns, found)
    for section, part in found:
        if section == "FIX FIRST":
            read_fixes(nouns, part)
            read_legend(nouns, part)
        elif section == "table":
            read_table(nouns, part, before)
    said = nouns.said
    for unit in ("block takes", "step takes", "iteration takes"):
        if unit in said and "the GPU waits" in said and not before and "request takes" not in said:
            total = said["the GPU works"][0] + said["the GPU waits"][0]
            nouns.say(unit, total, "work and waits")
    for fault in faults:
        print("%s: %s" % (name, fault))
    return nouns.compared


def rows_of(lines, title):
    """The rows of a table: label and first number."""
    rows, inside = [], False
    for line in lines:
        if re.match("[A-Z]", line):
            inside = line.startswith(title)
        found = inside and re.match(r" +(.*?) {2,}<?([0-9][0-9.,]*)(?= |$)", line)
        if found:
            rows.append((found.group(1), float(found.group(2).replace(",", ""))))
    return rows


def read_gains(nouns, lines):
    """The numbers of each fix in its columns are those of the words below it."""
    inside = [line for name, part in sections(lines) if name == "FIX FIRST" for line in part]
    if not inside:
        return
    heads = {m.group(1): m.end() for m in re.finditer(r"(predicted|at most)(?= |$)", inside[0])}
    saved = re.match("FIX FIRST, ([mu]s) saved of", inside[0])
    number = 0
    for k, line in enumerate(inside[1:], 1):
        if not re.match(r" [0-9] ", line):
            continue
        number += 1
        below = []
        for other in inside[k + 1:]:
            if not other.startswith("    "):
                break
            below.append(other)
        below = words(below)
        cells = {name: float(m.group().replace(",", "")) for name, end in heads.items()
                 for m in re.finditer(r"(?<=  )[0-9.,]+(?= |$)", line) if m.end() == end}
        for name, value in cells.items():
            unit = saved.group(1) if saved and name == "at most" else ""
            if unit:
                said = re.search(r"(?:^|; |-)(?:[0-9.]+-)?%s of " % TIME, below)
                said = ms(*said.groups()) / UNITS[unit] if said else None
            else:
                said = re.search(r"([0-9.,]+) predicted" if name == "predicted" else r"at most ([0-9.,]+) (?:FPS|steps/s|it)", below)
                said = float(said.group(1).replace(",", "")) if said else None
            if said is not None:
                nouns.say("fix %d, %s" % (number, name), value, "its column")
                nouns.say("fix %d, %s" % (number, name), said, "the words below")


def check_full(name, lines, _width):
    nouns = Nouns()
    kernels = [(re.match(r"(?:K[0-9]+ |EAGER )?([A-Za-z_0-9]{10,})", label), value, title)
               for title in ("TOP KERNELS", "ATTENTION", "ALIGNMENT") for label, value in rows_of(lines, title)]
    several = [name.group(1) for name, _, title in kernels if name and title == "TOP KERNELS"]
    for kernel, value, title in kernels:
        if kernel and several.count(kernel.group(1)) < 2:
            nouns.say("the kernel " + kernel.group(1), value, title, 2)
    text = words(lines)
    marked = " iterations, " in text or " 1 iteration of " in text
    for n, u in re.findall(r"(?:iterations, |1 iteration of |steps of )" + TIME, text) if marked else []:
        nouns.say("an iteration", ms(n, u), "a sentence")
    for row in re.findall(r"^ iteration[^,]*? {2,}[0-9]+ +([0-9.,]+) ", "\n".join(lines), re.M):
        nouns.say("an iteration", float(row.replace(",", "")), "STAGES")
    for title in re.findall(r"^FIX FIRST, now (\S+) (\S+)", "\n".join(lines), re.M):
        nouns.say("rate in " + title[1], float(title[0].replace(",", "")), "FIX FIRST")
    read_sentences(nouns, sections(lines))
    read_gains(nouns, lines)
    nouns.faults += ["a time of 0.00 that is not 0: %s" % line.strip() for line in lines if re.search(r" 0\.000?(?= |$)", line)]
    for fault in nouns.faults:
        print("%s: %s" % (name, fault))
    return nouns.compared


def plain(markup):
    """The text of markup, or of Markdown."""
    text = html.unescape(re.sub("<[^>]*>", "", markup))
    return re.sub(r"\\([\\`*\[\]<|~&_])", r"\1", text)


def parts_of_markdown(text):
    parts = {name: plain(line) for name, line in re.findall(r"^- \*\*(RESULT|CAUSE)\*\* (.*)$", text, re.M)}
    table = re.search(r"^\| (FIX FIRST[^|]*) \|.*\n\|---.*\n((?:\|.*\n)*)", text, re.M)
    if table:
        parts["FIX FIRST"] = [re.sub("<br>.*", "", plain_row).strip()
                              for plain_row in re.findall(r"^\| ([1-5] (?:(?! \|).)*)", table.group(2), re.M)]
        parts["FIX FIRST"] = [plain(row) for row in parts["FIX FIRST"]]
    return parts


def parts_of_page(text):
    parts = {}
    for name in ("RESULT", "CAUSE"):
        found = re.search("<dt>%s</dt><dd class=\"w-%s\">(<p>.*?</p>)" % (name, name.lower()), text, re.S)
        if found:
            parts[name] = plain(found.group(1))
    fixes = re.findall(r"<span class=\"number\">([1-5])</span><p><a href=\"#fix-[0-9]+\">(.*?)</a>", text)
    if fixes:
        parts["FIX FIRST"] = ["%s %s" % (number, plain(words_)) for number, words_ in fixes]
    return parts


def is_shown(short, whole):
    """Whether a line of FIX FIRST is the other one, with less of its place."""
    first = re.split(r"\.\.\.", " ".join(short.split()))[0]
    return " ".join(whole.split()).startswith(first) or first.startswith(" ".join(whole.split()))


def check_same(screen, markdown, page):
    lines = open(screen, encoding="utf-8").read().splitlines()
    parts = {name: words(part) for name, part in sections(lines) if name in ("RESULT", "CAUSE")}
    fixes = [part for name, part in sections(lines) if name == "FIX FIRST"]
    numbered = [m.group(1) for line in (fixes[0] if fixes else []) for m in [re.match(r" ([1-5] .*?)(?: {2,}|$)", line)] if m]
    faults, compared = [], 0
    for form, other in (("Markdown", parts_of_markdown(open(markdown, encoding="utf-8").read())),
                        ("the page", parts_of_page(open(page, encoding="utf-8").read()))):
        nouns = Nouns()
        for name in ("RESULT", "CAUSE"):
            mine = parts.get(name, "")[len(name):].strip()
            theirs = " ".join(other.get(name, "").split())
            compared += 1
            if mine.replace(" ", "") != theirs.replace(" ", ""):
                faults.append("%s: %s is \"%s\", on the first screen \"%s\"" % (form, name, theirs, mine))
            read_sentences(nouns, [(name, [theirs])])
        faults += ["%s: %s" % (form, fault) for fault in nouns.faults]
        for mine, theirs in zip(numbered, other.get("FIX FIRST", [])):
            compared += 1
            if not is_shown(mine, theirs):
                faults.append("%s: \"%s\" of FIX FIRST, on the first screen \"%s\"" % (form, theirs, mine))
        if numbered and not other.get("FIX FIRST"):
            faults.append("%s: no FIX FIRST" % form)
    for fault in faults:
        print(fault)
    print("%d parts compared" % compared)


def main():
    if sys.argv[1] == "same":
        check_same(*sys.argv[2:5])
        return
    width = 0 if sys.argv[1] == "full" else int(sys.argv[1])
    screens = re.split(r"^=== (.*)\n", sys.stdin.read(), flags=re.M)
    checked = check if width else check_full
    compared = sum(checked(name, text.splitlines(), width) for name, text in zip(screens[1::2], screens[2::2]))
    print("%d screens, %d figures compared" % (len(screens) // 2, compared))


main()
