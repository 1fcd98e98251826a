#!/usr/bin/env python3
"""mark_lines.py - `vptrace run` and vptrace_marks agree on mark files.

    PYTHONPATH=tracer/python python3 tests/support/mark_lines.py VPTRACE [SEED COUNT]

Each line is tried in a file, after one that is right. What the launcher refuses, lines.py refuses in the same words; what it takes
and lines.py refuses must be one of UNSURE, which only Python can judge. SEED and COUNT: random lines instead, made of parts of these.
"""
import os
import random
import subprocess
import sys
import tempfile

from vptrace_marks import lines

TARGETS = ["m:f", "a.b.c:D.e", "*:f", "m*.n:f*", "m:*(Base).f", "m:A+.f", "m:A.f!", "__main__:f", "m", "m.f", ":f", "m:", "1m:f", "m:1f", "m:f..g",
           "m:.f", "m..n:f", "m:f(", "m:f()", "m:f(B", "m:*(B)", "m:f(1B)", "m:f+", "m:+.f", "m:!", "m:f!!", "m:f+.g!", "m:f:g", "m-n:f",
           "m:a-b", "1*:f", "m:f(*)", '"m:f"', "m:f=", "package", "packages"]
KINDS = ["request", "stage s", "stage", "stage {class}", 'stage "a b"', 'stage ""', "block", "block begin", "block end", "step", "step begin",
         "step end", "context", "frames", "none", "steps", "begin", "step  end", "block x", "frames ready", "none x", "stage end", "step middle",
         '"step begin"', "", "Step", "request {class}"]
VALUES = ["i", "index", "3", "-3", "0", "00", "1_0", "0x1f", "01", "1.5", "1.", ".5", "1e3", "1j", "i+1", "i-1", "i*2", "i//2", "i/2", "i%2", "i**2",
          "i<<1", "i&1", "i^1", "i|j", "i|j|3", "(i|j)", "(i|j)+1", "i|(j|k)", "-i", "+i", "~i", "--i", "not_i", "None", "True", "a.b", "a.b.c",
          "a.None", "a.1", "a.", ".a", "a..b", "a[0]", "a[-1]", "a['k']", 'a["k"]', "a[k]", "a[1+1]", "a[1:2]", "a[1,2]", "a[]", "a[0", "a]", "a[0][1].b",
          "a[True]", "a[None]", "a[1.5]", "a[-k]", "a['k'].b", "a[''].b", "a[\"k'\"]", "len(a)", "len(a,)", "len(a.b[1])", "len()", "len(a,b)", "len",
          "len(", "len)", "len(a", "f(1)", "f(x)(y)", "a.len(b)", "(len)(a)", "f(a=1)", "f(*a)", "len(a)[0]", "(i)", "((i))", "(i", "i)", "()", "(i,j)",
          "i==3", "i!=3", "i<j", "i<=j", "i>j", "i>=j", "i<j<k", "(i<j)+1", "i==j|k", "i=3", "i==", "==i", "i+", "*i", "i*", "i,j", "i:j", "i;j", "$i",
          "i?", "!i", "[i]", "{i}", "'s'", '"s"', "'s", "a['k", "b'x'", "a[b'x']", "f'x'", "lambda", "i@j", "`i`", "i\\j", "i->j", "i<>j", "a[b]%2",
          "a[b]+1.5", "1.5+a[b]", "a[b]|c", "c|a[b]", "x.y(z)", "a[0x1]", "a[-0x1]", "a['\\n']", "((((((i))))))", "0_0", "1__0", "1_", "9" * 30,
          "if", "a.if", "i.real", "5.real", "5 .real", "...", "count", "request.steps", "4*latents.shape[2]-3"]
QUOTED = ['"i + 1"', '"i  "', '""', '"', '"i and j"', '"i if j else k"', '"not i"', '"i in j"', '"i j"', '"i #"', '"a [ 0 ]"', '" i"', '"lambda: i"',
          '"i not"', '"a . b"', '"- i"', '"i = j"', '"a[ k ]"', '"len ( a )"', '"1 2"', '"i 2"', '"a \'b\'"']
MORE = ["frames=", "latents=", "index=", "timestep=", "context=", "key=", "facts=", "closes=", "indices="]
LISTS = ["block", "step", "block,step", "request", "block,", ",", "block,block", '"step"', "size", "size,steps", "n:size", "n:", ":n", "n:a:b", "a.b,c", "a[b],c",
         "a|b,c.d", "self.a,f(1)"]
