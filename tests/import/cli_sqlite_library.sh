#!/bin/sh
# SQLite is loaded when a database is read or written: what needs none works without it, the others name it. Every function that
# is called is one of those that are found when it is loaded.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
cd "$work" || exit 1
"$VPT_ANALYZE" export --help | grep -q '^sqlite ' || skip "built without SQLite"
need_trace trace.zst small_trace
expect 0 "the report" trace.zst
cp out report.out
expect 0 "a database" export trace.zst --format sqlite -o trace.sqlite

mkdir broken
echo "no library" >broken/libsqlite3.so.0
LD_LIBRARY_PATH=$work/broken${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
expect 0 "the report of a capture without SQLite" trace.zst
cmp -s out report.out || fail "$rule: another report"
expect 1 "a database to read without SQLite" info trace.sqlite
says err "this takes SQLite"
expect 1 "a database to write without SQLite" export trace.zst --format sqlite -o other.sqlite
says err "this takes SQLite"
[ ! -e other.sqlite ] || fail "$rule: left a file"

cases=$((cases + 1))
grep -rhoE '\bsqlite3_[a-z0-9_]+\(' "$source/formats" "$source/analysis" --include='*.c' | sed 's/^sqlite3_//; s/($//' | sort -u >called
sed -n 's/^\tFUNCTION(\([a-z0-9_]*\)),$/\1/p' "$source/formats/import/nsight/sqlite_library.c" | sort -u >found
[ -s called ] || fail "no function is called"
same "functions that are called are found" "$(cat called)" "$(cat found)"
finish
