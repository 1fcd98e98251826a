"""The results, warnings and errors of the functions."""

import enum
import typing


class Code(enum.IntEnum):
    """What start() and stop() return. The names are those of vptrace.h."""

    OK = 0
    EINVAL = -1  # invalid option or environment variable
    EBUSY = -2  # a capture is already running; it continues
    EIDLE = -3  # no capture is running
    ENOMEM = -4
    EFILE = -5  # the file cannot be created or written
    ENOCUPTI = -6  # ranges only: no usable CUPTI or driver
    ETAKEN = -7  # ranges only: another profiler holds CUPTI in this process
    EDENIED = -8  # ranges only: the driver does not allow tracing for this user
    ETIMEOUT = -9  # stopped, but the GPU or CUPTI took too long: records are missing
    EFORKED = -10  # this process was forked from a traced one and records nothing
    MISSING = -100  # there is no libvptrace.so; returned only by this module


class State(enum.IntEnum):
    """What status() returns."""

    STOPPED = 0
    RUNNING = 1
    RANGES_ONLY = 2  # CUPTI is unavailable, or another client has it now: see last_error()
    PAUSED = 3
    FAILED = 4  # the file could not be written: nothing more is recorded
    INERT = 5  # a forked child


class VptraceWarning(RuntimeWarning):
    """Something is not recorded; the program continues."""


class VptraceError(RuntimeError):
    """Replaces a warning if strict=True. `code` is a Code."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class Statistics(typing.NamedTuple):
    """Numbers of a capture. received = written + dropped."""

    received: int = 0  # records delivered by CUPTI, NVTX and this program
    written: int = 0  # of the received: in the file
    dropped: int = 0  # of the received: not in the file
    cupti_dropped: int = 0  # records that CUPTI itself could not deliver
    invalid: int = 0  # of the written: records with invalid times
    chunks: int = 0
    file_bytes: int = 0
    names_dropped: int = 0  # names beyond the limit of distinct names
    buffers_kept: int = 0  # buffers that CUPTI had not returned when the capture ended
    cupti_records: int = 0  # records delivered by CUPTI; all but the filtered are received
    filtered: int = 0
    stop_code: int = 0
    unfinished: int = 0  # of the written: work that the GPU had not done at the stop
    samples: int = 0  # of the received: values that the library sampled


class Summary(typing.NamedTuple):
    """The result of a capture."""

    path: typing.Optional[str]  # of the file; None: unknown, or nothing was recorded
    code: Code  # the first Code of start() and stop() that was not OK
    reason: str  # in words; "" if the code is OK
    stats: Statistics

    @property
    def complete(self):
        """Whether everything that happened is in the file."""
        missing = self.stats.dropped + self.stats.cupti_dropped + self.stats.unfinished
        return self.code == Code.OK and not missing
