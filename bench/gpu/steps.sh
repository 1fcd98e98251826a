# steps.sh - runs commands with a time limit each, and keeps the results: rows, one line per step, one archive per phase.
# Sourced by run.sh.
#
# $results holds rows.tsv (every row of every step), summary.txt (a line per step, as it ends), results.txt (the table) and
# PHASE.tar.gz (logs and captures), made of work/PHASE. All are written as soon as a step has ended, so that a run which is killed loses no more than
# the step it was in. $copies, where it is set, gets a copy of each; archives together in archives-N.tar of some 10 MiB, so that
# there are few files to copy.
#
# A row: step, where, name, status, value, unit, limit, note. WHERE is the GPU's name, or "simulated" or "cpu" with --simulated.
# Commands run in $work, a folder of the phase, with logs/ and captures/. shellcheck sees no use of what other files use, and lists
# of files are split on purpose:
# shellcheck shell=sh disable=SC2034,SC2154,SC2016,SC2086

now() {
	date +%s
}

seconds_until() {
	echo $(($1 - $(now)))
}

least() {
	if [ "$1" -le "$2" ]; then echo "$1"; else echo "$2"; fi
}

# ---- rows of the step that runs: in $work/step.tsv until it has ended ----

say() { # say NAME STATUS VALUE UNIT LIMIT NOTE
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$step" "$where" "$1" "$2" "$3" "$4" "$5" \
		"$(printf %s "$6" | tr -s '\t\n' '  ')" >>"$work/step.tsv"
}

note() { # note STATUS NOTE
	say "" "$1" "" "" "" "$2"
}

# limited SECONDS COMMAND...: stopped after this time, or at the end of the step, with code 124 as from timeout
limited() {
	limit=$(least "$1" "$(seconds_until "$step_until")")
	shift
	[ "$limit" -gt 0 ] || return 124
	timeout -k 2 "$limit" "$@" </dev/null
}

# run LOG SECONDS COMMAND...: its output is in logs/LOG.out and .err. Failing, it is a row.
run() {
	log=$1
	run_seconds=$2
	shift 2
	echo "+ $*" >"logs/$log.err"
	status=0
	limited "$run_seconds" "$@" >"logs/$log.out" 2>>"logs/$log.err" || status=$?
	[ $status != 0 ] || return 0
	why="exit code $status"
	[ $status != 124 ] && [ $status != 137 ] || why="stopped after $limit s"
	[ "$limit" -gt 0 ] || why="the step's time is over"
	say "$log" failed "" "" "" "$why: $(grep -v '^ *$' "logs/$log.err" | tail -n 1 | cut -c1-160)"
	return 1
}

# said LOG SECONDS COMMAND...: a script that prints rows without step and where
said() {
	said_status=0
	run "$@" || said_status=1
	[ ! -e "logs/$1.out" ] || awk -F '\t' -v OFS='\t' -v step="$step" -v where="$where" \
		'NF == 6 && $2 ~ /^(ok|failed|skipped|measured)$/ { print step, where, $0 }' "logs/$1.out" >>"$work/step.tsv"
	return $said_status
}

# probe LOG SECONDS COMMAND...: a probe that prints numbers: name, value, unit
probe() {
	probe_status=0
	run "$@" || probe_status=1
	[ ! -e "logs/$1.out" ] || awk -F '\t' -v OFS='\t' -v step="$step" -v where="$where" \
		'NF == 3 { print step, where, $1, "measured", $2, $3, "", "" }' "logs/$1.out" >>"$work/step.tsv"
	return $probe_status
}

# ---- results ----

# Adds up statuses of rows: failed, not run, ok, skipped, or nothing; in this order the first that there is.
worst='
	{ seen[$4] = 1 }
	END {
		if (seen["failed"]) print "failed"
		else if (seen["not run"]) print "not run"
		else if (seen["ok"] || seen["measured"]) print "ok"
		else if (seen["skipped"]) print "skipped"
	}'

# Rows of a step from this machine: results of the simulated GPU, or of another GPU, do not count for a real one.
rows_of() { # rows_of STEP [other]: or all other rows
	awk -F '\t' -v step="$1" -v gpu="$gpu" -v other="${2:-}" '
		{ is_its = $1 == step && (gpu != "" ? $2 == gpu : $2 == "simulated" || $2 == "cpu") }
		other == "" ? is_its : !is_its' "$results/rows.tsv"
}

result_of() { # result_of STEP: ok, failed, skipped, not run, or nothing
	rows_of "$1" | awk -F '\t' "$worst"
}

