"""Runs a command on a pseudo terminal of a given size and prints what the terminal shows.

terminal.py ROWS COLUMNS [--keys TEXT] COMMAND...

--keys types TEXT once the command has printed something and then nothing for a while. The exit status is the
command's; 99 if it does not end within a minute.
"""
import fcntl
import os
import select
import struct
import sys
import termios
import time


def main():
    rows, columns, *command = sys.argv[1:]
    keys = b""
    if command[0] == "--keys":
        keys, command = command[1].encode(), command[2:]
    pid, terminal = os.forkpty()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", int(rows), int(columns), 0, 0))
        os.execvp(command[0], command)
    shown = bytearray()
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 0.5)[0]:
            if keys and shown:
                os.write(terminal, keys)
            continue
        try:
            data = os.read(terminal, 65536)
        except OSError:  # the command has closed the terminal
            data = b""
        if not data:
            break
        shown += data
    else:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        return 99
    sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n"))
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


sys.exit(main())
