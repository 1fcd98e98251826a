#!/usr/bin/env python3
"""Tests of the comparing scripts with made-up data: they print "ok" if all is well, and each "failed" and
"skipped" that they can print is caused once. Run as `python3 bench/gpu/test_scripts.py`."""

import contextlib
import copy
import io
import json
import os
import tempfile
import unittest

import blame
import check_capture
import clients
import compare_events
import compare_profiler
import table


def said(function, *arguments):
    """{name: (status, value)} of the rows that a function prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        function(*arguments)
    rows = [line.split("\t") for line in out.getvalue().splitlines()]
    return {row[0]: (row[1], row[2]) for row in rows}


def statuses(function, *arguments):
    return {name: status for name, (status, _) in said(function, *arguments).items()}


class Table(unittest.TestCase):
    def printed(self, *rows):
        """The exit code, the lines, the JSON. A row: "step|where|name|status|value|unit|limit|note"."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows")
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(row.replace("|", "\t") + "\n" for row in rows)
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                code = table.main([path, "--json", path + ".json"])
            with open(path + ".json", encoding="utf-8") as file:
                return code, out.getvalue().splitlines(), json.load(file)

    def test_rows_of_all_sorts(self):
        code, lines, rows = self.printed("build|cpu||ok||||a note", "check|cpu|size|ok|1|MiB|<= 2|",
                                         "check|cpu|times|skipped||||not here",
                                         "probe|simulated|x.y|measured|2.5|ns||")
        self.assertEqual(code, 0)
        self.assertEqual(lines, [
            "RESULTS of cpu, simulated: NOTHING HERE WAS MEASURED ON A GPU", "build [cpu]",
            "  ok       a note", "check [cpu]", "  ok       size 1 MiB (<= 2)", "  skipped  times - not here",
            "probe [simulated]", "  measured x.y 2.5 ns", "IN ALL 2 ok, 0 failed, 0 not run, 1 skipped, 1 measured"
        ])
        self.assertEqual(rows[3]["value"], "2.5")
        self.assertEqual([row["step"] for row in rows], ["build", "check", "check", "probe"])

    def test_a_gpu_is_named_and_failures_count(self):
        code, lines, _ = self.printed("build|cpu||ok||||", "demo|NVIDIA H200||failed||||exit code 9")
        self.assertEqual(code, 1)
        self.assertEqual(lines[0], "RESULTS of NVIDIA H200, cpu")

    def test_bare_numbers_share_a_line(self):
        rows = ["probe|cpu|name%d|measured|%d|ns||" % (i, i) for i in range(20)]
        _, lines, _ = self.printed(*rows, "probe|cpu|a|measured|1|ms||noted")
        self.assertEqual(lines[1], "probe [cpu]")
        self.assertTrue(lines[2].startswith("  measured name0 0 ns; name1 1 ns; "))
        self.assertEqual(lines[-2], "  measured a 1 ms - noted")
        self.assertLess(max(map(len, lines)), 140)
        self.assertEqual(sum(line.count(" ns") for line in lines), 20)

    def test_what_scripts_say(self):
        self.assertEqual(table.line("a\tb", "ok", 0.1234567, "ms", note="c\nd"),
                         "a b\tok\t0.123457\tms\t\tc d")
        self.assertEqual(said(table.within, "a", 1.0, 2), {"a": ("ok", "1")})
        self.assertEqual(said(table.within, "a", 3.0, 2), {"a": ("failed", "3")})
        self.assertEqual(said(table.equal, "a", 3, 2), {"a": ("failed", "3")})
        with self.assertRaises(ValueError):
            table.line("name", "good")

    def test_misuse(self):
        for words in ([], ["a", "b"], ["a", "b", "c"]):
            with contextlib.redirect_stderr(io.StringIO()):
                self.assertEqual(table.main(words), 2)