RAW = ["", "# comment", "m:f = step # index=(", "m:f=step", "m:f =step", "m:f = step#x", "m:f = step # \xe9", "m:f = st\xe9p", "  m:f = step  ", "m:f\t=\tstep",
       "package", "package a", "package a b", "package a.b", "package *", "package 1", "package a-b", "m:f == step", "=", "= step", "m:f =", "m:f", "m:f = =",
       "m:f = stage index=i", "m:f = stage s t", "m:f = stage s index=i t", "m:f = step index=i index=j", "m:f = step closes=step closes=block",
       "m:f = request facts=a facts=b", "m:f = step index=i\rm:g", "m:f = step\x0bm:g", "m:f = step\x1cm:g", "m:f = step\x85m:g", "m:f = step\u2028m:g",
       "m:f = step\xa0index=i", "m:f = step index=\"i", "m:f = step \"index=i j\"", "\ufeffm:f = step", "m:f = step index=i=j", "m:f = step =i", "m:f = step index"]
# Mistakes that Python finds, and the launcher leaves to it: other numbers, escapes, keywords, what is Python's in another version.
UNSURE = ("01", "1.", ".5", "1e3", "1j", "1__0", "1_", "5.real", "b'x'", "f'x'", "lambda", "''", "\\", "if", "and", "not", " in ", "`", "[i]", "{i}", "...",
          "*i", "*a", "i,j", "i:j", "a[1:2]", "a[1,2]", "f(a=1)", "(len)", "()", "(i,j)", "'s", "'k", '""', "a.1", "a..b", ".a", "a.None", "a.if", "i@j", "#", "-k",
          "True]", "~", "0x", "_0", "\xe9", "\xa0", "\u2028", "\ufeff", "'b'", "a['\\n']", "\"'", "-1.5", "'s'", "i?")


def candidates():
    yield from RAW
    for target in TARGETS:
        yield target + " = step"
    for kind in KINDS:
        yield "m:f = " + kind
        for more in MORE:
            yield "m:f = %s %si" % (kind, more)
    for value in VALUES + QUOTED:
        yield "m:f = step index=" + value
        yield "m:f = request facts=n:%s" % value
    for value in LISTS:
        for key in ("closes", "facts"):
            yield "m:f = request %s=%s" % (key, value)


def random_value(random_of, depth=0):
    choices = [lambda: random_of.choice(VALUES)]
    if depth < 3:
        inner = lambda: random_value(random_of, depth + 1)  # noqa: E731
        choices += [lambda: "(%s)" % inner(), lambda: inner() + random_of.choice("+-*|.<[(,=])") + inner(), lambda: "%s[%s]" % (inner(), inner()),
                    lambda: "len(%s)" % inner(), lambda: "-" + inner(), lambda: inner() + "//" + inner()]
    return random_of.choice(choices)()


def random_line(random_of):
    words = ["m:f", "=", random_of.choice(KINDS)]
    for _ in range(random_of.randrange(3)):
        words.append(random_of.choice(MORE) + random_of.choice([random_value(random_of), random_of.choice(LISTS + QUOTED)]))
    if random_of.random() < .2:
        words[0] = random_of.choice(TARGETS)
    line = " ".join(words)
    if random_of.random() < .3:
        at = random_of.randrange(len(line))
        line = line[:at] + random_of.choice("\"'#:.=()[] ,*") + line[at + random_of.randrange(2):]
    return line


def of_python(path):
    """The mistake, or None."""
    try:
        lines.read_file(path)
        return None
    except lines.MarkError as error:
        return str(error)
    except Exception as error:  # pylint: disable=broad-except  # a mistake that lines.py does not know
        return "%s: %s" % (type(error).__name__, error)


def of_launcher(vptrace, path):
    ran = subprocess.run([vptrace, "run", "--mark", path, "-o", os.devnull + "/none", "true"], stderr=subprocess.PIPE, check=False)
    text = ran.stderr.decode("utf-8", "replace").rstrip("\n")
    if "/none" in text or not text.startswith("vptrace: " + path + ":"):  # the next check fails
        return None
    assert ran.returncode == 2, (ran.returncode, text)
    return text[len("vptrace: "):]


def main():
    vptrace, failed, tried, refused, left = sys.argv[1], 0, 0, 0, 0
    path = os.path.join(tempfile.mkdtemp(), "my.marks")
    todo = candidates()
    if len(sys.argv) > 2:
        random_of = random.Random(int(sys.argv[2]))
        todo = (random_line(random_of) for _ in range(int(sys.argv[3])))
    for line in todo:
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write("m:g = stage first  # right\n" + line + "\nm:h = step\n")
        python, launcher = of_python(path), of_launcher(vptrace, path)
        tried += 1
        refused += launcher is not None
        if launcher == python:
            continue
        if launcher is None and (len(sys.argv) > 2 or any(part in line for part in UNSURE)):
            left += 1
            continue
        failed += 1
        print("%r\n  vptrace run:   %s\n  vptrace_marks: %s" % (line, launcher, python))
    print("%d lines, %d refused, %d left to Python, %d failed" % (tried, refused, left, failed))
    sys.exit(failed > 0 or left * 8 > tried)


main()
