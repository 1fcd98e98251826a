#!/bin/sh
# vptrace.load(): every value of every table is that of the export as JSON lines, the report is that of the command, and mistakes
# are exceptions that say what to do. Arrow's structs are read with ctypes; other consumers read them too, where they are installed.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
bin=$(cd "${VPT_BIN:-.}" && pwd)
need_python 3.8
[ -e "$bin/libvptrace_tables.so" ] || skip "libvptrace_tables.so was not built"
cd "$work" || exit 1
need_trace trace.zst small_trace
unset VPTRACE_LIBRARY CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
export PYTHONPATH="$source/tracer/python" VPTRACE_TABLES="$bin/libvptrace_tables.so"
loadable "$VPTRACE_TABLES"

all=$("$VPT_ANALYZE" export --help | sed -n '/^Tables, for/,/^options/p' | sed '/:$/d;/^options/d' | tr -s ' \n' ',,' | sed 's/^,//;s/,$//')
need_trace many.zst kernels_trace 132000
for trace in trace.zst "$source/tests/corpus/good-small.zst" "$source/tests/corpus/good-every-kind.zst" "$source/tests/corpus/good-hostile-names.zst"; do
	"$VPT_ANALYZE" "$trace" --format json --no-progress >report.json 2>err
	"$VPT_ANALYZE" export "$trace" --format jsonl -o tables --only "$all" --force --no-progress 2>err
	cases=$((cases + 1))
	$preload python3 "$source/tests/support/outputs/loaded.py" "$trace" tables report.json >out 2>err ||
		fail "$(basename "$trace"): $(tail -n 1 err)"
	grep -q '^[0-9]\{2\} tables, [0-9]\{3,\} values, ' out || fail "$(basename "$trace"): what was compared: $(cat out)"
done
# Several batches of one table.
same "rows beyond a batch" "66000 66000 1 66000" "$($preload python3 -c '
import vptrace
run = vptrace.load("many.zst", "kernel")
sizes = [batch.length for _, batch in run.kernel._batches()]
rows = list(run.kernel)
print(sum(sizes), len(rows), int(len(sizes) > 1 and max(sizes) <= 65536), len({row["correlation"] for row in rows}))' 2>&1)"
same "a trace as a dictionary of its tables" "['kernel', 'call', 'calls'] 3 True False 66000" "$($preload python3 -c '
import vptrace
run = vptrace.load("many.zst", "kernel,call")
print(list(run), len(run), "kernel" in run, "range" in run, sum(len(run[name]) for name in run if name == "kernel"))' 2>&1)"
cases=$((cases + 1))
$preload python3 - >out 2>err <<'PY' || fail "numbers in another locale: $(tail -n 1 err)"
import locale, os, vptrace

corpus = os.environ["PYTHONPATH"] + "/../../tests/corpus/good-small.zst"
shares = [row["share_of_busy"] for row in vptrace.load(corpus, "report_families")["report_families"]]
assert any(0 < share < 1 for share in shares), shares
for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "tr_TR.UTF-8"):
    try:
        locale.setlocale(locale.LC_ALL, name)
    except locale.Error:
        continue
    assert [row["share_of_busy"] for row in vptrace.load(corpus, "report_families")["report_families"]] == shares, name
    break
else:
    print("SKIPPED: another locale, of which none is installed")
PY
cat out
# C ends a text at its first NUL, and takes a number modulo 2**64: what is read would not be what was asked for.
same "arguments that C would cut" "path range tables request request" "$($preload python3 -c '
import vptrace
for path, more in (("trace.zst\0x", {}), ("trace.zst", {"range": "step 1\0x"}), ("trace.zst", {"tables": "ops\0x"}),
                   ("trace.zst", {"request": -1}), ("trace.zst", {"request": 2 ** 64})):
    try:
        vptrace.load(path, **more)
    except ValueError as error:
        print(str(error).partition(": expected ")[0], end=" ")' 2>&1 | sed "s/ $//")"
same "no library" "MISSING: there is no libvptrace_tables.so" "$(python3 -c '
import vptrace
from vptrace import _tables
def refuse(path):
    raise OSError("not here")
_tables.ctypes = type("Nothing", (), {"CDLL": staticmethod(refuse)})
try:
    _tables._tables_library()
except vptrace.VptraceError as error:
    print(error.code.name + ": " + str(error)[:32])' 2>&1)"

# ---- other consumers ----
if [ -n "$preload" ]; then
	echo "SKIPPED: other consumers of Arrow: a library with sanitizers built in"
else
	cases=$((cases + 1))
	python3 "$source/tests/support/outputs/loaded_by_others.py" trace.zst >out 2>err || fail "other consumers: $(tail -n 1 err)"
	sed -n 's/^missing \(..*\)/SKIPPED: consumers of Arrow that pip has not installed: \1/p' out
	grep -q '^found' out || fail "other consumers: $(cat out)"
fi
finish
