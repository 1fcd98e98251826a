"""Types at a real zsh: zsh_complete.py FOLDER LINE..., where FOLDER holds _vptrace-analyze and each line ends with a tab for every
"<TAB>" in it. Prints the words that vptrace-analyze got, a line for each."""
import os
import pty
import re
import select
import sys

folder, *lines = sys.argv[1:]
pid, terminal = pty.fork()
if not pid:
    os.environ.update(TERM="dumb", HOME="/nonexistent", ZDOTDIR="/nonexistent")
    os.execvp("zsh", ["zsh", "-f", "-i"])


def answer(seconds):
    """What the terminal shows until a command of ours has ended."""
    shown = b""
    while b"DONE>" not in shown and select.select([terminal], [], [], seconds)[0]:
        try:
            some = os.read(terminal, 65536)
        except OSError:
            break
        if not some:
            break
        shown += some
    return shown.decode(errors="replace")


def send(text):
    os.write(terminal, text.encode() + b"\n")


# The quotes keep what is typed from looking like what is printed.
send("PS1=''; fpath=('%s' $fpath); autoload -Uz compinit; compinit -u -D; "
     "vptrace-analyze() { print -r -- 'GO''T' $@ 'DON''E>' }; print 'DON''E>'" % folder)
answer(30)
for line in lines:
    send("vptrace-analyze " + line.replace("<TAB>", "\t"))
    found = re.search(r"GOT (.*?) ?DONE>", answer(30))
    print(found.group(1) if found else "nothing")
os.close(terminal)
