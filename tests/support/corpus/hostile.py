#!/usr/bin/env python3
"""hostile.py [FILE]: writes a trace of PyTorch's profiler whose names try to be something else: markup of pages and of
Markdown, ends of scripts and comments, control characters, marks of direction, bytes that are not UTF-8. Each name is used
for a kernel, a range, a call's range around a gap, and a step of a pipeline; MARKER is in all of them."""
import json
import sys

MARKER = "ZQX"
NAMES = [
    '<script>alert("ZQX")</script>',
    '"><img src=x onerror=alert(\'ZQX\')>',
    "</style></script></title><h1>ZQX</h1>",
    "]]>--><!-- ZQX <![CDATA[",
    "ZQX\u202e\u2066evil\u200b\u0007\u001b[31m\u009b",
    "ZQX@BYTES@",
    "ZQX &lt;b&gt; &amp;#106; javascript:alert(1)",
    "a|b\\|c `ZQX` **bold** _em_ ~~x~~ [l](http://x.y) @someone #12 www.z.org \\",
    "block 3' onmouseover='ZQX",
]
BYTES = b"\xff\xfe\xc0\xaf\xed\xa0\x80\xf5"


def events():
    at, n = 1000, 0
    for turn in range(4):
        for i, name in enumerate(NAMES):
            n += 1
            yield {"ph": "X", "cat": "user_annotation", "name": name, "pid": 11, "tid": 12, "ts": at, "dur": 900}
            yield {"ph": "X", "cat": "user_annotation", "name": f"step {turn}", "pid": 11, "tid": 12, "ts": at + 1, "dur": 890}
            yield {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 11, "tid": 12, "ts": at + 10,
                   "dur": 5, "args": {"correlation": n}}
            yield {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": at + 20, "dur": 300 + i,
                   "args": {"device": 0, "context": 1, "stream": 7, "correlation": n, "grid": [4, 2, 1]}}
            yield {"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "pid": 11, "tid": 12, "ts": at + 25,
                   "dur": 400 + i}
            at += 1000


def main():
    trace = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": NAMES[0], "numSms": 80}],
             "distributedInfo": {"rank": 3, "backend": NAMES[1]}, "traceEvents": list(events())}
    data = json.dumps(trace).encode().replace(b"@BYTES@", BYTES)
    (open(sys.argv[1], "wb") if len(sys.argv) > 1 else sys.stdout.buffer).write(data)


if __name__ == "__main__":
    main()
