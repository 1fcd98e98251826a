#!/bin/sh
# Marks beside files and folders of the program that have the names of our modules, or of Python's: the marks are made, each file of
# the program is run as often as without us, and the program imports its own.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
bin=$(cd "${VPT_BIN:-.}" && pwd)
only_in_plain_build
need_python 3.9
[ -x "$bin/vptrace" ] && [ -e "$bin/libvptrace.so" ] || skip "vptrace is not built"
for variable in $(env | sed -n 's/^\(VPTRACE_[A-Z_]*\)=.*/\1/p'); do
	unset "$variable"
done
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH RANK
export VPTRACE_LIBCUPTI="$bin/standin/libcupti.so.13" VPTRACE_COUNTERS=off VPTRACE_STACKS=off
cd "$work" || exit 1

# A program with a module of its own, which is marked, and CUDA, so that it is recorded.
mkdir base
cat >base/my_model.py <<'PY'
import ctypes


def generate():
    runtime, pointer = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
    runtime.cudaMalloc(ctypes.byref(pointer), 4096)
    runtime.cudaFree(pointer)
PY
cat >base/generate.py <<'PY'
print("run as", __name__)
import my_model
my_model.generate()
PY
echo 'my_model:generate = request' >own.marks

# program RULE COMMAND...: in program/; prints what it prints
program() {
	rule=$1
	shift
	cases=$((cases + 1))
	rm -f t*.zst
	(
		cd program && LD_LIBRARY_PATH=$bin/standin timeout 60 "$bin/vptrace" run --mark "$work/own.marks" -o "$work/t.zst" "$@" >../out 2>../err </dev/null
	) || fail "$rule: exit status $?"
	"$VPT_ANALYZE" cat t.zst --kind range >ranges 2>&1
	same "$rule: ranges" 1 "$(grep -c '"name":"generate"' ranges)"
	same "$rule: the summary" "" "$(grep -v 't.zst: .*, good, ' err)"
}
fresh() {
	rm -rf program
	cp -r base program
}

# ---- the script's own name ----
for name in vptrace vptrace_marks sitecustomize inspect ctypes ast typing; do
	fresh
	mv program/generate.py program/$name.py
	# What the interpreter has imported before, or the program's own import of ctypes, is not ours.
	[ $name != ctypes ] || sed -i 's/^import my_model/import sys; sys.path.append(sys.path.pop(0)); &/' program/ctypes.py
	program "a script $name.py" python3 $name.py
	same "$rule: runs once" "run as __main__" "$(cat out)"
done

# ---- files and folders beside it ----
for name in vptrace vptrace_marks; do
	for shape in file folder package clone; do
		fresh
		case $shape in
		file) echo 'print("mine"); mine = True' >program/$name.py ;;
		folder) mkdir program/$name ;;
		package) mkdir program/$name && echo 'print("mine"); mine = True' >program/$name/__init__.py ;;
		clone) mkdir -p program/$name/tracer/python/vptrace && : >program/$name/__init__.py ;;
		esac
		program "a $shape $name beside the script" python3 generate.py
		same "$rule: is not run" "run as __main__" "$(cat out)"
		program "a $shape $name in the current folder, python -m" python3 -m generate
		PYTHONPATH=$work/program program "a $shape $name in PYTHONPATH" python3 generate.py
		case $shape in
		file | package)
			program "a $shape $name, which the program imports before" python3 -c "import $name, my_model; my_model.generate(); assert $name.mine"
			program "a $shape $name, which the program imports after" python3 -c "import my_model; my_model.generate(); import $name; assert $name.mine"
			;;
		esac
	done
done
fresh
echo 'mine = True' >program/inspect.py
echo 'mine = True' >program/dis.py
program "modules of the program with names of Python's" python3 -c 'import my_model; my_model.generate(); import inspect, dis; assert inspect.mine and dis.mine'
fresh
program "the program's import of ours" python3 -c 'import my_model; my_model.generate(); import vptrace; vptrace.unmark_calls(); my_model.generate(); assert vptrace.__name__ == "vptrace"'
fresh
echo 'mine = True' >program/vptrace_marks.py
PYTHONPATH=${VPT_SOURCE_DIR:-..}/tracer/python program "mark_calls() beside a file vptrace_marks.py" \
	python3 -c 'import vptrace; vptrace.mark_calls("json:dumps = stage json"); import json, my_model; json.dumps(1); my_model.generate(); import vptrace_marks; assert vptrace_marks.mine'

# ---- marked packages ----
mkdir -p installed/my_model
cat base/my_model.py >installed/my_model/__init__.py
fresh
rm program/my_model.py && mkdir -p program/my_model/src
PYTHONPATH=$work/installed program "a folder of a marked package beside the script" python3 generate.py
# What hides it is named.
rm -rf program/my_model && mkdir program/my_model && echo 'def generate(): pass' >program/my_model/__init__.py
echo 'my_model:Pipeline.run = request' >own.marks
sed -i '1i import ctypes; ctypes.CDLL("libcudart.so.13").cudaFree(None)' program/generate.py
rule="a package beside the script hides the installed one"
rm -f t*.zst
(cd program && PYTHONPATH=$work/installed LD_LIBRARY_PATH=$bin/standin timeout 60 "$bin/vptrace" run --mark "$work/own.marks" -o "$work/t.zst" python3 generate.py >../out 2>../err </dev/null)
says err "marks: $work/own.marks:1: my_model:Pipeline.run: there is no such function in $work/program/my_model/__init__.py"

# ---- a failure ----
rule="marks that cannot be loaded are missed in the summary"
fresh
cp -r "${VPT_SOURCE_DIR:-..}/tracer/python" broken && echo 'raise ZeroDivisionError("of marks")' >broken/vptrace_marks/hook.py
echo 'my_model:generate = request' >own.marks
rm -f t*.zst
(cd program && PYTHONPATH='' LD_LIBRARY_PATH=$bin/standin timeout 60 "$bin/vptrace" run --mark "$work/own.marks" -o "$work/t.zst" \
	env PYTHONPATH="$work/broken/site" python3 generate.py >../out 2>../err </dev/null)
says err "vptrace: marks: "
says err "no marks: ZeroDivisionError: of marks"
finish
