# What the sampler records, and what the report makes of it, on the simulated GPU with a scripted NVML. Energy and stages are
# exact on its clock; whatever NVML does, the host goes on and the stop is as quick as it says.
# shellcheck disable=SC1091,SC2154
. "$VPT_SOURCE_DIR/tests/support/cli.sh"

[ -x "$VPT_BIN/host_counters" ] || skip "host_counters is not built"
command -v python3 >/dev/null || skip "there is no python3 to read the report with"
nvml=$VPT_BIN/standin

# The thread of the sampler may be ending as the process does, and LeakSanitizer, which then stops each thread, does not always survive
# that. The unit tests of the sampler look for leaks.
host_asan=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

# traced RULE HOW SECONDS [NAME=VALUE...]: host_counters under these settings; its numbers are then in $work/host.
traced() {
	rule=$1 how=$2 seconds=$3
	shift 3
	rm -f "$work"/*.zst
	env LD_LIBRARY_PATH="$nvml" VPTRACE_COUNTERS=100ms ASAN_OPTIONS="$host_asan" "$@" timeout 60 "$VPT_BIN/host_counters" \
		"$work/t.zst" "$how" "$seconds" >"$work/host" 2>"$work/err" </dev/null
	found=$?
	cases=$((cases + 1))
	[ "$found" = 0 ] || fail "$rule: expected the host to end with 0, found $found"
}
value() {
	sed -n "s/^$1 //p" "$work/host"
}
# report RULE PROGRAM: Python that looks at the report r; counter(device, name) is a series of it.
report() {
	expect 0 "$1: the report" --format json "$work/t.zst"
	cases=$((cases + 1))
	{
		cat <<-'PY'
			import json, sys
			r = json.load(open(sys.argv[1]))
			def counter(device, name):
			    found = [c for c in r["counters"] if c["device"] == device and c["name"] == name]
			    return found[0] if found else None
			def stage(c, name):
			    return [s for s in c["stages"] if s["name"] == name][0]
			def near(a, b, by=2e-6):
			    assert abs(a - b) <= by, (a, b)
			findings = [f["id"] for f in r["findings"]]
		PY
		echo "$2"
	} >"$work/look.py"
	python3 "$work/look.py" "$work/out" 2>"$work/err" || fail "$1"
}

# ---- NVML hangs: at the start, in the search for the GPU, in a reading, in the last one ----
nvml_hangs() {
	for call in 1 2 3 9 60; do
		for try in 1 2 3 4 5; do # a busy machine may be late
			traced "NVML hangs in call $call" video 6 VPT_STANDIN_FAULTS=nvml-hang=$call VPT_STANDIN_NVML=power=300
			[ "$(value stop_ms)" -ge 1500 ] || break
		done
		same "$rule: the outcome" "0 0" "$(value start) $(value stop)"
		same "$rule: nothing is lost" "$(value received)" "$(value written)"
		# 0.2 s, on a machine with other work
		[ "$(value stop_ms)" -lt 1500 ] || fail "$rule: the stop took $(value stop_ms) ms in try $try"
		expect 0 "$rule: the report" "$work/t.zst" --full
		tr '\n' ' ' <"$work/out" | tr -s ' ' >"$work/flat"
		grep -q "NVML had not returned at the stop" "$work/flat" || fail "$rule: the report does not say it"
	done
}
aside nvml_hangs

# ---- endings without a stop; what a process owns as it ends is no leak ----
endings() {
	ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
	export ASAN_OPTIONS

	for fault in none nvml-hang; do
		for how in return pthread_exit; do
			for try in 1 2 3; do # a process that ends waits 0.2 s for a sample
				rule="$how, fault $fault, try $try"
				rm -f "$work"/*.zst
				LD_LIBRARY_PATH="$nvml" VPTRACE_COUNTERS=100ms VPT_STANDIN_FAULTS=$fault timeout 60 "$VPT_BIN/host_ending" \
					"$work/t.zst" $how >"$work/host" 2>"$work/err" </dev/null
				same "$rule: the host ends" 0 $?
				expect 0 "$rule: the report" --only counters "$work/t.zst"
				! grep -q COUNTERS "$work/out" || break
			done
			says out "COUNTERS"
		done
	done
}
aside endings

traced "300 W for 10 s are 0.833 Wh" video 10 VPT_STANDIN_NVML="power=300;utilization=97;temperature=60"
same "it starts and stops" "0 0" "$(value start) $(value stop)"
same "every sample is accounted for" "$(value received)" "$(($(value written) + $(value dropped)))"
same "and is no record of CUPTI" 7 "$(($(value received) - $(value samples) - $(value cupti_records) + $(value filtered)))"
report "300 W for 10 s are 0.833 Wh" '
p = counter(0, "Power draw")
assert p["unit"] == "W" and p["samples"] >= 11, p
assert p["min"] == p["mean"] == p["p95"] == p["max"] == 300
assert 10e9 <= p["covered_ns"] < 10.001e9
near(p["energy_wh"], 300 * p["covered_ns"] / 1e9 / 3600)
near(p["energy_wh"], 0.833333, 3e-5)
for name, seconds in (("encode", 1), ("block", 8), ("decode", 1)):
    near(stage(p, name)["energy_wh"], 300 * seconds / 3600, 1e-5)
q = p["requests"][0]
near(q["energy_wh"], 0.833333, 3e-5)
near(q["energy_per_frame_wh"], q["energy_wh"] / 48)
near(q["energy_per_block_wh"], 600 / 3600, 1e-5)
assert len(q["blocks"]) == 4
for b in q["blocks"]:
    near(b["energy_wh"], 600 / 3600, 1e-5)
assert counter(0, "GPU utilization")["mean"] == 97 and counter(0, "Temperature")["max"] == 60
assert counter(0, "Memory total")["max"] == 80 << 30
assert not counter(0, "SM clock")      # not supported: left out, not 0
assert counter(None, "Process memory")["max"] > 1e6
assert r["system"]["meta"]["nvml"] == "simulated, driver simulated" if "meta" in r["system"] else True
assert r["input"]["simulated"] is True'
expect 0 "the page" "$work/t.zst" --full
says out "COUNTERS, every 100 ms"
says out "Energy of GPU 0: 833 mWh"
says out "SIMULATED"
expect 0 "NVML is named in the capture" cat --kind meta "$work/t.zst"
says out "simulated, driver simulated"
expect 0 "only this section" --only counters "$work/t.zst"
says out "GPU 0 Power draw, W"

traced "a ramp of power" video 10 VPT_STANDIN_NVML="power=100@0,1100@10000"
report "a ramp is summed by trapezoids" '
p = counter(0, "Power draw")
near(p["energy_wh"], 6000 / 3600, 2e-4)
near(stage(p, "encode")["energy_wh"], 150 / 3600, 2e-4)
near(stage(p, "decode")["energy_wh"], 1050 / 3600, 2e-4)
assert stage(p, "encode")["mean"] < 151 and stage(p, "decode")["mean"] > 1049'

traced "throttling and a full memory" video 12 \
	VPT_STANDIN_NVML="reasons=0,0x24@4500;sm_clock=1980@4400,1400@4500;memory=10000000000@0,80000000000@12000"
report "throttling and a full memory are found" '
c = counter(0, "Clocks event reasons")
assert {x["reason"] for x in c["reasons"]} == {"power cap", "software thermal slowdown"}, c
assert c["highest_mhz"] == 1980 and 1400 <= c["limited_mhz"] < 1500, c
assert "throttling" in findings and "memory-full" in findings, findings
f = [f for f in r["findings"] if f["id"] == "throttling"][0]
lower = 1 - c["limited_mhz"] / 1980
near(f["gain_at_most_ms"], lower * c["limited_ns"] / c["awake_ns"] * r["devices"][0]["busy_ns"] / 1e6, 1e-3)
near(f["fps_to"], 1e3 * 12 / (2000 - f["base_gain_ms"]), 1e-3)
assert "thermal" in f["measured"], f
m = counter(0, "Memory used")
assert stage(m, "encode")["max"] < stage(m, "decode")["max"]'
expect 0 "throttling: the first screen" "$work/t.zst"
says out "clock at"
says out "1 cool the GPU: heat lowers its clock"
traced "throttling from the start" video 12 VPT_STANDIN_NVML="reasons=0x4;sm_clock=1400"
report "throttling is found although the clock was never higher" '
c = counter(0, "Clocks event reasons")
assert c["highest_mhz"] == c["limited_mhz"] == 1400 and c["limited_ns"] == c["awake_ns"], c
found = [f for f in r["findings"] if f["id"] == "throttling"]
assert len(found) == 1 and "SM clock 1,400 MHz then; no clock without" in found[0]["measured"], found
assert found[0]["gain_at_most_ms"] is None, found'
traced "set clocks" video 4 VPT_STANDIN_NVML="reasons=0x2;sm_clock=1400"
report "clocks that somebody set are no throttling" 'assert "throttling" not in findings, findings'
traced "a toy" video 4 VPT_STANDIN_NVML="reasons=0,0x4@3000;power=700;sm_clock=1400;memory=10000000"
report "a toy raises nothing" '
assert not {"throttling", "memory-full", "disk-in-loop", "cpu-quota"} & set(findings), findings'

traced "two GPUs" video 4 VPT_STANDIN_DEVICES=2 VPT_STANDIN_NVML="0.power=100;1.power=200;power=999"
report "each GPU has its series" '
assert counter(0, "Power draw")["mean"] == 100 and counter(1, "Power draw")["mean"] == 200'

traced "allocations" video 4 VPTRACE_PROFILE=full
report "memory by CUDA calls is a series where it is recorded" '
a = counter(0, "Allocated by CUDA calls")
assert a["max"] == 1 << 20 and stage(a, "encode")["max"] == 1 << 20, a'

# ---- without ----

traced "off" blind 4 VPTRACE_COUNTERS=off
same "no samples" 0 "$(value samples)"
expect 0 "a report without samples" "$work/t.zst" --full
grep -q COUNTERS "$work/out" && fail "a report without samples has a section of counters"
report "its list is empty" 'assert r["counters"] == []'

nvml=$work/nothing
traced "no NVML" host 4
same "the host knows nothing of it" "0 0" "$(value start) $(value stop)"
report "without NVML there are the host's series" '
assert counter(None, "Process memory") and not [c for c in r["counters"] if c["device"] is not None]'
expect 0 "why stands in the capture" cat --kind meta "$work/t.zst"
says out "unavailable: libnvidia-ml.so.1"
nvml=$VPT_BIN/standin

traced "a driver that NVML cannot use" host 4 VPT_STANDIN_FAULTS=nvml-init=9
expect 0 "why stands in the capture" cat --kind meta "$work/t.zst"
says out "nvmlInit_v2 gave error 9: Driver Not Loaded"

traced "no GPU is recorded" idle 3 VPTRACE_COUNTERS= VPT_STANDIN_FAULTS=busy
same "then counters are not, by default" 0 "$(value samples)"
for tenths in 3 10 30; do # on a busy machine
	traced "unless they are asked for" idle $tenths VPT_STANDIN_FAULTS=busy
	[ "$(value samples)" = 0 ] || break
done
[ "$(value samples)" -gt 0 ] || fail "$rule: found no samples"
traced "by default every 500 ms" video 4 VPTRACE_COUNTERS=
expect 0 "the page" "$work/t.zst" --full
says out "COUNTERS, every 500 ms"
traced "each monitor has its interval" video 10 VPTRACE_COUNTERS=gpu:100ms,host:60s,temperature:off VPT_STANDIN_NVML=power=300
expect 0 "the page of such a capture" "$work/t.zst" --full
says out "COUNTERS, gpu:100ms,host:60s,temperature:off"
report "each has its samples" '
assert counter(0, "Temperature") is None
assert counter(0, "Power draw")["samples"] >= 3
assert counter(None, "Process memory")["samples"] == 2 and counter(None, "Process CPU")["samples"] == 1'
traced "an interval out of range" idle 1 VPTRACE_COUNTERS=99
same "is refused" -1 "$(value start)"

# ---- exports ----

traced "an export" video 4 VPT_STANDIN_NVML="power=300;sm_clock=1980"
expect 0 "for Chrome" export --format chrome --compress none -o "$work/chrome.json" "$work/t.zst"
grep -q "Power draw" "$work/chrome.json" || fail "the export for Chrome has no power"
expect 0 "for Perfetto" export --format perfetto -o "$work/t.pftrace" "$work/t.zst"
finish
