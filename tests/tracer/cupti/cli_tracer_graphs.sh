# A large CUDA graph arrives whole: each description of its nodes and each kernel of its launches, also where the writer
# gets no turn while the host builds and launches it.
. "$VPT_SOURCE_DIR/tests/support/cli.sh"

host=$VPT_BIN/host_graphs
[ -x "$host" ] || skip "host_graphs is not built"
nodes=${VPT_NODES:-100000}
launches=3
one_core=
command -v taskset >/dev/null 2>&1 && one_core="taskset -c $(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')"

value() { # value NAME: a number of the last run
	sed -n "s/^$1 //p" "$work/host"
}

# arrives RULE PREFIX [NAME=VALUE...]: PREFIX is what the host is started with.
arrives() {
	setting=$1
	prefix=$2
	shift 2
	rm -f "$work"/*.zst
	# shellcheck disable=SC2086
	env "$@" timeout 120 $prefix "$host" "$work/t.zst" "$nodes" $launches >"$work/host" 2>"$work/err" </dev/null ||
		fail "$setting: the host ended with $?"
	for name in stop dropped cupti_dropped lost; do
		same "$setting: $name" 0 "$(value $name)"
	done
	same "$setting: kernels that ran" $((nodes * launches)) "$(value kernels)"
	same "$setting: records delivered" "$(value records)" "$(value cupti_records)"
	expect 0 "$setting: a complete capture" "$work/t.zst" --full
	expect 0 "$setting: descriptions" cat "$work/t.zst" --kind graph -f csv
	same "$setting: descriptions of nodes" $((nodes * 4)) "$(grep -c ',node ' "$work/out")"
	expect 0 "$setting: kernels" cat "$work/t.zst" --kind kernel -f csv
	same "$setting: kernels" $((nodes * launches)) "$(grep -c _kernel "$work/out")"
}

# Replays belong to the operators that were open while the graph was captured: a node of 1 us each.
belongs() {
	command -v python3 >/dev/null 2>&1 || { echo "SKIPPED: operators in graphs: there is no python3" && return; }
	expect 0 "operators in graphs" "$work/t.zst" --format json
	cases=$((cases + 1))
	python3 - "$work/out" $((nodes * launches / 2)) <<'PY' || fail "operators: $(head -c 400 "$work/out")"
import json, sys
half = int(sys.argv[2])
found = {row["name"]: row for row in json.load(open(sys.argv[1], encoding="utf-8"))["operators"]}
assert sorted(found) == ["aten::mm", "aten::softmax"], found
for row in found.values():
    assert (row["graph_ops"], row["graph_ns"], row["ops"], row["gpu_ns"], row["calls"]) == (half, half * 1000, 0, 0, 1), row
assert found["aten::mm"]["shapes"] == "64x32 32x64", found
PY
}

# Two processes that never wait, for as long as this test runs at most.
load() {
	for _ in 1 2; do
		timeout 100 sh -c 'while :; do :; done' &
		busy="${busy:-} $!"
	done
}

for time in virtual real; do
	arrives "$time time" "" VPT_STANDIN_TIME=$time
	[ "$time" = real ] || belongs
	[ -z "$one_core" ] || arrives "$time time, one core" "$one_core" VPT_STANDIN_TIME=$time
done
load
for time in virtual real; do
	arrives "$time time, a busy machine" "$one_core" VPT_STANDIN_TIME=$time
done
# shellcheck disable=SC2086
kill $busy
finish