class Events(unittest.TestCase):
    def setUp(self):
        ends = [500.0, 1000.0, 1600.0]
        self.events = {
            "requests": [{
                "name":
                "video 0",
                "fps_end_to_end":
                33 / 1.6,
                "blocks": [{
                    "index": i,
                    "frames": 12 if i else 9,
                    "end_ms": end
                } for i, end in enumerate(ends)]
            }]
        }
        self.report = {
            "requests": [{
                "name": "video 0",
                "fps_end_to_end": 33 / 1.6,
                "blocks": {
                    "count": 3,
                    "warmup": 1,
                    "fps": 24 / 1.1,
                    "bps": 2 / 1.1
                }
            }]
        }

    def test_equal_rates(self):
        self.assertEqual(set(statuses(compare_events.compare, self.report, self.events).values()), {"ok"})

    def test_half_a_percent_is_the_limit(self):
        for factor, status in ((1.0049, "ok"), (1.0051, "failed")):
            report = copy.deepcopy(self.report)
            report["requests"][0]["blocks"]["bps"] *= factor
            found = statuses(compare_events.compare, report, self.events)
            self.assertEqual(found["video 0: bps differs"], status)
            self.assertEqual(found["video 0: fps differs"], "ok")

    def test_the_reports_warmup_counts(self):
        self.report["requests"][0]["blocks"].update(warmup=2, fps=12 / 0.6, bps=1 / 0.6)
        self.assertEqual(set(statuses(compare_events.compare, self.report, self.events).values()), {"ok"})

    def test_what_is_missing(self):
        self.report["requests"][0]["blocks"].update(fps=None, count=2)
        found = statuses(compare_events.compare, self.report, self.events)
        self.assertEqual(found["video 0: fps"], "skipped")
        self.assertEqual(found["video 0: blocks"], "failed")
        self.report["requests"][0]["name"] = "video 1"
        self.assertEqual(statuses(compare_events.compare, self.report, self.events), {"video 0": "failed"})

    def test_warmup_of_an_injected_capture_is_passed_over(self):
        self.report["requests"].insert(0, {"name": "warm-up 0", "blocks": None})
        self.assertEqual(set(statuses(compare_events.compare, self.report, self.events).values()), {"ok"})


