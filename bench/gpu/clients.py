"""What is to be expected of torch.profiler and vptrace in one process, by what Kineto is built into PyTorch.

Kineto, torch.profiler's recorder, until August 2026 subscribes to CUPTI at its first profile and keeps the
subscription; whoever subscribes later is refused. Since then it does not subscribe: both register their buffers,
and the later of the two registrations takes all records until the next. Versions of PyTorch do not say which it
is, its library does: it imports cuptiSubscribe, or not.
"""

import mmap
import os

SUBSCRIBES, REGISTERS, UNKNOWN = "subscribes", "registers", "unknown"

# What became of a capture.
WHOLE, NOTHING, PART, DOUBTED, SILENT = "whole", "nothing", "part", "doubted", "silent"
IN_WORDS = {
    WHOLE: "the capture has all kernels and is called complete",
    NOTHING: "the capture has no kernels and says so",
    PART: "the capture lacks kernels and says so",
    DOUBTED: "the capture has all kernels and is not called complete",
    SILENT: "the capture lacks kernels and is called complete",
}

# Of each case and each Kineto: what may become of the capture, and whether the profile has all of its kernels.
EXPECTED = {
    "twice": {
        SUBSCRIBES: ((WHOLE,), False),
        REGISTERS: ((WHOLE,), False)
    },
    "after": {  # a subscription that is kept refuses the capture
        SUBSCRIBES: ((NOTHING,), True),
        REGISTERS: ((WHOLE,), True)
    },
    # Kineto registers also where its subscription was refused. Buffers that are in use then come back to whom
    # they do not belong.
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
    """Which Kineto the file is built with; UNKNOWN where it cannot be read."""
    try:
        with open(library, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
            if text.find(b"\0cuptiSubscribe\0") >= 0:
                return SUBSCRIBES
            return REGISTERS if text.find(b"\0cuptiActivityRegisterCallbacks\0") >= 0 else UNKNOWN
    except (OSError, ValueError):
        return UNKNOWN


def library_of(torch):
    """Where Kineto is in an imported PyTorch."""
    return os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")


def outcome(kernels, launched, is_complete):
    """What became of a capture with `kernels` of `launched` kernels, which the report calls complete or not."""
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
    """Whether an outcome is one of the expected. Of a loss that nobody speaks of, none is."""
    if found == SILENT:
        return False
    if kineto == UNKNOWN:
        return True
    outcomes, must_be_whole = EXPECTED[case][kineto]
    return found in outcomes and (is_profile_whole or not must_be_whole)
