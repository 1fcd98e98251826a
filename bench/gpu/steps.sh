# steps.sh - steps with a limit each, rows of results, and the table; sourced by run.sh, in whose folder for results it works.
#
# Each command's output is in logs/STEP.out and logs/STEP.err. shellcheck sees no use of what run.sh uses:
# shellcheck shell=sh disable=SC2034,SC2154
rows=$PWD/rows.tsv
: >"$rows"
begun=$(date +%s)
budget=${VPT_GPU_SECONDS:-570}

left() {
	echo $((budget - $(date +%s) + begun))
}

# A row: step, where, name, status, value, unit, limit, note.
note() { # note STEP WHERE STATUS [NOTE]
	printf '%s\t%s\t\t%s\t\t\t\t%s\n' "$1" "$2" "$3" "$(printf %s "${4:-}" | tr -s '\t\n' '  ')" >>"$rows"
	echo "$(($(date +%s) - begun)) s: $1: $3 ${4:-}"
}

# run_step STEP WHERE SECONDS COMMAND...: the command's output is in logs/STEP.out and .err. Failing, it becomes a row.
run_step() {
	step=$1
	where=$2
	limit=$3
	shift 3
	[ "$(left)" -ge 10 ] || {
		note "$step" "$where" skipped "no time left"
		return 1
	}
	[ "$limit" -le "$(left)" ] || limit=$(left)
	from=$(date +%s)
	echo "+ $*" >"logs/$step.err"
	status=0
	timeout -k 5 "$limit" "$@" >"logs/$step.out" 2>>"logs/$step.err" </dev/null || status=$?
	took=$(($(date +%s) - from))
	[ $status = 0 ] && return 0
	why="exit code $status"
	[ $status != 124 ] && [ $status != 137 ] || why="stopped after $limit s"
	note "$step" "$where" failed "$why: $(grep -v '^ *$' "logs/$step.err" | tail -n 1 | cut -c1-160)"
	return 1
}

step() { # it counts whether the command ends well
	run_step "$@" && note "$1" "$2" ok "$took s"
}
said() { # a script that says rows, all but step and where
	run_step "$@"
	[ ! -e "logs/$1.out" ] || awk -F '\t' -v OFS='\t' -v step="$1" -v where="$2" \
		'NF == 6 && $2 ~ /^(ok|failed|skipped|measured)$/ { print step, where, $0 }' "logs/$1.out" >>"$rows"
	echo "$(($(date +%s) - begun)) s: $1"
}
probe() { # a probe that says numbers: name, value, unit
	run_step "$@"
	[ ! -e "logs/$1.out" ] || awk -F '\t' -v OFS='\t' -v step="$1" -v where="$2" \
		'NF == 3 { print step, where, $1, "measured", $2, $3, "", "" }' "logs/$1.out" >>"$rows"
	echo "$(($(date +%s) - begun)) s: $1"
}

finish() {
	trap '' HUP INT TERM
	cd "$work/$name" || exit 1
	"$python" "$here/table.py" "$rows" --json "$out/$name.json" >"$out/$name.txt"
	outcome=$?
	find . -name '*.pt.trace.json*' -size +2000k -delete
	find . -name '*.zst' -size +2000k -delete
	(cd "$work" && tar czf "$out/$name.tar.gz" "$name")
	cat "$out/$name.txt"
	echo "FILES $out: $name.txt, $name.json, $name.tar.gz"
}
