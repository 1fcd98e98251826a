#!/bin/sh
# ranks --format html: one page that keeps the rules of the report's page. Each number is that of the JSON, what it draws of waits is
# what is true of the job, and names stay text. Where there is a Chromium, also in it.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}" && pwd)
. "$source/tests/support/outputs/page.sh"
need_python 3.9
cd "$work" || exit 1

# page NAME JOB OPTION...: makes NAME.html of a job, and checks it against the JSON.
page() {
	name=$1
	files=$2
	shift 2
	expect 0 "the page $name" ranks "$files" "$@" --format html -o "$name.html"
	silent err
	expect 0 "the JSON of $name" ranks "$files" "$@" --format json -o "$name.json"
	holds "the page $name is sound" check "$name.html"
	holds "its numbers are those of the JSON" numbers "$name.html" "$name.json"
}

# drawn NAME: of each rank that has a strip, the part that waits is what the truth says, to 1 % of the job's time. In the
# job's time a column is as long as any other.
drawn() {
	cases=$((cases + 1))
	python3 - "$1" "$source" >wrong <<'PY' || fail "$1: what is drawn: $(cat wrong)"
import json, re, sys
name, source = sys.argv[1:]
page = open(name + ".html", encoding="utf-8").read()
job = {"rank %d" % r["rank"]: r for r in json.load(open(name + ".json"))["ranks"]}
page = page[page.index('id="timeline"'):page.index('id="timeline-detail"')]
length = int(re.search(r'data-ns="(\d+)"', page)[1])
def heights(d):
    out, y = [], 200
    for command, number in re.findall(r"([Vh])(\d+)", d):
        if command == "V":
            y = int(number)
        else:
            out += [200 - y] * int(number)
    return out
strips = re.findall(r'<svg class="zoom strip" data-width="([\d.]+)" data-label="([^"]+)".*?>\n(.*?)</svg>', page, re.S)
found = 0
for width, label, paths in strips:
    parts = [(n, heights(d)) for n, d in re.findall(r'data-name="([^"]+)" d="([^"]+)"', paths)]
    if [n for n, _ in parts] != ["idle", "waits for other ranks", "transfers", "copies", "computes"]:
        sys.exit(print(label, [n for n, _ in parts]) or 1)
    if label not in job:
        continue
    for doing, k, key in (("waits", 1, "wait_ns"), ("computes", 4, "compute_ns"), ("transfers", 2, None)):
        below = parts[k + 1][1] if k < 4 else [0] * len(parts[k][1])
        share = sum(a - b for a, b in zip(parts[k][1], below)) / 200 / float(width)
        r = job[label]
        want = r[key] if key else r["transfer_ns"] + r["end_skew_ns"] + r["unsure_ns"]
        if abs(share - want / length) > 0.01:
            sys.exit(print(label, doing, share, want / length) or 1)
    found += 1
print("no strips" if not found else "")
sys.exit(not found)
PY
}

job() {
	rm -rf job
	python3 "$source/tests/support/ranks_job.py" job "$@"
	rm job/truth.json
}

job ranks=1 kernel=0:1600000
mv job/rank0.json alone.json
job kernel=5:300000 jitter=60000 groups=4 setup=2:gloo
page late job --base alone.json
drawn late
same "its sections" "summary overview close-up matrix scaling ranks metrics late-by fixes groups setup help" "$(sections late.html)"
rule="what people must see"
says late.html '<h1><span class="brand">vptrace</span> 8 ranks'
says late.html 'class="badge green">COMPLETE'
says late.html '<b class="red">RANK</b> 5 IS LATE, the others wait for it: '
says late.html "rank 5 like the median of the others"
says late.html "rank 5 came last: the others waited"
says late.html "vptrace-analyze ranks job --base alone.json --format html"
expect 2 "no page over another" ranks job --format html -o late.html

# Each cell of the matrix is the time of a rank in a stage, or in a part of a unit; the late rank is marked, and shaded where it is late.
printf 'range block(index,frames)\t^block ([0-9]+) frames=([0-9]+)\n' >rules
job kernel=5:120000 frames=12
page stages job --rules rules
cases=$((cases + 1))
python3 - >wrong <<'PY' || fail "the matrix: $(cat wrong)"
import json, re, sys
page = open("stages.html", encoding="utf-8").read()
job = json.load(open("stages.json"))
section = page[page.index('id="matrix"'):]
section = section[:section.index("</section>")]
heads = [re.sub("<[^>]*>", "", h) for h in re.findall(r"<th[^>]*>(.*?)</th>", section)]
if heads != ["rank", "vae_decode a block", "block * frames=* computes", "vae_decode computes",
             "computes", "copies", "transfers", "waits", "idle"]:
    sys.exit(print("heads", heads) or 1)
