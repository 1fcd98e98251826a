#!/bin/sh
# Every source file is in a room of the map in CONTRIBUTING.md, which is neither small nor large, includes point down, comments name files that
# are there, lines and subjects of commits have at most as many columns as CONTRIBUTING.md says, and clang-format has nothing to change.
set -u
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
command -v python3 >/dev/null || skip "no python3"
python3 "$source/tests/support/rooms.py" "$source" >"$work/rooms" || fail "$(cat "$work/rooms")"
grep -q '^[1-9][0-9]* files in [1-9][0-9]* rooms' "$work/rooms" || fail "no file was looked at"
cases=$((cases + 1))

# The checker sees a file without a room, an include that points up, and a comment that names a file which is gone.
mkdir -p "$work/copy/analysis/base" "$work/copy/analysis/attic" "$work/copy/.github"
cp "$source/.github/CONTRIBUTING.md" "$work/copy/.github/"
echo '#include "analysis/commands/base/analyzer_command.h"' >"$work/copy/analysis/base/up.c"
echo '/* See ../attic/found.h. */' >>"$work/copy/analysis/base/up.c"
echo 'int x;' >"$work/copy/analysis/attic/lost.c"
echo 'extern int x;' | tee "$work/copy/analysis/base/up.h" >"$work/copy/analysis/attic/up.h"
cases=$((cases + 1))
python3 "$source/tests/support/rooms.py" "$work/copy" >"$work/faults" && fail "a wrong tree passes"
grep -q '^analysis/base/up.c: includes analysis/commands/base/analyzer_command.h, of a room further down' "$work/faults" || fail "an include that points up is not seen"
grep -q '^analysis/base/up.c: a comment names ../attic/found.h, which is not there' "$work/faults" || fail "a file that is gone is not seen"
grep -q '^analysis/attic: expected a row in the map' "$work/faults" || fail "a room without a row is not seen"
grep -q '^analysis/attic: expected at least 5 files, found 2' "$work/faults" || fail "a room of too few files is not seen"
grep -q '^up: expected files of this name in one room, found them in analysis/attic, analysis/base$' "$work/faults" || fail "files of one name are not seen"
grep -q '^analysis/mpi: is on the list of small rooms, but has no file' "$work/faults" || fail "an exception that is none is not seen"
mkdir -p "$work/copy/tests/hall"
for file in $(seq 26); do : >"$work/copy/tests/hall/test_$file.c"; done
cases=$((cases + 1))
python3 "$source/tests/support/rooms.py" "$work/copy" >"$work/faults"
grep -q '^tests/hall: expected at most 25 files, found 26' "$work/faults" || fail "a room of too many tests is not seen"

# Tabs count as 8 columns, a letter as one; what pylint must read on its line is not counted.
awk 'BEGIN { for (i = 0; i < 132; i++) s = s "\303\244"; printf "\t%s\n\t%sx\n", s, s }' >"$work/copy/tests/hall/test_1.c"
awk 'BEGIN { while (i++ < 140) s = s "x"; printf "%s  # pylint: disable=x\n%s  # xylint\n", s, s }' >"$work/copy/tests/hall/wide.py"
cases=$((cases + 1))
python3 "$source/tests/support/rooms.py" "$work/copy" | grep 'at most 140' >"$work/faults"
same "lines that are too wide" "tests/hall/test_1.c:2: expected at most 140 columns, found 141
tests/hall/wide.py:2: expected at most 140 columns, found 150" "$(cat "$work/faults")"

# ---- subjects of commits ----
long_subjects() { # long_subjects REPOSITORY COMMIT: those after the commit
	git -C "$1" log --format=%s "$2..HEAD" | awk 'length($0) > 72'
}
since=1160d4f7ec8e6f2b022d0eca03468b67dcde84e8 # subjects were not counted before
if ! command -v git >/dev/null; then
	echo "SKIPPED: no git: the subjects of commits were not counted"
elif ! git -C "$source" merge-base --is-ancestor "$since" HEAD 2>/dev/null; then
	echo "SKIPPED: no history of git back to $since: the subjects of commits were not counted"
else
	cases=$((cases + 1))
	same "subjects of more than 72 characters" "" "$(long_subjects "$source" "$since")"
fi
if command -v git >/dev/null; then
	subject=$(awk 'BEGIN { while (i++ < 72) printf "x" }')
	git init -q "$work/commits"
	for text in first "$subject" "y$subject"; do
		git -C "$work/commits" -c user.name=x -c user.email=x@example.com -c commit.gpgsign=false -c core.hooksPath=/dev/null \
			commit -q --allow-empty -m "$text" -m body
	done
	cases=$((cases + 1))
	same "the subject of 73 characters" "y$subject" "$(long_subjects "$work/commits" HEAD~2)"
fi

# Other versions lay some lines out in another way.
clang-format --version 2>/dev/null | grep -q 'version 14\.' || skip "no clang-format 14: the layout of the sources was not checked"
find "$source/formats" "$source/analysis" "$source/tracer" "$source/tests" "$source/bench" -name '*.[ch]' >"$work/sources"
[ "$(wc -l <"$work/sources")" -gt 500 ] || fail "expected more sources than $(wc -l <"$work/sources")"
xargs clang-format --dry-run <"$work/sources" 2>"$work/layout"
cases=$((cases + 1))
[ ! -s "$work/layout" ] || fail "run clang-format -i on the files below: $(head -20 "$work/layout")"
finish
