# readme_blocks.sh - README.md's code blocks, and its commands run one by one as they are printed; sourced.

# block_of LANGUAGE README: the first such block.
block_of() {
	awk -v language="$1" '/^```/ { inside = !done && $0 == "```" language; done += inside; next } inside' "$2"
}

# commands_of README: the lines of all shell blocks, in order, without their comments.
commands_of() {
	awk '/^```/ { inside = $0 == "```sh"; next } inside' "$1" | sed 's/  *# .*$//; /^$/d'
}

# A machine without a GPU: the doctor finds no driver, and captures without GPU work are incomplete.
allowed_status() { # allowed_status STATUS COMMAND
	case $1,$2 in
	0,* | 1,*"vptrace doctor"* | 3,*vptrace-analyze*) return 0 ;;
	esac
	return 1
}

# run_commands FILE OUTPUT: runs each line in this shell, which they may change by cd and export; prints a line for each with its
# status and seconds. Returns 1 if one failed.
run_commands() {
	commands_failed=0
	while IFS= read -r command_line <&9; do
		command_from=$(date +%s)
		command_status=0
		eval "$command_line" >"$2" 2>&1 9<&- || command_status=$?
		printf '%3d %4d s  %s\n' "$command_status" $(($(date +%s) - command_from)) "$command_line"
		allowed_status $command_status "$command_line" && continue
		commands_failed=1
		echo "FAIL: status $command_status: $command_line"
		tail -n 20 "$2" | sed 's/^/    /'
	done 9<"$1"
	return $commands_failed
}
