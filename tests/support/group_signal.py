"""Runs a command as a process group of its own, sends SIGINT to the group once it has printed "ready".

group_signal.py [--late] COMMAND...; its output passes through, the exit status is the command's. --late: processes that
the command keeps beside the one that is ready get no turn for 200 ms after the signal, as on a busy machine."""
import os
import signal
import subprocess
import sys
import time

late = sys.argv[1] == "--late"
command = subprocess.Popen(sys.argv[2 if late else 1:], stdout=subprocess.PIPE, text=True, start_new_session=True)


def others(ready):
    with open(f"/proc/{command.pid}/task/{command.pid}/children", encoding="ascii") as children:
        return [int(child) for child in children.read().split() if int(child) != ready]


for line in command.stdout:
    sys.stdout.write(line)
    if line.startswith("ready"):
        stopped = others(int(line.split()[1])) if late else []
        for child in stopped:
            os.kill(child, signal.SIGSTOP)
        os.killpg(command.pid, signal.SIGINT)
        if late:
            time.sleep(0.2)
        for child in stopped:
            os.kill(child, signal.SIGCONT)
sys.stdout.flush()
sys.exit(command.wait())