scale = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
rows = re.findall(r"<tr>(.*?)</tr>", section[section.index("<tbody>"):])
if len(rows) != 8:
    sys.exit(print(len(rows), "rows") or 1)
share = job["unit_ns"] / sum(r["compute_ns"] + r["exposed_comm_ns"] + r["copy_ns"] + r["idle_ns"] for r in job["ranks"]) * 8
for row, r in zip(rows, job["ranks"]):
    cells = re.findall(r'<td class="([^"]*)">(.*?)</td>', row)
    texts = [re.sub("<[^>]*>", "", text) for _, text in cells]
    # Of the four kernels of a block the last one is in vae_decode.
    want = [r["stages"][0]["time_ns"], r["compute_ns"] * share * 3 / 4, r["compute_ns"] * share / 4] + [r[k] * share for k in ("compute_ns", "copy_ns", "transfer_ns", "wait_ns", "idle_ns")]
    if texts[0] != str(r["rank"]) or (cells[0][1] != texts[0]) != (r["rank"] == 5):
        sys.exit(print("rank", cells[0]) or 1)
    for text, ns in zip(texts[1:], want):
        number, unit = text.split()
        if abs(float(number) * scale[unit] - ns) > 0.01 * ns + 100:
            sys.exit(print(r["rank"], text, ns) or 1)
    shades = [re.sub(r"\b(n|apart)\b ?", "", look) for look, _ in cells[1:]]
    if shades != (["up-3"] * 4 + ["", "", "down-3", ""] if r["rank"] == 5 else [""] * 8):
        sys.exit(print("shades", r["rank"], shades) or 1)
PY

# Of many ranks the late one has a strip of its own, the others are a mean and a map, and the table has those that matter.
job ranks=210 host=203:250000 jitter=60000 steps=3 hosts=3
expect 0 "many ranks" ranks job --format html -o many.html
expect 0 "the same as JSON" ranks job --format json -o many.json
holds "the page of many ranks is sound" check many.html
drawn many
says many.html 'data-label="rank 203"'
says many.html 'data-label="209 others"'
same "strips of the job's time" 2 "$(sed '/id="close-up"/,$d' many.html | grep -c 'class="zoom strip"')"
same "the first row of the table" 203 "$(sed -n '/<table data-path="ranks"/,/<\/table>/s/^<tr><td class="n" data-v="\([0-9]*\)".*/\1/p' many.html | head -n 1)"
says many.html "The first 200 of 210 rows"
same "ranks in each histogram" "210 210 210 210 210 210 210" "$(python3 - <<'PY'
import re
page = open("many.html", encoding="utf-8").read()
section = page[page.index('id="matrix"'):]
section = section[:section.index("</section>")]
bins = re.findall(r'<svg class="bins".*?</svg>', section)
print(*(sum(map(int, re.findall(r"<title>(\d+) rank", svg))) for svg in bins))
PY
)"
says many.html ', rank 203</span></figcaption></figure>'
[ "$(wc -c <many.html)" -le 500000 ] || fail "the page of 210 ranks: found $(wc -c <many.html) bytes"

# A start that is said apart is not drawn: the rest would be a line.
job ranks=4 late=2:3000000000 kernel=3:300000
page start job
says start.html "Each rank from when the last one began to the job"
length=$(sed -n 's/.*id="timeline" data-ns="\([0-9]*\)".*/\1/p' start.html)
same "the time that is drawn" 1 "$((length > 30000000 && length < 40000000))"

job ranks=3 leave_out=1 lack=0:0:40 lack=2:0:40
expect 0 "nothing in common" ranks job --format html -o nothing.html
says nothing.html "ranks have no collective in common"
holds "that page is sound" check nothing.html

# Names of a job are text.
job ranks=4 kernel=2:300000
python3 - <<'PY'
import json
evil = '"><script>ZQX</script>&\'\u202e\x1b'
for r in range(4):
    path = "job/rank%d.json" % r
    text = open(path).read().replace("ProfilerStep#0", json.dumps("ZQX" + evil)[1:-1]).replace('"node0"', json.dumps(evil))
    open(path, "w").write(text.replace("NVIDIA H100", json.dumps("ZQX" + evil)[1:-1]))
PY
page hostile job
holds "hostile names stay text" names hostile.html ZQX 8
in_browser late.html many.html
finish
