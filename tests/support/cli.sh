# cli.sh - what the tests of the command line share; sourced by tests/cli_*.sh.
#
# VPT_ANALYZE is the program. Each test has a separate folder, $work, removed at its end.
: "${VPT_ANALYZE:?expected the path of vptrace-analyze}"
LC_ALL=C
export LC_ALL
unset NO_COLOR COLUMNS
# Counters sample the machine, and a stop gives up a disk or a GPU that a busy machine delays: a test that wants either asks for it.
export VPTRACE_COUNTERS=off VPTRACE_STOP_MS=30000
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cases=0
failures=0

fail() {
	failures=$((failures + 1))
	echo "FAIL: $*"
	sed 's/^/    stdout: /' "$work/out" 2>/dev/null | head -n 5
	sed 's/^/    stderr: /' "$work/err" 2>/dev/null | head -n 5
	[ -z "${VPT_FIRST_FAILURE:-}" ] || exit 1 # all that cli_stubs.sh asks for
}

# expect CODE RULE COMMAND...: runs the program; its output is in $work/out and $work/err afterwards.
expect() {
	wanted=$1
	rule=$2
	shift 2
	cases=$((cases + 1))
	"$VPT_ANALYZE" "$@" >"$work/out" 2>"$work/err" </dev/null
	found=$?
	[ "$found" = "$wanted" ] || fail "$rule: expected exit code $wanted, found $found"
}

# as_plain CODE RULE COMMAND...: the program prints the bytes that $VPT_PLAIN prints, with the same exit code. That is vptrace-analyze
# without sanitizers, whose tests have looked at them; tests/run.sh names it to the tests of the sanitizers' build.
as_plain() {
	expect "$@"
	shift 2
	"$VPT_PLAIN" "$@" >"$work/plain" 2>/dev/null </dev/null
	[ $? = "$wanted" ] || fail "$rule: the build without sanitizers has another exit code"
	cmp -s "$work/out" "$work/plain" || fail "$rule: the build without sanitizers prints something else"
}

# as_plain_file FILE COMMAND...: the same of a file that the command has written and, told to once more, $VPT_PLAIN writes.
as_plain_file() {
	made_file=$1
	shift
	[ -n "${VPT_PLAIN:-}" ] || return 0
	mv "$made_file" "$work/written"
	"$VPT_PLAIN" "$@" >/dev/null 2>&1 </dev/null
	if cmp -s "$work/written" "$made_file"; then
		: >"$made_file.same"
	else
		fail "$*: the build without sanitizers writes another $made_file"
	fi
}

# looked_at FILE...: whether the tests of the build without sanitizers have looked at the bytes of all of them. Files of the sources count
# as such, options do not.
looked_at() {
	[ -n "${VPT_PLAIN:-}" ] || return 1
	for looked in "$@"; do
		case $looked in
		-* | "$VPT_SOURCE_DIR"/*) ;;
		*) [ -e "$looked.same" ] || return 1 ;;
		esac
	done
}

# prints_as_plain FILE COMMAND...: the command has printed FILE, and $VPT_PLAIN prints these bytes.
prints_as_plain() {
	made_file=$1
	shift
	[ -n "${VPT_PLAIN:-}" ] || return 0
	if "$VPT_PLAIN" "$@" 2>/dev/null </dev/null | cmp -s - "$made_file"; then
		: >"$made_file.same"
	else
		fail "$*: the build without sanitizers prints another $made_file"
	fi
}

# says FILE TEXT: the last output ("out" or "err") contains the text.
says() {
	grep -qF -- "$2" "$work/$1" || fail "$rule: expected \"$2\" on std$1"
}

# silent FILE: the last output is empty there.
silent() {
	[ ! -s "$work/$1" ] || fail "$rule: expected nothing on std$1"
}

# same RULE EXPECTED FOUND
same() {
	cases=$((cases + 1))
	rule=$1
	[ "$2" = "$3" ] || fail "$1: expected \"$2\", found \"$3\""
}

# for_others FILE...: copies what was built to $work/others, for another user: the checkout may be in a folder that only its owner enters.
for_others() {
	chmod 755 "$work"
	mkdir -p "$work/others"
	(cd "$VPT_BIN" && cp -Lr "$@" "$work/others/") || fail "no copy of $*"
	chmod -R go+rX "$work/others"
}

# loadable LIBRARY: python3 can load it, or the test is skipped. $preload then begins the command that does: one with sanitizers
# needs their runtime first.
loadable() {
	preload=
	python3 -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$1" 2>"$work/why" && return
	runtime=$(ldd "$1" | awk '/lib[at]san/ { print $3; exit }')
	[ -n "$runtime" ] && preload="env LD_PRELOAD=$runtime ASAN_OPTIONS=detect_leaks=0"
	$preload python3 -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$1" 2>"$work/why" ||
		skip "a library with sanitizers built in cannot be loaded by python3: $(cat "$work/why")"
}

skip() {
	echo "SKIPPED: $*"
	exit 77
}

# have TOOL WHAT: whether the tool is here. If not, WHAT is not tried, and a line says so.
have() {
	command -v "$1" >/dev/null && return
	echo "SKIPPED: no $1: $2"
	return 1
}

# built FILE WHAT: the same of a file that the build makes.
built() {
	[ -e "$1" ] && return
	echo "SKIPPED: ${1##*/} was not built: $2"
	return 1
}

