"""demo_causes.py - what each nanosecond of the demo's idle time waited for.

Works out from the calls, ops and ranges of demo_schedule.py, all of them known, what DEFINITIONS.md says under Causes. It
does one gap after the other and each by the words of the definition; it shares nothing with the analyzer. It leaves
out what the demo never does: calls inside calls, lost records, overhead records, work of other devices, long queries.
"""
import bisect

LAUNCH_LATENCY_NS = 10_000
LAUNCH_RATE_NS = 100_000
SCHEDULING_NS = 10_000
GRAPH_START_NS = 1_000_000
LOADING_NS = 1_000_000
LONG_CODE_NS = 1_000_000

# Kinds in which the host waits, and what their time is called.
WAITING = {
    "sync": "sync", "blocking copy": "blocking copy", "allocation": "allocation", "graph build": "graph build",
    "begin capture": "graph build", "end capture": "graph build", "stream wait": "other CUDA call",
}
SUBMITTING = ("kernel launch", "graph launch", "copy", "blocking copy", "memset")

# All causes that the demo can show, in the order in which one goes before another that has as much of a gap.
CAUSES = (
    "inside graph", "sync", "blocking copy", "allocation", "module load", "first use", "graph build", "other CUDA call",
    "launch rate", "host code", "launch call", "launch latency", "graph start", "scheduling",
    "queued, reason not recorded",
)

STREAMS = ("legacy", "main", "side")  # by their ids, rising


class Piece:
    """A part of a gap. `inside`: the call that the host was in; `blamed`: the call that it counts for, or whose credit it
    has used up; `is_long`: of a stretch of host code of 1 ms or longer."""

    def __init__(self, start, end, cause, call, place, inside=None, blamed=None, is_long=False):
        self.start, self.end, self.cause, self.call, self.place = start, end, cause, call, place
        self.inside, self.blamed, self.is_long = inside, blamed, is_long

    def key(self):
        return self.cause, self.place, self.call


