#!/bin/sh
# vptrace-ranks-mpi: a job's ranks, condensed by any number of processes, give the report of one process, byte for byte.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}" && pwd)
program=${VPT_BIN:?expected the build folder}/vptrace-ranks-mpi
[ -x "$program" ] || skip "vptrace-ranks-mpi was not built: no MPI"
need_python 3.8
case $(ldd "$program") in
*libmpich*) kind=mpich && mpirun="mpiexec.mpich mpiexec" ;;
*) kind=openmpi && mpirun="mpirun.openmpi mpirun" ;;
esac
for word in $mpirun; do
	command -v $word >/dev/null && mpirun=$word && break
done
command -v $mpirun >/dev/null || skip "no $mpirun to start vptrace-ranks-mpi with"
[ $kind = mpich ] || mpirun="$mpirun --oversubscribe"
# OpenMPI asks before it runs as root, looks for networks, and leaks on purpose.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self,vader OMPI_MCA_plm=isolated
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_btl OMPI_MCA_plm ASAN_OPTIONS
cd "$work" || exit 1

# processes N CODE RULE WORDS...
processes() {
	n=$1
	wanted=$2
	rule="$3, $n processes"
	shift 3
	cases=$((cases + 1))
	timeout 60 $mpirun -n $n "$program" "$@" >out 2>err </dev/null
	found=$?
	[ $found = $wanted ] || fail "$rule: expected exit code $wanted, found $found"
}

python3 "$source/tests/support/ranks_job.py" job host=3:200000 jitter=40000 groups=4 leave_out=6
python3 "$source/tests/support/ranks_job.py" one ranks=1 kernel=0:1600000
rm job/truth.json
expect 0 "one process" ranks job --base one/rank0.json --format json
cp out one.json
for n in 1 2 3 8; do
	processes $n 0 "a folder" job --base one/rank0.json --format json
	same "$rule: the same bytes" "" "$(cmp out one.json 2>&1)"
done
expect 0 "one process, in words" ranks job --base one/rank0.json
cp out one.txt
processes 2 0 "in words" job --base one/rank0.json
same "$rule: the same bytes" "" "$(cmp out one.txt 2>&1)"
processes 3 0 "files of each node" --local job --base one/rank0.json --format json
same "$rule: the same bytes" "" "$(cmp out one.json 2>&1)"
processes 2 0 "to a file" job --base one/rank0.json --format json -o two.json
same "$rule: the same bytes" "" "$(cmp two.json one.json 2>&1)"
silent out
processes 2 4 "a condition" job --fail-if 'waits>0.1%'
says err "--fail-if waits>0.1%: waits"
echo "no trace" >job/rank9.json
echo "nor this" >job/rank8.json
expect 3 "files that are no trace, one process" ranks job --base one/rank0.json --format json
cp out one.json
processes 3 3 "files that are no trace" job --base one/rank0.json --format json
says err "rank9.json: unknown trace format"
same "$rule: the same bytes" "" "$(cmp out one.json 2>&1)"
same "$rule: both are in the report" 2 "$(grep -c 'rank[89].json: unknown trace format' out)"

# ---- what is wrong is said once, and all end ----
processes 3 2 "an unknown option" job --bogus
same "$rule: said once" 1 "$(grep -c 'unknown option --bogus' err)"
processes 2 2 "a file that exists" job -o two.json
same "$rule: said once" 1 "$(grep -c 'two.json: exists already' err)"
processes 3 1 "nothing" nothing
says err "none of the files could be read"
processes 2 0 "help" --help
says out "--local"
same "$rule: once" 1 "$(grep -c '^ *--local ' out)"
finish
