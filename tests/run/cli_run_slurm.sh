#!/bin/sh
# Slurm: ranks that srun starts, each below a launcher of its own or all below one, know their places, name their files, and open together.
# shellcheck disable=SC1091,SC2016,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/captures/slurm.sh"
bin=${VPT_BIN:?expected the build folder}
demo=$bin/vptrace-demo
[ -x "$demo" ] && [ -x "$bin/vptrace" ] || skip "neither demo nor vptrace was built"
need_python 3.8
work=$(cd "$work" && pwd -P)
cd "$work" || exit 1
for variable in $(env | sed -n 's/^\(\(SLURM\|PMI\|PMIX\|OMPI\)_[A-Z0-9_]*\)=.*/\1/p'); do
	unset $variable
done
unset RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE GROUP_RANK MASTER_ADDR MASTER_PORT TORCHELASTIC_RUN_ID VPTRACE_LIST VPTRACE_OVERWRITE VPTRACE_OUTPUT
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0:verify_asan_link_order=0
VPTRACE_LIBRARY=$bin/libvptrace.so
VPT_STANDIN_DEVICES=8
export ASAN_OPTIONS VPTRACE_LIBRARY VPT_STANDIN_DEVICES
slurm_start "ranks that srun starts" || exit 77
cat >rank.sh <<'SCRIPT'
export VPT_STANDIN_RANK=host=$SLURM_NODEID
exec "$@" --ranks $SLURM_NTASKS --rank $SLURM_PROCID --blocks 2 --steps 2 --layers 2
SCRIPT

# job NAME WORDS...: runs the words, whose ranks meet in a file of that name
job() {
	cases=$((cases + 1))
	VPT_STANDIN_WORLD=$work/$1.world
	export VPT_STANDIN_WORLD
	shift
	timeout 60 "$@" >out 2>err </dev/null
	code=$?
	unset VPT_STANDIN_WORLD
}
facts() { # facts FILE NAME...: what it says of them
	file=$1
	shift
	"$VPT_ANALYZE" info $file >facts || fail "info $file"
	for name in "$@"; do
		sed -n "s/^\(meta\)* *$name = //p" facts
	done | tr '\n' ' '
}
joint() { sed -n 's/^vptrace: .* in one report.*: vptrace-analyze ranks //p' err; }

# ---- a launcher for each rank ----
mkdir each names
job each srun -N 2 -n 5 --overcommit "$bin/vptrace" run --mark none -o each/r%r.zst -- sh rank.sh "$demo" --plant 3:host=400
same "exit code" 0 $code
same "a line for each rank" "0 1 2 3 4 " "$(sed -n "s,^vptrace: rank \([0-9]*\): $work/each/r\1.zst: .* good.*,\1,p" err | sort | tr '\n' ' ')"
same "the command for all, once" "$work/each/r*.zst" "$(joint)"
same "the place of rank 0" "0 5 0 3 0 " "$(facts each/r0.zst rank world_size local_rank local_world_size node_rank)"
same "the place of rank 4" "4 5 1 2 1 " "$(facts each/r4.zst rank world_size local_rank local_world_size node_rank)"
same "one job" "$(facts each/r0.zst job)" "$(facts each/r4.zst job)"
case $(facts each/r0.zst job) in
slurm:[0-9]*.0\ ) ;;
*) fail "the job's id: found $(facts each/r0.zst job)" ;;
esac
rule="what that command shows"
eval "'$VPT_ANALYZE' ranks $(joint)" >out 2>err || fail "$rule: found exit code $?"
says out "RANKS   5 of 5 on 2 hosts"
says out "all matched"
if [ -x "$bin/vptrace-ranks-mpi" ]; then
	cp out one
	case $(ldd "$bin/vptrace-ranks-mpi") in
	*libmpich*) plugin=pmi2 ;;
	*) plugin=pmix ;;
	esac
	for n in 1 3; do
		rule="srun -n $n vptrace-ranks-mpi"
		timeout 60 srun -N 1 -n $n --overcommit --mpi=$plugin "$bin/vptrace-ranks-mpi" each >out 2>err || fail "$rule: found exit code $?"
		same "$rule: the same bytes" "" "$(cmp out one 2>&1)"
	done
else
	echo "SKIPPED: vptrace-ranks-mpi was not built: below srun"
fi

# ---- where the names say nothing of the rank, and where they are not given ----
job named srun -n 3 --overcommit "$bin/vptrace" run --mark none -o t.zst -- sh rank.sh "$demo"
same "files" "t-2.zst t-3.zst t.zst" "$(echo t*.zst)"
same "no command for files that others may have written" "" "$(joint)"
job names srun -n 3 --overcommit "$bin/vptrace" run --mark none -o names/ -- sh rank.sh "$demo"
same "the names that vptrace gives" "$work/names/vptrace-vptrace-demo-r*.zst" "$(joint)"
job report srun -n 3 --overcommit "$bin/vptrace" run --mark none --report -o report%r.zst -- sh rank.sh "$demo"
same "one report, of rank 0" "1 0.zst" "$(grep -c '^RESULT' out) $(grep -o '[0-9]\.zst' out | sort -u)"

# ---- one launcher around srun ----
job around "$bin/vptrace" run --mark none -o around%r.zst -- srun -n 3 --overcommit sh rank.sh "$demo"
same "ranks in their order" "0 1 2 " "$(sed -n 's/^vptrace: rank \([0-9]*\): .* good.*/\1/p' err | tr '\n' ' ')"
same "the command for all" "$work/around*.zst" "$(joint)"

# ---- a script of sbatch is no rank ----
cat >batch.sh <<SCRIPT
#!/bin/sh
"$bin/vptrace" run --mark none -o batch.zst -- "$demo" --blocks 1 --steps 1 --layers 1
: >batch.done
SCRIPT
rule="a script of sbatch"
timeout 60 sbatch -n 2 --overcommit -o batch.out batch.sh >out 2>err || fail "$rule: found exit code $?"
tries=0
until [ -e batch.done ] || [ $tries = 300 ]; do # sbatch --wait asks every 10 s
	tries=$((tries + 1))
	sleep 0.1
done
same "$rule is no rank" "" "$(facts batch.zst rank world_size)"
finish