class Thread:
    """What one thread of the host did: its calls that count, and the ranges that it opened."""

    def __init__(self, calls, ranges):
        self.calls = [call for call in calls if call.kind not in ("query", "not recorded")]
        self.starts = [call.start for call in self.calls]
        self.ends = [call.end for call in self.calls]
        self.submitting = [call for call in self.calls if call.kind in SUBMITTING]
        self.submitted_at = [call.start for call in self.submitting]
        self.waits = [call for call in self.calls if call.kind in WAITING]
        self.waits_end = [call.end for call in self.waits]
        self.ranges = sorted(ranges, key=lambda opened: opened.start)
        self.opened_at = [opened.start for opened in self.ranges]
        begun = [call.start for call in self.calls if call.kind == "begin capture"]
        ended = [call.end for call in self.calls if call.kind == "end capture"]
        self.captures = list(zip(begun, ended))

    def captures_at(self, time):
        i = bisect.bisect_right(self.captures, time, key=lambda capture: capture[0])
        return i > 0 and time < self.captures[i - 1][1]

    def open_at(self, twice_time):
        """The ranges that are open at a time given in half nanoseconds, innermost first."""
        i = bisect.bisect_right(self.opened_at, twice_time // 2) - 1
        found = self.ranges[i] if i >= 0 else None
        while found:
            if 2 * found.start <= twice_time < 2 * found.end:
                yield found
            found = found.outer

    def place_at(self, time):
        return next((opened.name for opened in self.open_at(2 * time)), None)

    def place_of_part(self, start, end):
        """The innermost range at the middle that covers more than half."""
        for opened in self.open_at(start + end):
            if 2 * (min(opened.end, end) - max(opened.start, start)) > end - start:
                return opened.name
        return None


def place_of_call(call):
    return call.stack[-1].name if call.stack else None


class Causes:
    """Gaps of a machine that has done everything, one after the other."""

    def __init__(self, machine):
        ops = [op for op in machine.ops if op.end > op.start]
        self.ops = sorted(ops, key=lambda op: (op.start, STREAMS.index(op.stream), op.launch.id))
        self.threads = {thread: Thread(calls, [r for r in machine.ranges if r.thread == thread])
                        for thread, calls in machine.calls.items()}
        self.first_of_name = {}
        for op in self.ops:
            self.first_of_name.setdefault(op.name, op)
        self.counted = {}  # of calls: ns that gaps so far have counted

    def gaps(self):
        """(start, end, pieces) of each gap between the first op and the last."""
        last = self.ops[0]
        for op in self.ops[1:]:
            if op.start > last.end:
                yield last.end, op.start, self.pieces(last, op, last.end, op.start)
            if (op.end, op.start, STREAMS.index(op.stream), op.launch.id) > \
                    (last.end, last.start, STREAMS.index(last.stream), last.launch.id):
                last = op

    def pieces(self, before, op, g0, g1):
        launch = op.launch
        place = place_of_call(launch)
        if launch.kind == "graph launch" and before.launch is launch:
            return [Piece(g0, g1, "inside graph", launch.name, place)]
        late_end = min(max(launch.start, g0), g1)
        call_end = min(max(launch.end, late_end), g1)
        found = self.late(op, g0, late_end)
        if call_end > late_end:
            found.append(self.in_call(op, late_end, call_end))
        for piece in found:
            if piece.blamed:
                self.counted[piece.blamed] = self.counted.get(piece.blamed, 0) + piece.end - piece.start
        if self.first_of_name[op.name] is op:
            found = self.first_use(found)
        return found + self.queue(op, call_end, g1)

    # ---- First use ----

    @staticmethod
    def first_use(pieces):
        """Everything between the first load of code and the last, and long code beside them. Loads are whole pieces."""
        loads = [piece for piece in pieces if piece.cause == "module load"]
        for piece in pieces:
            waits = piece.inside and piece.inside.kind in ("sync", "blocking copy")
            if loads and piece.cause != "module load" and not waits and (
                    (piece.cause == "host code" and piece.is_long) or
                    loads[0].start <= piece.start and piece.end <= loads[-1].end):
                piece.cause, piece.blamed = "first use", None
        return pieces

    # ---- Queue ----

    def queue(self, op, start, end):
        launch, place = op.launch, place_of_call(op.launch)
        latency_end = min(max(launch.end + LAUNCH_LATENCY_NS, start), end)
        found = []
        if latency_end > start:
            found.append(Piece(start, latency_end, "launch latency", launch.name, place))
        if end > latency_end:
            cause = self.why_queued(op.launch, end - latency_end)
            found.append(Piece(latency_end, end, cause, launch.name, place))
        return found

    @staticmethod
    def why_queued(launch, rest_ns):
        if launch.kind == "graph launch" and rest_ns <= GRAPH_START_NS:
            return "graph start"
        return "scheduling" if rest_ns <= SCHEDULING_NS else "queued, reason not recorded"

    # ---- Call ----

    def in_call(self, op, start, end):
        launch = op.launch
        cause = WAITING.get(launch.kind)
        blamed = launch if cause else None
        loads = launch.kind == "kernel launch" and launch.end - launch.start >= LOADING_NS
        if not cause:
            cause = "module load" if loads and self.first_of_name[op.name] is op else "launch call"
        return Piece(start, end, cause, launch.name, place_of_call(launch), launch, blamed)

    # ---- Late ----

    def late(self, op, g0, end):
        if end <= g0:
            return []
        thread = self.threads[op.launch.thread]
        pieces = self.cut(thread, g0, end)
        for call, credit in self.credits(thread, g0):
            pieces = self.take(pieces, call, credit)
        return pieces

    def cut(self, thread, start, end):
        """Pieces inside calls and between them."""
        pieces, i = [], bisect.bisect_right(thread.ends, start)
        while start < end:
            call = thread.calls[i]
            if start < call.start:
                until = min(call.start, end)
                pieces.append(self.host_piece(thread, thread.ends[i - 1] if i else None, call.start, start, until))
            else:
                until = min(call.end, end)
                pieces.append(self.call_piece(thread, call, start, until))
                i += 1
            start = until
        return pieces

    @staticmethod
    def host_piece(thread, stretch_start, stretch_end, start, end):
        if thread.captures_at(start):
            cause = "graph build"
        elif stretch_start is not None and stretch_end - stretch_start < LAUNCH_RATE_NS:
            cause = "launch rate"
        else:
            cause = "host code"
        place = thread.place_of_part(start, end)
        if place is None:
            before = place_of_call(thread.calls[bisect.bisect_left(thread.starts, stretch_end)])
            place = f"before {before}" if before else None
        is_long = stretch_start is None or stretch_end - stretch_start >= LONG_CODE_NS
        return Piece(start, end, cause, None, place, is_long=is_long)

    @staticmethod
    def call_piece(thread, call, start, end):
        cause = WAITING.get(call.kind)
        blamed = call if cause else None
        if not cause:
            cause = "graph build" if thread.captures_at(call.start) else "launch call"
        return Piece(start, end, cause, call.name, thread.place_at(start), call, blamed)

    # ---- what earlier waits have put off ----

    def credits(self, thread, g0):
        i = bisect.bisect_left(thread.submitted_at, g0)
        since = thread.submitting[i - 1].start if i else -1
        for call in thread.waits[bisect.bisect_right(thread.waits_end, since):]:
            if call.start >= g0:
                break
            credit = min(call.end, g0) - max(call.start, since) - self.counted.get(call, 0)
            if credit > 0:
                yield call, credit

    @staticmethod
    def take(pieces, call, credit):
        """Counts up to `credit` of what no wait has counted yet as the call's."""
        found = []
        for piece in pieces:
            taken = piece.blamed and piece.blamed is not piece.inside
            waits = piece.inside and (piece.inside is call or piece.inside.kind in ("sync", "blocking copy"))
            size = 0 if taken or waits else min(credit, piece.end - piece.start)
            is_own = piece.cause == "host code" and piece.is_long and call.kind in ("sync", "blocking copy")
            if size and is_own:
                found.append(Piece(piece.start, piece.start + size, piece.cause, piece.call, piece.place,
                                   piece.inside, call, piece.is_long))
            elif size:
                found.append(Piece(piece.start, piece.start + size, WAITING[call.kind], call.name,
                                   place_of_call(call), piece.inside, call))
            credit -= size
            if piece.start + size < piece.end:
                found.append(Piece(piece.start + size, piece.end, piece.cause, piece.call, piece.place,
                                   piece.inside, piece.blamed, piece.is_long))
        return found


def causes_of(machine):
    return list(Causes(machine).gaps())
