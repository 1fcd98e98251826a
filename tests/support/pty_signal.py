"""Runs a command on a terminal of its own, types ctrl-C once it has printed "ready", prints what it printed.

pty_signal.py COMMAND...; the exit status is the command's."""
import os
import pty
import sys

pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
output = b""
typed = False
while True:
    try:
        data = os.read(terminal, 4096)
    except OSError:
        break
    if not data:
        break
    output += data
    if not typed and b"ready" in output:
        typed = True
        os.write(terminal, b"\x03")
sys.stdout.write(output.decode(errors="replace").replace("\r\n", "\n"))
sys.stdout.flush()
status = os.waitpid(pid, 0)[1]
sys.exit(os.waitstatus_to_exitcode(status))
