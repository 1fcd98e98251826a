# slurm.sh - a cluster of Slurm of its own for a test: a controller and two nodes, all on this machine's loopback. Sourced after cli.sh.

# slurm_start: SLURM_CONF names the cluster from here on; slurm_stop ends it. Returns 1, with a line that says why, where there is none.
slurm_start() {
	for tool in srun slurmctld slurmd; do
		PATH=$PATH:/usr/sbin:/sbin command -v $tool >/dev/null || {
			echo "SKIPPED: no $tool (Debian: slurm-wlm): $1"
			return 1
		}
	done
	slurm=$work/slurm
	slurm_pids=
	mkdir -p "$slurm/state" "$slurm/n0" "$slurm/n1"
	python3 - >"$slurm/ports" <<-PYTHON
		import socket
		found = [socket.socket() for _ in range(3)]
		for s in found:
		    s.bind(("127.0.0.1", 0))
		print(*(s.getsockname()[1] for s in found))
	PYTHON
	read -r control first second <"$slurm/ports"
	user=$(id -un)
	cat >"$slurm/slurm.conf" <<-CONF
		ClusterName=vptrace
		SlurmctldHost=$(uname -n)(127.0.0.1)
		SlurmctldPort=$control
		SlurmUser=$user
		SlurmdUser=$user
		AuthType=auth/none
		CredType=cred/none
		StateSaveLocation=$slurm/state
		SlurmdSpoolDir=$slurm/%n
		SlurmctldPidFile=$slurm/control.pid
		SlurmdPidFile=$slurm/%n.pid
		SlurmctldLogFile=$slurm/control.log
		SlurmdLogFile=$slurm/%n.log
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		JobAcctGatherType=jobacct_gather/none
		SelectType=select/cons_tres
		SwitchType=switch/none
		MpiDefault=none
		SlurmdParameters=config_overrides
		NodeName=n0 NodeHostname=$(uname -n) NodeAddr=127.0.0.1 Port=$first CPUs=8
		NodeName=n1 NodeHostname=$(uname -n) NodeAddr=127.0.0.1 Port=$second CPUs=8
		PartitionName=all Nodes=ALL Default=YES MaxTime=2 State=UP OverSubscribe=YES
	CONF
	SLURM_CONF=$slurm/slurm.conf
	PATH=$PATH:/usr/sbin:/sbin
	export SLURM_CONF PATH
	slurmctld -D -c >"$slurm/control.out" 2>&1 &
	slurm_pids=$!
	for node in n0 n1; do
		slurmd -D -N $node >"$slurm/$node.out" 2>&1 &
		slurm_pids="$slurm_pids $!"
	done
	trap 'slurm_stop; rm -rf "$work"' EXIT
	tries=0
	until [ "$(timeout 5 sinfo -h -t idle -o %D 2>/dev/null)" = 2 ]; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || {
			echo "SKIPPED: Slurm did not start: $(tail -n 1 "$slurm/control.out" "$slurm/n0.out" | tr '\n' ' '): $1"
			slurm_stop
			return 1
		}
		sleep 0.1
	done
}

slurm_stop() {
	# shellcheck disable=SC2086
	[ -z "$slurm_pids" ] || kill $slurm_pids 2>/dev/null
	# shellcheck disable=SC2086
	[ -z "$slurm_pids" ] || wait $slurm_pids 2>/dev/null
	slurm_pids=
}