# need_python VERSION: skips the test without it.
need_python() {
	python3 -c "import sys; sys.exit(sys.version_info < tuple(map(int, '$1'.split('.'))))" 2>/dev/null ||
		skip "no python3 of $1 or later"
	export PYTHONDONTWRITEBYTECODE=1
}

# Leaves a test to the build without sanitizers: one that builds for itself, whatever is in VPT_BIN, or that compares outputs of code which
# other tests run under sanitizers.
only_in_plain_build() {
	grep -qs -e '-fsanitize' "${VPT_BIN:-.}/compile_commands.json" && skip "the build without sanitizers tries it"
}

# aside FUNCTION: runs it beside what follows, in $work/FUNCTION as its folder and temporary folder. For parts that mostly wait. finish
# waits for them, and adds their cases and failures.
aside() {
	mkdir -p "$work/$1/temporary"
	(
		work=$work/$1
		TMPDIR=$work/temporary
		export TMPDIR
		cases=0 failures=0
		cd "$work" || exit 1
		"$1"
		echo "$cases $failures" >"$work/counts"
	) >"$work/$1.said" 2>&1 &
	asides="${asides:-} $1"
}

finish() {
	[ -z "${asides:-}" ] || wait
	for aside in ${asides:-}; do
		cat "$work/$aside.said"
		[ -s "$work/$aside/counts" ] || { echo "FAIL: $aside did not come to its end"; failures=$((failures + 1)); continue; }
		read -r more failed <"$work/$aside/counts"
		cases=$((cases + more)) failures=$((failures + failed))
	done
	echo "$cases cases, $failures failed"
	[ "$failures" = 0 ]
	exit
}

# lines_trace MS: a function of Python launches a kernel, and another one then takes MS, 20 times.
lines_trace() {
	awk -v ms="$1" 'BEGIN {
		print "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0}], \"traceEvents\": ["
		for (i = 0; i < 20; i++) {
			t = 1000 + i * (100 + ms * 1000)
			printf "{\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"pipe/model.py(50): forward\", \"pid\": 11, \"tid\": 12, \"ts\": %d, \"dur\": 30, \"args\": {\"Python id\": %d}},\n", t, 2 * i + 1
			printf "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 11, \"tid\": 12, \"ts\": %d, \"dur\": 5, \"args\": {\"correlation\": %d}},\n", t + 10, i + 1
			printf "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 7, \"ts\": %d, \"dur\": 20, \"args\": {\"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": %d}},\n", t + 16, i + 1
			printf "{\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"pipe/post.py(7): post\", \"pid\": 11, \"tid\": 12, \"ts\": %d, \"dur\": %d, \"args\": {\"Python id\": %d}}%s\n", t + 31, 60 + ms * 1000, 2 * i + 2, i < 19 ? "," : ""
		}
		print "]}"
	}'
}

