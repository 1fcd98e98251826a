"""Runs a command as a process group of its own, sends SIGINT to the group once it has printed "ready".

group_signal.py COMMAND...; its output passes through, the exit status is the command's."""
import os
import signal
import subprocess
import sys

command = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True, start_new_session=True)
for line in command.stdout:
    sys.stdout.write(line)
    if line.startswith("ready"):
        os.killpg(command.pid, signal.SIGINT)
sys.stdout.flush()
sys.exit(command.wait())
