#!/bin/sh
# The demo's ranks on the simulated GPU: they wait for one another, and a planted fault shows where it should, on all ranks, to the nanosecond.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
bin=${VPT_BIN:?expected the build folder}
demo=$bin/vptrace-demo
[ -x "$demo" ] || skip "no demo was built"
need_python 3.10
cd "$work" || exit 1
unset VPTRACE_LIBRARY RANK WORLD_SIZE MASTER_ADDR MASTER_PORT SLURM_JOB_ID VPT_STANDIN_TIME VPT_STANDIN_DEVICES VPT_STANDIN_FAULTS VPT_STANDIN_RANK VPT_STANDIN_WORLD

# job NAME OPTIONS...: captures NAME-rR.zst; logs NAME.log0 ... in the order of the ranks
job() {
	job=$1
	shift
	mkdir "logs-$job"
	CUDA_INJECTION64_PATH=$bin/libvptrace.so NVTX_INJECTION64_PATH=$bin/libvptrace.so VPTRACE_OUTPUT=$work/$job-r%r.zst \
		VPT_STANDIN_LOG=logs-$job/%p "$demo" --blocks 2 --steps 2 --layers 3 "$@" >out 2>err
	code=$?
	for log in "logs-$job"/*; do # a rank's device is its rank
		[ -s "$log" ] && mv "$log" "$job.log$(awk '{ print $7; exit }' "$log")"
	done
}

# planted WHAT OPTIONS...: what demo_ranks.py finds in 4 ranks' logs
planted() {
	what=$1
	shift
	name=$(echo "$what" | tr -d =)
	cases=$((cases + 1))
	job "$name" --ranks 4 "$@"
	same "$name: exit code" 0 $code
	python3 "$source/tests/support/demo_ranks.py" "$what" "$name".log? >found 2>&1 || fail "$name: $(cat found)"
}

planted alike
planted link --plant 1:link=150
planted late --plant 2:late=30
planted skew=2 --plant 2:skew=900
planted host --plant 2:host=400
# The GPUs have work queued, except for the first layer of each of 2 blocks.
same "waits for rank 2" "host 800000 800000 0 800000" "$(head -n 1 found)"
planted kernel --plant 3:kernel=200
# A quarter of 600, 112 and 590 us in each of 3 layers of 3 passes of 2 blocks.
same "waits for rank 3" "kernel 5859000 5859000 5859000 0" "$(head -n 1 found)"
planted ring --ring --plant 3:kernel=200
same "waits for rank 3 around a ring" "ring 5859000 5859000 5859000 0" "$(head -n 1 found)"
planted mixed --cfg-parallel --plant 0:host=200,3:kernel=130
planted mixed2 --graph --plant 1:host=100
planted mixed4 --ring --graph --cfg-parallel --plant 2:host=300
planted mixed3 --two-streams --sync-per-layer

# ---- the same in each run ----
cases=$((cases + 1))
job again --ranks 4 --plant 2:host=400
for rank in 0 1 2 3; do
	cmp -s host.log$rank again.log$rank || fail "rank $rank ran differently when run again"
done

# ---- hosts with clocks of their own ----
NCCL_P2P_DISABLE=1 TORCH_NCCL_BLOCKING_WAIT=0 NCCL_LONG=$(printf '%0300d' 7) TORCHELASTIC_RESTART_COUNT=2 XNCCL_NOT=1
export NCCL_P2P_DISABLE TORCH_NCCL_BLOCKING_WAIT NCCL_LONG TORCHELASTIC_RESTART_COUNT XNCCL_NOT
job hosts --ranks 4 --nodes 2 --plant 2:offset=500,0:offset=-500,0:drift=-50
same "hosts: exit code" 0 $code
for rank in 0 1 2 3; do
	host=$("$VPT_ANALYZE" info hosts-r$rank.zst | sed -n 's/.* host = //p')
	same "host of rank $rank" "standin-$((rank / 2))" "$host"
done
unset NCCL_P2P_DISABLE TORCH_NCCL_BLOCKING_WAIT NCCL_LONG TORCHELASTIC_RESTART_COUNT XNCCL_NOT

# ---- what is recorded of a rank's place ----
fact() { sed -n "s/^\(meta\)* *$1 = //p" facts; }
"$VPT_ANALYZE" info hosts-r3.zst >facts || fail "info hosts-r3.zst"
for pair in rank=3 world_size=4 local_rank=1 local_world_size=2 node_rank=1 job=torchrun:demo job.restarts=2 nccl=2.27.3 \
	boot_id=00000000-0000-4000-8000-000000000001 env.NCCL_P2P_DISABLE=1 env.TORCH_NCCL_BLOCKING_WAIT=0 \
	"env.NCCL_LONG=$(printf '%0256d' 0)" env.XNCCL_NOT=; do
	same "fact ${pair%%=*}" "${pair#*=}" "$(fact "${pair%%=*}")"
done
expect 0 "the report of rank 3" hosts-r3.zst --format json
says out '"world_size": "4"'
"$VPT_ANALYZE" cat hosts-r3.zst --kind device >out
# Both hosts have a GPU at the same address, but not the same GPU.
says out '"uuid":"GPU-7374616e-6469-6e2d-6770-752d30313031","pci":"0000:02:00.0"'
"$VPT_ANALYZE" cat hosts-r1.zst --kind device >out
says out '"uuid":"GPU-7374616e-6469-6e2d-6770-752d30303031","pci":"0000:02:00.0"'
if VPTRACE_LIBRARY=$bin/libvptrace.so "$demo" --blocks 1 --steps 1 --layers 1 --trace alone.zst >out 2>err; then
	"$VPT_ANALYZE" info alone.zst >facts
	for name in nccl job world_size; do
		same "$name of a process without ranks" "" "$(fact $name)"
	done
else
	fail "the demo without ranks"
fi

clock() { "$VPT_ANALYZE" cat "hosts-r$1.zst" --kind range | sed -n '/"text_encode"/s/.*"start_ns":\([0-9]*\).*/\1/p'; }
same "rank 1's clock is rank 0's" "$(clock 0)" "$(clock 1)"
# A second apart, but for the drift of the 21 ms since the job's start: 50 ppm are 1 us.
apart=$(($(clock 2) - $(clock 0)))
[ "$apart" -ge 1000000000 ] && [ "$apart" -lt 1000002000 ] || fail "the clocks of two hosts: expected 1 s apart, found $apart ns"

# ---- what is recorded of NCCL's calls ----
payload() { sed -n "/\"domain\":\"NCCL\"/s/.*\"name\":\"$1\",.*\"value\":\"{\(.*\)}\",\"schema\":.*/\1/p" rows/range.jsonl | tr -d '\\' | sort -u; }
job calls --ranks 2
"$VPT_ANALYZE" export calls-r1.zst --format jsonl -o rows >out 2>err || fail "export calls-r1.zst"
comm=$(payload ncclCommInitRank | sed 's/^"NCCL communicator ID":\([0-9]*\),.*/\1/')
same "payload of ncclCommInitRank" "\"NCCL communicator ID\":$comm,\"No. of ranks\":2,\"Rank\":1,\"CUDA device\":1" "$(payload ncclCommInitRank)"
same "payload of ncclAllReduce" "\"NCCL communicator ID\":$comm,\"Message size [bytes]\":4,\"Reduction operation\":0" "$(payload ncclAllReduce)"
same "payload of ncclAllGather" "\"NCCL communicator ID\":$comm,\"Message size [bytes]\":299520" "$(payload ncclAllGather)"
same "payloads of ncclSend" "\"NCCL communicator ID\":$comm,\"Message size [bytes]\":3594240,\"Peer rank\":0
\"NCCL communicator ID\":$comm,\"Message size [bytes]\":3594240,\"Peer rank\":1" "$(payload ncclSend)"
same "payloads of ncclRecv" "$(payload ncclSend)" "$(payload ncclRecv)"

# ---- a rank that is not recorded, and one that ends ----
job untraced --ranks 3 --plant 1:untraced=1
same "files without rank 1" "untraced-r0.zst untraced-r2.zst" "$(echo untraced-r*.zst)"
job ends --ranks 3 --plant 1:ends=1
same "exit code when a rank was killed" 1 $code
says err "that process has ended"
for rank in 0 2; do
	expect 0 "the capture of rank $rank when rank 1 was killed" ends-r$rank.zst
	says out "COMPLETE"
done

# ---- the command line ----
for words in "--ranks 2 --plant 2:host=1" "--ranks 2 --plant 1:host" "--ranks 2 --plant 1:none=1" "--ranks 2 --plant 1:drift=9999" "--ranks 3 --cfg-parallel" \
	--ring "--ranks 2 --ring --eager" "--ranks 2 --nodes 3" "--ranks 2 --plant 1:host=1x"; do
	"$demo" $words >out 2>err
	same "exit code of $words" 2 $?
	same "sentences about $words" 1 "$(wc -l <err)"
done
finish