class Profiler(unittest.TestCase):
    kernels = [("_Z4gemmPf", "gemm(float*)", 1000), ("softmax", "softmax", 500), ("softmax", "softmax", 600)]

    def ours(self, kernels=None, scale=1):
        rows = {
            "kernel": [{
                "name": mangled,
                "duration_ns": str(int(ns * scale))
            } for mangled, _, ns in kernels or self.kernels],
            "copy": [{
                "copy_kind": "DtoH"
            }, {
                "copy_kind": "memset"
            }],
        }
        demangled = dict((mangled, plain) for mangled, plain, _ in self.kernels)
        return compare_profiler.of_capture(rows.__getitem__, lambda name: demangled.get(name, name))

    def theirs(self, scale=1.0):
        events = [{
            "ph": "X",
            "cat": "kernel",
            "name": plain,
            "dur": ns * scale / 1000
        } for _, plain, ns in self.kernels]
        events += [{
            "ph": "X",
            "cat": "gpu_memcpy",
            "name": "Memcpy DtoH",
            "dur": 1
        }, {
            "ph": "X",
            "cat": "gpu_memset",
            "name": "Memset",
            "dur": 1
        }, {
            "ph": "f",
            "cat": "kernel",
            "name": "no event"
        }, {
            "ph": "M",
            "name": "process_name"
        }]
        return compare_profiler.of_trace({"traceEvents": events})

    def test_the_same(self):
        found = said(compare_profiler.compare, [self.ours()], [self.theirs()])
        self.assertEqual({status for status, _ in found.values()}, {"ok"})
        self.assertEqual(found["kernels"][1], "3")

    def test_a_kernel_too_few(self):
        found = statuses(compare_profiler.compare, [self.ours(self.kernels[:2])], [self.theirs()])
        self.assertEqual((found["kernels"], found["kernels whose name differs"]), ("failed", "failed"))

    def test_a_trace_without_kernels_proves_nothing(self):
        nothing = compare_profiler.of_trace({"traceEvents": []})
        self.assertEqual(said(compare_profiler.compare, [self.ours()], [nothing]),
                         {"kernels": ("failed", "0")})

    def test_another_name(self):
        other = [("gelu", "gelu", 1000)] + self.kernels[1:]
        found = said(compare_profiler.compare, [self.ours(other)], [self.theirs()])
        self.assertEqual(found["kernels"][0], "ok")
        self.assertEqual(found["kernels whose name differs"], ("failed", "2"))

    def test_times(self):
        name = "time of kernels differs"
        for scale, status in ((1.0, "ok"), (1.02, "failed")):
            self.assertEqual(
                said(compare_profiler.compare, [self.ours()], [self.theirs(scale)])[name][0], status)
        noisy = [self.theirs(1.0), self.theirs(1.04)]
        self.assertEqual(said(compare_profiler.compare, [self.ours(scale=1.01)], noisy)[name][0], "ok")

    def test_demangling(self):
        demangle = compare_profiler.demangler()
        self.assertIn(demangle("_Z4gemmPf"), ("gemm(float*)", "_Z4gemmPf"))
        self.assertEqual(demangle("softmax"), "softmax")

    def test_gzip(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.json.gz")
            with compare_profiler.gzip.open(path, "wt") as file:
                file.write('{"traceEvents": []}')
            self.assertEqual(compare_profiler.of_trace(compare_profiler.load(path)).kernels, 0)


class Capture(unittest.TestCase):
    report = {
        "verdict": {
            "received": 10,
            "written": 9,
            "dropped": 1,
            "ops_without_launch": 0,
            "invalid": 0,
            "unmatched_ranges": 0,
            "damaged_chunks": 0
        },
        "counts": {
            "kernels": 3,
            "memcpy": 1,
            "memset": 0
        },
        "requests": [{
            "name": "video 0",
            "source": "annotation",
            "blocks": {
                "count": 2
            }
        }],
        "ranges": [{
            "name": "video 0",
            "domain": "vptrace",
            "ops": 3
        }, {
            "name": "step",
            "domain": "vptrace",
            "ops": 4
        }],
    }

    def test_books(self):
        found = statuses(check_capture.check_books, self.report)
        self.assertEqual((found["received - written - dropped"], found["dropped"]), ("ok", "failed"))

    def test_the_reports_verdict_counts(self):
        verdict = {"verdict": {"complete": True, "reasons": []}}
        self.assertEqual(said(check_capture.check_verdict, verdict), {"complete": ("ok", "")})
        verdict = {"verdict": {"complete": False, "reasons": ["stolen", "late"]}}
        self.assertEqual(said(check_capture.check_verdict, verdict), {"complete": ("failed", "")})

    def test_ops_outside_of_requests(self):
        self.assertEqual(said(check_capture.check_requests, self.report),
                         {"ops in a request": ("failed", "3")})

    def test_annotations(self):
        ranges = [{"name": name} for name in ("block", "block 1", "blocks", "step")]
        found = statuses(check_capture.check_annotations, self.report, ranges, 2, 2, True)
        self.assertEqual(found, {"block ranges": "ok", "step ranges": "failed", "blocks in the report": "ok"})

    def test_times(self):
        op = {"correlation": "1", "start_ns": "100", "duration_ns": "10"}
        launch = {"correlation": "1", "id": "cudaLaunchKernel", "start_ns": "90", "duration_ns": "5"}
        wait = {"correlation": "2", "id": "cudaDeviceSynchronize", "start_ns": "95", "duration_ns": "20"}
        check = check_capture.check_times
        self.assertEqual(set(statuses(check, [op], [launch, wait]).values()), {"ok"})
        self.assertEqual(
            statuses(check, [dict(op, start_ns="80")], [launch, wait])["ops before their launch"], "failed")
        self.assertEqual(
            statuses(check, [dict(op, duration_ns="99")], [launch, wait])["ops after the last wait"],
            "failed")
        self.assertEqual(statuses(check, [op], [launch])["ops after the last wait"], "skipped")

    def test_in_short(self):
        lines = [
            table.line("dropped", "ok", 0, note="of 10"),
            table.line("size", "ok", 0.5, "MiB"),
            table.line("ops after the last wait", "skipped")
        ]
        self.assertEqual(statuses(check_capture.in_short, lines), {
            "checks that hold": "ok",
            "ops after the last wait": "skipped"
        })
        found = said(check_capture.in_short, lines + [table.line("kernels", "failed", 0)])
        self.assertEqual(found["checks that hold"], ("failed", "2"))
        self.assertEqual(found["kernels"], ("failed", "0"))


class Blame(unittest.TestCase):
    with_fault = {
        "findings": [{
            "id": "sync-drain",
            "gain_at_most_ms": 110.0
        }, {
            "id": "other",
            "gain_at_most_ms": None
        }]
    }
    without = {"findings": [{"id": "sync-drain", "gain_at_most_ms": 10.0}]}

    def test_findings_add_up(self):
        both = {"findings": [{"id": "a", "gain_at_most_ms": 3.0}, {"id": "b", "gain_at_most_ms": 4.0}]}
        self.assertEqual(blame.gain_ms(both, ["a", "b"]), 7.0)
        self.assertEqual(blame.gain_ms(both, ["c"]), 0)

    def test_promise_kept(self):
        found = said(blame.compare, (self.with_fault, self.without), ["sync-drain"], [500.0], [420.0])
        self.assertEqual(found["blamed, at most"], ("measured", "100"))
        self.assertEqual(found["really saved"], ("measured", "80"))
        self.assertEqual(found["not more is saved than promised"][0], "ok")

    def test_promise_broken(self):
        found = statuses(blame.compare, (self.with_fault, self.without), ["sync-drain"], [500.0], [300.0])
        self.assertEqual(found["not more is saved than promised"], "failed")
        found = statuses(blame.compare, (self.with_fault, self.without), ["sync-drain"], [450.0, 550.0],
                         [300.0])
        self.assertEqual(found["not more is saved than promised"], "ok", "runs differ more than that")

    def test_fault_not_found(self):
        found = statuses(blame.compare, (self.with_fault, self.without), ["other"], [500.0], [500.0])
        self.assertEqual(found["the fault is found"], "failed")

    def test_lengths(self):
        self.assertEqual(blame.length_ms({"requests": [{"total_ms": 2.0}, {"total_ms": 3.0}]}), 5.0)
        self.assertEqual(blame.length_ms({
            "verdict": {},
            "requests": [{
                "start_ns": 0,
                "end_ns": 2000000
            }]
        }), 2.0)

    def test_words(self):
        words = "--blamed a b --times c d -- e --findings x+y".split()
        self.assertEqual(blame.read(words), (["a", "b"], ["x", "y"], ["c", "d"], ["e"]))
        self.assertIsNone(blame.read(words[:-2]))


class Clients(unittest.TestCase):
    """Tests of torch.profiler and vptrace in one process."""
    def test_kineto_is_known_by_what_it_imports(self):
        texts = {
            b"\0cuptiActivityRegisterCallbacks\0cuptiSubscribe\0": clients.SUBSCRIBES,
            b"\0cuptiActivityRegisterCallbacks\0cuptiSubscribe_v2\0": clients.REGISTERS,
            b"\0nothing of CUPTI\0": clients.UNKNOWN,
            b"": clients.UNKNOWN,
        }
        with tempfile.TemporaryDirectory() as folder:
            for text, expected in texts.items():
                path = os.path.join(folder, "library")
                with open(path, "wb") as file:
                    file.write(text)
                self.assertEqual(clients.kineto_of(path), expected)
            self.assertEqual(clients.kineto_of(os.path.join(folder, "none")), clients.UNKNOWN)

    def test_outcomes(self):
        self.assertEqual(clients.outcome(1001, 1000, True), clients.WHOLE)
        self.assertEqual(clients.outcome(1000, 1000, False), clients.DOUBTED)
        self.assertEqual(clients.outcome(0, 1000, False), clients.NOTHING)
        self.assertEqual(clients.outcome(500, 1000, False), clients.PART)
        self.assertEqual(clients.outcome(1000, 3000, True), clients.SILENT)
        self.assertEqual(clients.outcome(0, 1000, True), clients.SILENT)

    def test_expectations_by_kineto(self):
        expected = [
            ("twice", clients.SUBSCRIBES, clients.WHOLE, True),
            ("twice", clients.REGISTERS, clients.WHOLE, True),
            ("after", clients.SUBSCRIBES, clients.NOTHING, True),
            ("after", clients.REGISTERS, clients.WHOLE, True),
            ("profiler-during", clients.SUBSCRIBES, clients.PART, False),
            ("profiler-during", clients.REGISTERS, clients.NOTHING, True),
            ("trace-during", clients.SUBSCRIBES, clients.NOTHING, True),
            ("trace-during", clients.REGISTERS, clients.NOTHING, True),
            ("trace-during", clients.REGISTERS, clients.WHOLE, False),
            ("after", clients.UNKNOWN, clients.PART, False),
        ]
        unexpected = [
            ("twice", clients.SUBSCRIBES, clients.NOTHING, True),
            ("after", clients.SUBSCRIBES, clients.WHOLE, True),
            ("after", clients.REGISTERS, clients.NOTHING, True),
            ("after", clients.REGISTERS, clients.DOUBTED, True),
            ("after", clients.REGISTERS, clients.WHOLE, False),
            ("profiler-during", clients.REGISTERS, clients.WHOLE, True),
            ("trace-during", clients.SUBSCRIBES, clients.NOTHING, False),
        ]
        for case in expected:
            self.assertTrue(clients.is_expected(*case), case)
        for case in unexpected:
            self.assertFalse(clients.is_expected(*case), case)
        for case in clients.EXPECTED:
            for kineto in (clients.SUBSCRIBES, clients.REGISTERS, clients.UNKNOWN):
                self.assertFalse(clients.is_expected(case, kineto, clients.SILENT, True))
                self.assertTrue(clients.expected_in_words(case, kineto))


if __name__ == "__main__":
    unittest.main()