# Puts a file in its place at once, also in the folder for copies.
place() { # place FILE NAME
	mv "$1" "$results/$2"
	[ -z "$copies" ] || cp "$results/$2" "$copies/$2"
}

# A step has ended: its rows become results in place of those of an earlier time.
keep_rows() {
	[ -s "$work/step.tsv" ] || note ok "$took s"
	{ rows_of "$step" other && cat "$work/step.tsv"; } >"$work/rows.tsv"
	place "$work/rows.tsv" rows.tsv
}

# The result of a step in one line: its status, and its most important row: one that failed, else one with a limit, else the first.
line_of_step() {
	awk -F '\t' -v took="$took" -v result="$(result_of "$step")" '
		{
			text = $3
			if ($5 != "") text = text (text != "" ? " " : "") $5 ($6 != "" ? " " $6 : "")
			if ($7 != "") text = text " (" $7 ")"
			if ($8 != "") text = text (text != "" ? ": " : "") $8
			weight = $4 == "failed" || $4 == "not run" ? 3 : $7 != "" ? 2 : 1
			if (weight > most) { most = weight; said = text }
			count[$4]++
		}
		END {
			printf "%s", result
			if (count["failed"]) printf " (%d of %d)", count["failed"], NR
			printf ", %d s: %s\n", took, substr(said, 1, 160)
		}' "$work/step.tsv"
}

keep_line() {
	line="$(date -u +%H:%M:%S) $phase/$step [$where] $(line_of_step)"
	echo "$line"
	cp "$results/summary.txt" "$work/summary.txt"
	echo "$line" >>"$work/summary.txt"
	place "$work/summary.txt" summary.txt
}

# A phase begins: which archives-N.tar its archive goes to. Those of earlier runs stay as they are.
choose_bundle() {
	bundle_file=$copies/archives-$bundle.tar
	if [ -e "$bundle_file" ] && { [ -z "$bundled" ] || [ "$(wc -c <"$bundle_file")" -gt 10000000 ]; }; then
		bundle=$((bundle + 1))
		bundled=
		choose_bundle
		return
	fi
	bundled="$bundled $phase.tar.gz"
}

# Logs and captures of the phase, without large files.
keep_archive() {
	(
		cd "$work" || exit
		[ ! -e ../facts.txt ] || cp ../facts.txt .
		find logs captures facts.txt -type f -size -2000k 2>/dev/null >files.txt
		timeout 30 tar czf archive -T files.txt
	) && mv "$work/archive" "$results/$phase.tar.gz"
	[ -n "$copies" ] || return
	# Phases without a step that ran have none yet.
	bundle_now=
	for file in $bundled; do
		[ ! -e "$results/$file" ] || bundle_now="$bundle_now $file"
	done
	(cd "$results" && timeout 30 tar cf "$copies/archives-$bundle.tar.new" $bundle_now) &&
		mv "$copies/archives-$bundle.tar.new" "$copies/archives-$bundle.tar"
}

# What an earlier run of the phase left, here or brought back.
unpack_archive() {
	[ -e "$work/logs" ] && return
	mkdir -p "$work/logs" "$work/captures"
	is_known=$(steps | while read -r of name _; do
		[ "$of" != "$phase" ] || result_of "$name"
	done)
	if [ ! -e "$results/$phase.tar.gz" ]; then
		for file in "$results"/archives-*.tar; do # the last that has it
			[ ! -e "$file" ] || timeout 30 tar xf "$file" -C "$results" "$phase.tar.gz" 2>/dev/null
		done
	fi
	if [ -n "$is_known" ] && [ -e "$results/$phase.tar.gz" ]; then
		timeout 30 tar xzf "$results/$phase.tar.gz" -C "$work"
	fi
}

# run_step SECONDS COMMAND...: one step of the plan, whatever its result
run_step() {
	step_begun=$(now)
	step_until=$((step_begun + $1))
	shift
	: >"$work/step.tsv"
	"$@"
	took=$(($(now) - step_begun))
	keep_rows
	keep_line
	keep_archive
}

# left_out STATUS NOTE: a step that does not run
left_out() {
	: >"$work/step.tsv"
	took=0
	note "$1" "$2"
	# An earlier result is worth more.
	case $(result_of "$step") in
	ok | failed) ;;
	*) keep_rows ;;
	esac
	keep_line
}

print_table() {
	timeout 30 "$python" "$here/table.py" "$results/rows.tsv" >"$results/work/table" # fails where a row has
	place "$results/work/table" results.txt
}