# Nine events of one process: kernels of 10, 20 and 30 us, a copy of 1 MiB, their four launches, a range.
small_trace() {
	cat <<'JSON'
{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Test GPU", "numSms": 80}],
 "distributedInfo": {"rank": 3},
 "traceEvents": [
 {"ph": "X", "cat": "user_annotation", "name": "step, one", "pid": 11, "tid": 12, "ts": 1000, "dur": 200},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 11, "tid": 12, "ts": 1005, "dur": 5, "args": {"correlation": 1}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 11, "tid": 12, "ts": 1011, "dur": 2, "args": {"correlation": 2}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 11, "tid": 12, "ts": 1014, "dur": 2, "args": {"correlation": 3}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 11, "tid": 12, "ts": 1020, "dur": 5, "args": {"correlation": 4}},
 {"ph": "X", "cat": "kernel", "name": "=sum \"a\"", "pid": 0, "tid": 7, "ts": 1010.5, "dur": 10, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 1, "grid": [4, 2, 1], "block": [128, 1, 1]}},
 {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1030, "dur": 20, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 2}},
 {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1060, "dur": 30, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 3}},
 {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoH (Device -> Pageable)", "pid": 0, "tid": 7, "ts": 1100, "dur": 50, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 4, "bytes": 1048576}}
 ]}
JSON
}

# The given number of events: kernels of 1 us and their launches in turn. 65,536 events fill a chunk of a capture.
kernels_trace() {
	awk -v count="$1" 'BEGIN {
		printf "{\"traceEvents\":[";
		for (i = 1; i <= count / 2; i++) {
			printf "%s{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":2,\"ts\":%d,\"dur\":1,\"args\":{\"correlation\":%d}},\n",
				(i > 1 ? ",\n" : ""), 1000 + 2 * i, i;
			printf "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k%d\",\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":1,\"args\":{\"correlation\":%d}}",
				i % 7, 1002 + 2 * i, i;
		}
		printf "]}";
	}'
}

# steps_trace COUNT US [APART]: a trace of PyTorch's profiler with ranges "step 1" ..., APART microseconds apart, each with a kernel of US
# microseconds and one of 5.
steps_trace() {
	awk -v count="$1" -v us="$2" -v apart="${3:-0}" 'BEGIN {
		printf "{\"traceEvents\":[";
		for (i = 1; i <= count; i++) {
			at = 1000 + i * (us + 20 + apart);
			printf "%s{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"step %d\",\"pid\":1,\"tid\":2,\"ts\":%d,\"dur\":9},\n",
				(i > 1 ? ",\n" : ""), i, at;
			for (k = 0; k < 2; k++) {
				printf "%s{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":2,\"ts\":%d,\"dur\":1,\"args\":{\"correlation\":%d}},\n",
					(k ? ",\n" : ""), at + 1 + 2 * k, 2 * i + k;
				printf "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"%s\",\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":%d,\"args\":{\"device\":0,\"stream\":7,\"correlation\":%d,\"grid\":[%d,1,1]}}",
					(k ? "gemm" : "flash_fwd_kernel"), at + 3 + k * (us + 2), (k ? 5 : us), 2 * i + k, 64 * (k + 1);
			}
		}
		printf "]}";
	}'
}

# need_trace CAPTURE FUNCTION ARGUMENTS...: makes the capture of what the function prints, or skips the test
# where this kind of trace cannot be read.
need_trace() {
	capture=$1
	shift
	"$@" >"$work/need.json"
	"$VPT_ANALYZE" convert "$work/need.json" -o "$capture" 2>"$work/err" && return
	grep -q 'built without' "$work/err" && skip "vptrace-analyze was built without PyTorch profiler traces"
	fail "a trace for the test could not be made"
	finish
}
