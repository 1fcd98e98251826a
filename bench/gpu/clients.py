"""The expected results of torch.profiler and vptrace in one process, by the Kineto that is built into PyTorch.

Until August 2026 Kineto, the recorder of torch.profiler, subscribes to CUPTI at its first profile and keeps the
subscription; later subscribers are refused. Newer versions do not subscribe: both clients register their buffers,
and the later registration gets all records until the next one. PyTorch's version does not show which Kineto it
has. Its library does: the older Kineto imports cuptiSubscribe, the newer does not.
"""

import mmap
import os

SUBSCRIBES, REGISTERS, UNKNOWN = "subscribes", "registers", "unknown"

# Results of a capture.
WHOLE, NOTHING, PART, DOUBTED, SILENT = "whole", "nothing", "part", "doubted", "silent"
IN_WORDS = {
    WHOLE: "the capture has all kernels and is called complete",
    NOTHING: "the capture has no kernels and says so",
    PART: "the capture lacks kernels and says so",
    DOUBTED: "the capture has all kernels and is not called complete",
    SILENT: "the capture lacks kernels and is called complete",
}

# For each case and Kineto: the possible results of the capture, and whether the profile has all of its kernels.
EXPECTED = {
    "twice": {
        SUBSCRIBES: ((WHOLE,), False),
        REGISTERS: ((WHOLE,), False)
    },
    "after": {  # a kept subscription makes the capture fail
        SUBSCRIBES: ((NOTHING,), True),
        REGISTERS: ((WHOLE,), True)
    },
    # Kineto registers even if its subscription was refused. Buffers in use are then returned to the wrong
    # client.
    "profiler-during": {
        SUBSCRIBES: ((PART, NOTHING), False),
        REGISTERS: ((PART, NOTHING), False)
    },
    "trace-during": {  # without a subscription, the capture takes the profile's buffers, or leaves them to it
        SUBSCRIBES: ((NOTHING,), True),
        REGISTERS: ((WHOLE, PART, NOTHING), False)
    },
}


def kineto_of(library):
    """The Kineto that the file is built with; UNKNOWN if it cannot be read."""
    try:
        with open(library, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
            if text.find(b"\0cuptiSubscribe\0") >= 0:
                return SUBSCRIBES
            return REGISTERS if text.find(b"\0cuptiActivityRegisterCallbacks\0") >= 0 else UNKNOWN
    except (OSError, ValueError):
        return UNKNOWN


def library_of(torch):
    """The path of Kineto in an imported PyTorch."""
    return os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")


def outcome(kernels, launched, is_complete):
    """The result of a capture with `kernels` of `launched` kernels and a complete report or not."""
    if kernels >= launched:
        return WHOLE if is_complete else DOUBTED
    if is_complete:
        return SILENT
    return PART if kernels else NOTHING


def expected_in_words(case, kineto):
    if kineto == UNKNOWN:
        return "of an unknown Kineto, only that no loss is silent"
    outcomes, is_profile_whole = EXPECTED[case][kineto]
    text = ", or ".join(IN_WORDS[name] for name in outcomes)
    return text + ("; the profile has all of its own" if is_profile_whole else "")


def is_expected(case, kineto, found, is_profile_whole):
    """Whether an outcome is one of the expected. A loss that is not reported never is."""
    if found == SILENT:
        return False
    if kineto == UNKNOWN:
        return True
    outcomes, must_be_whole = EXPECTED[case][kineto]
    return found in outcomes and (is_profile_whole or not must_be_whole)
