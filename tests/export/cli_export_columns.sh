#!/bin/sh
# Exports as Parquet and Arrow: every value is that of the export as JSON lines, other programs read the files, the folder appears whole
# or not at all, and without python3 or pyarrow an error says what to install.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
need_python 3.8
cd "$work" || exit 1
need_trace trace.zst small_trace
files_of() {
	find "$1" -type f | sed 's|.*/||' | sort | tr '\n' ' '
}
# as NAME: a python3 that has what the folder NAME has, whatever this machine has installed
as() {
	name=$1
	shift
	PYTHONPATH=$work/$name
	export PYTHONPATH
	"$@"
	unset PYTHONPATH
}

# ---- what is missing ----
mkdir none no-pyarrow no-parquet no-parquet/pyarrow broken broken/pyarrow failing
cat >failing/sitecustomize.py <<'PY'
import os
os._exit(7)
PY
echo 'raise ImportError("No module named " + repr("pyarrow"))' >no-pyarrow/pyarrow.py
: >no-parquet/pyarrow/__init__.py
# A pyarrow that fails when the second file is opened, and complains of the first one, which is not complete.
cat >broken/pyarrow/__init__.py <<'PY'
class Thing:
    def __init__(self, *args, **more):
        pass
int64 = float64 = large_string = schema = field = IpcWriteOptions = Codec = Thing
class File:
    def __del__(self):
        raise OSError(28, "No space left on device")
class ipc(Thing):
    IpcWriteOptions = Thing
    files = 0
    def new_file(self, *args, **more):
        self.files += 1
        return File() if self.files == 1 else File.__del__(None)
ipc = ipc()
PY
PATH_BEFORE=$PATH
PATH=$work/none
expect 1 "no python3" export trace.zst --format parquet -o out.d
PATH=$PATH_BEFORE
says err "--format parquet needs python3 with pyarrow"
says err "install python3, and pyarrow by: python3 -m pip install pyarrow"
as no-pyarrow expect 1 "no pyarrow" export trace.zst --format arrow -o out.d
says err "--format arrow: this python3 has no pyarrow (No module named 'pyarrow'): python3 -m pip install pyarrow"
as no-pyarrow expect 1 "said before a file is read" export nothing.zst --format arrow -o out.d
says err "this python3 has no pyarrow"
as no-parquet expect 1 "a pyarrow without Parquet" export trace.zst --format parquet -o out.d
says err "this python3 has no pyarrow.parquet ("
as failing expect 1 "a python3 that ends" export trace.zst --format arrow -o out.d
says err "--format arrow: python3 ended before it was done"
echo 'raise SystemExit("of the current folder")' >json.py
as broken expect 1 "a disk that is full" export trace.zst --format arrow -o out.d
says err "--format arrow: OSError: [Errno 28] No space left on device"
same "which is all that is said" 1 "$(wc -l <"$work/err" | tr -d ' ')"
rm json.py
same "no folder, not even a temporary one" "" "$(find . -name 'out.d*')"
expect 2 "only a folder" export trace.zst --format parquet -o -
says err "--format parquet makes a folder: use -o FOLDER"
expect 2 "no such table" export trace.zst --format parquet -o out.d --only kernels
mkdir out.d
expect 2 "a folder that is there" export trace.zst --format parquet -o out.d
says err "out.d exists already"
: >out.d/mine.txt
expect 2 "somebody's folder" export trace.zst --format parquet -o out.d --force
says err "is not the folder of an export: not replaced"

# ---- the files ----
if ! python3 -c 'import pyarrow.parquet, pyarrow.feather' 2>err; then
	echo "SKIPPED: what is in the files: no pyarrow"
	finish
fi
all=$("$VPT_ANALYZE" export --help | sed -n '/^Tables, for/,/^options/p' | sed '/:$/d;/^options/d' | tr -s ' \n' ',,' | sed 's/^,//;s/,$//')
need_trace many.zst kernels_trace 132000
for trace in trace.zst many.zst "$source/tests/corpus/good-every-kind.zst" "$source/tests/corpus/good-hostile-names.zst"; do
	"$VPT_ANALYZE" export "$trace" --format jsonl -o lines --only "$all" --force --no-progress 2>err
	code=$?
	for kind in parquet arrow; do
		expect $code "$(basename "$trace") as $kind" export "$trace" --format $kind -o columns --only "$all" --force
		cases=$((cases + 1))
		python3 "$source/tests/support/outputs/columns.py" columns lines >found 2>wrong || fail "$(basename "$trace") as $kind: $(tail -n 3 wrong)"
	done
	grep -q "^arrow [0-9]\{2,3\} tables, [0-9]\{3,\} values" found || fail "$(basename "$trace"): what was compared: $(cat found)"
done
expect 0 "the usual folder" export trace.zst --format parquet
says err "to trace.parquet.d"
says err "DuckDB, pandas, polars"
same "only its owner may read it" "drwx------" "$(ls -ld trace.parquet.d | cut -c1-10)"
expect 0 "one table" export trace.zst --format parquet --only kernel,gap -o only
same "is all there is" "gap.parquet kernel.parquet schema.json " "$(files_of only)"
expect 0 "not compressed" export many.zst --format parquet --only kernel -o plain --compress none
expect 0 "compressed" export many.zst --format parquet --only kernel -o packed --level 5
same "is smaller" 1 "$(($(wc -c <packed/kernel.parquet) < $(wc -c <plain/kernel.parquet)))"
expect 0 "a window" export trace.zst --format arrow --from 25us --to 95us -o window
same "has the rows that touch it" 2 "$(python3 -c 'import pyarrow.feather as f; print(f.read_table("window/kernel.arrow").num_rows)')"
expect 0 "another folder in its place" export trace.zst --format arrow -o only --force --without call
same "without a table" "" "$(files_of only | grep -o 'call.arrow\|gap.parquet')"
if python3 -c 'import duckdb' 2>err; then
	same "DuckDB reads them" "3" "$(python3 -c 'import duckdb; print(duckdb.sql("select count(*) from \"trace.parquet.d/kernel.parquet\"").fetchall()[0][0])')"
else
	echo "SKIPPED: DuckDB, which pip has not installed"
fi
finish
