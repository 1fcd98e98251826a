"""grow.py SOURCE TARGET PIECES SECONDS [--no-lock] [--cut]: writes a copy of a capture as a tracer would: PIECES parts of
equal size, one after the other within SECONDS, while it holds the file's lock. --cut: without the last part."""

import fcntl
import sys
import time


def main(source, target, pieces, seconds, *words):
    with open(source, "rb") as f:
        data = f.read()
    pieces = int(pieces)
    with open(target, "wb", buffering=0) as f:
        if "--no-lock" not in words:
            fcntl.flock(f, fcntl.LOCK_EX)
        for i in range(pieces - ("--cut" in words)):
            f.write(data[len(data) * i // pieces : len(data) * (i + 1) // pieces])
            time.sleep(float(seconds) / pieces)


main(*sys.argv[1:])
