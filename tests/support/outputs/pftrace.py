#!/usr/bin/env python3
"""Reads a Perfetto trace as Perfetto's importer does, and says what is wrong with it.

    pftrace.py FILE            checks; prints the totals that it found, one "key value" a line
    pftrace.py FILE --cut      the file ends too early: what has no end is no error, nor are totals
    pftrace.py FILE --hole     as if a twelfth of its packets were lost, from the first quarter on
    pftrace.py FILE --ids      also prints each op's number and GPU
    pftrace.py FILE --protoc   takes what protoc decodes instead; the file must not be compressed
    pftrace.py FILE --slices   also prints each slice: track, start, length, depth, category, name, arguments

    pftrace.py --serve         does that for each line "FILE [OPTION]" that it is given

An independent decoder of the wire format: it shares nothing with the encoder but field numbers, which stand in pftrace.proto.
That has every field that an export may have; another one is an error, as are references to undefined entries, slices that do not
nest, links to nowhere, text that is no UTF-8, and totals (vptrace.expect.*) that differ from what the file holds.
"""
import codecs
import gzip
import os
import struct
import subprocess
import sys
import zlib

def schema():
    """Fields by message: number -> (name, type). Types: i number, d double, f fixed, s text, b bytes, another word: a message. A star:
    may stand more than once."""
    types = {"uint64": "i", "double": "d", "fixed64": "f", "string": "s", "bytes": "b"}
    messages, fields = {}, None
    for line in open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "pftrace.proto"), encoding="utf-8"):
        words = line.split("//")[0].replace(";", "").split()
        if words[:1] == ["message"]:
            fields = messages[words[1]] = {}
        elif words[:1] in (["optional"], ["repeated"]):
            fields[int(words[4])] = (words[2], types.get(words[1], words[1]) + "*" * (words[0] == "repeated"))
    return messages


M = schema()
REALTIME, BOOTTIME, DISTANCE = 1, 6, 64
errors = []


def wrong(text):
    errors.append(text)
    if len(errors) > 20:
        finish()


def finish():
    for text in errors[:20]:
        print("wrong: " + text, file=sys.stderr)
    sys.exit(1 if errors else 0)


def varint(data, at, padded=0):
    """A number, which is as short as can be, or has just `padded` bytes."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            break
    if byte == 0 and shift > 7 and shift != 7 * padded:
        wrong("a number with needless bytes")
    return value & 0xFFFFFFFFFFFFFFFF, at


# Distances of time have three bytes at least on the threads' sequences.
PADDED = {("Packet", 8 << 3): 3}
WIRES = {"i": 0, "d": 1, "f": 1}
FIELDS = {
    kind: {n: (name, t.endswith("*"), t.rstrip("*"), WIRES.get(t.rstrip("*"), 2)) for n, (name, t) in fields.items()}
    for kind, fields in M.items()
}
NAMES = {kind: {name: (t.endswith("*"), t.rstrip("*")) for name, t in fields.values()} for kind, fields in M.items()}


def text_of(kind, name, value):
    try:
        value = value.decode("utf-8")
    except UnicodeDecodeError:
        wrong(f"{kind}.{name}: no UTF-8: {value!r}")
        return "?"
    if "\0" in value:
        wrong(f"{kind}.{name}: NUL")
    return value


def decode(kind, data):
    out, at, fields, size = {}, 0, FIELDS[kind], len(data)
    while at < size:
        # Most numbers are a byte long.
        tag = data[at]
        at += 1
        if tag > 127:
            tag, at = varint(data, at - 1)
        wire = tag & 7
        if wire == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        elif wire == 0 or wire == 2:
            value = data[at]
            at += 1
            if value > 127:
                value, at = varint(data, at - 1, PADDED.get((kind, tag), 0))
        else:
            wrong(f"{kind}: wire type {wire}")
            return out
        if wire == 2:
            end = at + value
            if end > size:
                raise IndexError
            value, at = data[at:end], end
        field = fields.get(tag >> 3)
        if field is None:
            wrong(f"{kind}: unknown field {tag >> 3}")
            continue
        name, many, plain, wanted = field
        if wire != wanted:
            wrong(f"{kind}.{name}: wire type {wire}")
            continue
        if plain == "f":
            value = struct.unpack("<Q", struct.pack("<d", value))[0]
        if wire == 2 and plain != "b":
            value = text_of(kind, name, value) if plain == "s" else decode(plain, value)
        if many:
            out.setdefault(name, []).append(value)
        elif name in out:
            wrong(f"{kind}.{name} stands twice")
        else:
            out[name] = value
    return out


def packets(data, inside=False):
    """Whole packets; a file that is cut ends before the one that is not whole."""
    at = 0
    while at < len(data):
        before = at
        try:
            tag, start = varint(data, at)
            size, start = varint(data, start)
        except IndexError:
            break
        if tag != 10 or start + size > len(data):
            if tag != 10:
                wrong(f"a file has field {tag >> 3}")
            break
        body = data[start:start + size]
        at = start + size
        if size >= 256 << 10 and body[:2] != b"\x92\x03":
            wrong(f"a packet of {size} bytes")
        packet = decode("Packet", body)
        packet["bytes"] = size + start - before
        if "compressed" in packet:
            if inside or len(packet) != 2:
                wrong("a compressed packet with something besides")
            if len(packet["compressed"]) >= 512 << 10:
                wrong("a compressed packet of more than 512 KiB")
            yield from packets(zlib.decompress(packet["compressed"]), True)
        else:
            yield packet


def plain_text(quoted):
    return codecs.escape_decode(quoted[1:-1].encode("utf-8"))[0]


def message_of_text(kind, lines):
    """The lines of a message as protoc prints it, up to its closing brace."""
    out = {}
    for line in lines:
        name, _, value = line.strip().partition(" ")
        name = name.rstrip(":")
        if name == "}":
            break
        field = NAMES[kind].get(name)
        if field is None:
            wrong(f"{kind}: unknown field {name}")
            if value == "{":
                message_of_text(kind, lines)
            continue
        many, plain = field
        if value == "{":
            value = message_of_text(plain, lines)
        elif plain in "sb":
            value = plain_text(value) if plain == "b" else text_of(kind, name, plain_text(value))
        else:
            value = float(value) if plain == "d" else int(value)
        if many:
            out.setdefault(name, []).append(value)
        elif name in out:
            wrong(f"{kind}.{name} stands twice")
        else:
            out[name] = value
    return out


def packets_of_protoc(path):
    folder = os.path.dirname(os.path.abspath(__file__))
    said = subprocess.run(["protoc", "--decode=Trace", "-I", folder, "pftrace.proto"], stdin=open(path, "rb"),
                          stdout=subprocess.PIPE, check=True).stdout.decode("utf-8")
    for packet in message_of_text("Trace", iter(said.splitlines()))["packet"]:
        packet["bytes"] = 0  # not said
        yield packet


def read(path):
    data = open(path, "rb").read()
    if data[:4] == b"\x28\xb5\x2f\xfd":
        return subprocess.run(["zstd", "-qdc"], input=data, stdout=subprocess.PIPE, check=True).stdout
    if data[:2] == b"\x1f\x8b":
        return gzip.decompress(data)
    return data


class Sequence:
    def __init__(self):
        self.time = None
        self.tables = {}
        self.default_track = None
        self.default_clock = BOOTTIME
        self.stack_defaults = None

    def find(self, table, iid, what):
        entry = self.tables.get((table, iid))
        if entry is None:
            wrong(f"{what}: {table} {iid} is not defined")
            return {}
        return entry


class Importer:
    def __init__(self):
        self.sequences, self.tracks, self.events, self.gpu, self.attributes = {}, {}, [], [], {}
        self.gpus, self.order, self.samples, self.system = [], 0, [], {}
        self.stacks = []
        self.kernel_bytes = self.realtime = self.counter_packets = 0
        self.since_55 = set()
        self.lost = set()
        self.queues = {}

    def take(self, p):
        if not self.order and ("clock_snapshot" not in p or p["clock_snapshot"].get("primary") != BOOTTIME):
            wrong("the first packet has no clocks")
        self.order += 1
        number = p.get("sequence")
        if number is None:
            wrong("a packet without sequence")
        if p.get("flags", 0) & 1:
            self.sequences[number] = Sequence()
        if number not in self.sequences:
            wrong(f"sequence {number} was not begun")
            self.sequences[number] = Sequence()
        s = self.sequences[number]
        for clock in p.get("clock_snapshot", {}).get("clocks", []):
            if clock["id"] == REALTIME:
                self.realtime = clock["time"]
            if clock["id"] == DISTANCE:
                s.time = clock["time"]
                if not clock.get("incremental"):
                    wrong("clock 64 is not incremental")
        if "defaults" in p:
            s.default_clock = p["defaults"].get("clock_id", BOOTTIME)
            s.default_track = p["defaults"].get("event", {}).get("track")
            s.stack_defaults = p["defaults"].get("stack_samples")
        for table, entries in p.get("interned", {}).items():
            for e in entries:
                if (table, e["iid"]) in s.tables or not e["iid"]:
                    wrong(f"{table} {e['iid']} is defined twice")
                s.tables[table, e["iid"]] = e
        time = None
        if "timestamp" in p:
            if p.get("clock_id", s.default_clock) == DISTANCE:
                s.time += p["timestamp"]
                time = s.time
            else:
                time = p["timestamp"]
        if "track" in p:
            self.describe(p["track"])
        for a in p.get("attributes", {}).get("attributes", []):
            self.attributes[a["key"]] = a.get("int", a.get("text"))
        self.system.update(p.get("system", {}))
        self.since_55 |= {"gpu_counter", "gpu_frequency"} & p.keys() | {"correlation", "api"} & p.get("track_event", {}).keys()
        if "gpu_counter" in p:
            self.counter_packets += 1
            descriptor = s.find("counters", p["gpu_counter"]["descriptor"], "counter")
            specs = {spec["id"]: spec["name"] for spec in descriptor.get("descriptor", {}).get("specs", [])}
            for c in p["gpu_counter"]["counters"]:
                if c["id"] not in specs:
                    wrong(f"counter {c['id']} is not defined")
                self.samples.append((time, specs.get(c["id"]), descriptor.get("gpu"), c.get("double", c.get("int"))))
        if "gpu_memory" in p:
            m = p["gpu_memory"]
            self.samples.append((time, "memory of a process" if "pid" in m else "memory", m.get("gpu"), m.get("size")))
        if "gpu_frequency" in p:
            self.samples.append((time, "frequency", p["gpu_frequency"].get("gpu"), p["gpu_frequency"].get("khz")))
        if "stack_sample" in p:
            self.stack_sample(s, time, p["stack_sample"], p.get("flags", 0))
        self.gpus += p.get("gpu_info", {}).get("gpus", [])
        if ("render" in p or "track_event" in p) and (time is None or not p.get("flags", 0) & 2):
            wrong("an event without time, or without need of its sequence's state")
        if "render" in p:
            self.render(s, time, p["render"])
            if self.gpu[-1]["kind"] == "kernel":
                self.kernel_bytes += p["bytes"]
        if "track_event" in p:
            self.event(s, time, p["track_event"], p["bytes"])

    def stack_sample(self, s, time, sample, flags):
        """A thread's stack; with a weight, which becomes a counter, if the sequence says what it weighs."""
        if time is None or not flags & 2 or not s.stack_defaults:
            wrong("a stack sample without time, without need of its sequence's state, or of no source")
            return
        if ("weight" in sample) != ("weight" in s.stack_defaults):
            wrong("a stack sample with a weight of nothing, or without one")
        task, frames = s.find("tasks", sample["task"], "stack sample"), []
        for iid in s.find("callstacks", sample["callstack"], "stack sample").get("frames", []):
            frame = s.find("frames", iid, "callstack")
            name = s.find("functions", frame.get("function"), "frame").get("name")
            if "file" in frame:
                name += f" ({s.find('files', frame['file'], 'frame').get('name')}:{frame.get('line', 0)})"
            frames.append(name)
        if not frames:
            wrong("an empty callstack")
        self.stacks.append((time, task.get("pid"), task.get("tid"), s.stack_defaults.get("source"), sample.get("weight"), frames))

    def describe(self, t):
        if t["uuid"] in self.tracks:
            wrong(f"track {t['uuid']} is described twice")
        self.tracks[t["uuid"]] = t

    def render(self, s, time, r):
        queue = s.find("specifications", r["queue"], "queue")
        stage = s.find("specifications", r["stage"], "stage")
        context = s.find("contexts", r["context"], "context")
        kernel = s.find("kernels", r["kernel"], "kernel") if "kernel" in r else {}
        args = {}
        for a in r.get("launch", {}).get("args", []) + kernel.get("args", []):
            value = next(v for k, v in a.items() if k != "name")
            if "text" in a:
                value = s.find("texts", a["text"], "argument").get("name")
            args[s.find("kernel_arg_names", a["name"], "argument").get("name")] = value
        if "device" not in args or "stream" not in args:
            wrong("a GPU event without device or stream")
        if stage.get("description") == "kernel" and not kernel:
            wrong("a kernel that is not described")
        self.queues[queue.get("name")] = queue.get("description")
        self.gpu.append(dict(
            id=r["id"], start=time, ns=r.get("duration", 0), kind=stage.get("description"),
            name=s.find("names", r["name"], "name").get("name"), queue=queue.get("name"), gpu=r.get("gpu", 0), args=args,
            pid=context.get("pid"), launch=r.get("launch", {}), kernel=kernel, waits=r.get("waits", [])))

    def event(self, s, time, e, size):
        track = e.get("track", s.default_track)
        args = {}
        for a in e.get("annotations", []):
            value = next(v for k, v in a.items() if k != "name")
            if "int" in a and value >= 1 << 63:
                value -= 1 << 64
            if "text" in a:
                value = s.find("texts", a["text"], "annotation").get("name")
            args[s.find("arg_names", a["name"], "annotation").get("name")] = value
        name = category = None
        if e["type"] in (1, 3):
            name = s.find("names", e["name"], "name").get("name")
            category = s.find("categories", e["category"][0], "category").get("name")
        self.events.append((time, len(self.events), e["type"], track, category, name, args,
                            e.get("correlation", {}).get("submissions", []) + e.get("flows", []), e.get("double"), size,
                            e.get("correlation", {}).get("waits", [])))

    def take_op_slice(self, s):
        """An op as a slice counts as an op; its flow is its number."""
        if len(s["links"]) != 1:
            wrong(f"op {s['name']} has {len(s['links'])} flows")
        if "device" not in s["args"] or "stream" not in s["args"]:
            wrong("an op without device or stream")
        self.gpu.append(dict(
            id=s["links"][0] if s["links"] else 0, start=s["start"], ns=s["ns"], kind=s["category"], name=s["name"],
            queue=self.tracks[s["track"]].get("name"), gpu="?", args=s["args"], pid=None, launch={}, kernel={}, waits=[]))

    def finish(self):
        """Sorts as the importer does and builds the slices."""
        stacks, slices, instants, samples = {}, [], 0, len(self.samples)
        samples += sum(weight is not None for *_, weight, _ in self.stacks)
        for time, _, kind, track, category, name, args, links, value, size, waits in sorted(self.events, key=lambda e: (e[0], e[1])):
            if track not in self.tracks:
                wrong(f"track {track} was never described")
                self.tracks[track] = {"uuid": track}
            stack = stacks.setdefault(track, [])
            if kind == 1:
                stack.append(dict(start=time, track=track, depth=len(stack), category=category, name=name, args=args,
                                  links=links, bytes=size, waits=waits))
            elif kind == 2:
                if not stack:
                    wrong(f"an end without begin at {time}")
                    continue
                stack[-1]["ns"] = time - stack[-1]["start"]
                stack[-1]["args"].update(args)
                slices.append(stack.pop())
                if slices[-1]["links"]:
                    self.kernel_bytes += slices[-1]["bytes"] + size
            elif kind == 3:
                instants += 1
            else:
                samples += value is not None
        for s in [s for s in slices if s["category"] in ("kernel", "memcpy", "memset")]:
            if self.since_55:
                wrong(f"ops are slices, for readers that know no {self.since_55}")
                self.since_55 = set()
            self.take_op_slice(s)
            slices.remove(s)
        for stack in stacks.values():
            for _ in stack:
                wrong("a slice without end")
        for t in self.tracks.values():
            if "parent" in t and t["parent"] not in self.tracks:
                wrong(f"the parent of track {t.get('name')} was never described")
        return slices, instants, samples


def totals_of(gpu, slices, samples):
    def of(category):
        return [s for s in slices if s["category"] == category]

    found = {"zero_length": sum(not g["ns"] for g in gpu)}
    real = [g for g in gpu if g["ns"]]
    for key, kind in (("kernels", "kernel"), ("memcpys", "memcpy"), ("memsets", "memset")):
        found[key] = sum(g["kind"] == kind for g in real)
    found["kernel_ns"] = sum(g["ns"] for g in real if g["kind"] == "kernel")
    for count, ns, category in (("api_calls", "api_ns", "cuda_api"), ("nvtx_ranges", "nvtx_ns", "nvtx"),
                                ("cpu_ops", "cpu_op_ns", "cpu_op"), ("gaps", "gap_ns", "idle")):
        found[count] = len(of(category))
        found[ns] = sum(s["ns"] for s in of(category))
    found["attention_kernels"] = len(of("attention"))
    found["submissions"] = sum(len(s["links"]) for s in slices)
    found["counter_samples"] = samples
    if real:
        found["first_gpu_ts"] = min(g["start"] for g in real)
        found["last_gpu_end"] = max(g["start"] + g["ns"] for g in real)
    return found


def check(imported, slices, samples, cut):
    ids = {g["id"] for g in imported.gpu}
    if len(ids) != len(imported.gpu):
        wrong("two GPU events have one id")
    ends = {g["id"]: g["start"] + g["ns"] for g in imported.gpu}
    for g in imported.gpu:
        for wait in g["waits"]:
            if wait not in ids:
                wrong(f"{g['name']} waited for an op that is not there")
            elif ends[wait] > g["start"]:
                wrong(f"{g['name']} waited for an op that ended later")
    seen = set()
    for s in slices:
        for wait in s["waits"]:
            if wait not in ids and not cut:
                wrong(f"{s['name']} waited for an op that is not there")
            elif ends.get(wait, s["start"] + 1) <= s["start"]:
                wrong(f"{s['name']} waited for an op that had ended")
        for link in s["links"]:
            if link not in ids and not cut:
                wrong(f"{s['name']} launched an op that is not there")
            if link in seen:
                wrong("two calls launched one op")
            seen.add(link)
    found = totals_of(imported.gpu, slices, samples)
    if imported.stacks:
        found["stack_samples"] = len(imported.stacks)
    for key, value in found.items():
        expected = imported.attributes.get("vptrace.expect." + key)
        value = min(value, (1 << 64) - 1)  # the attribute has 64 bits, and hostile durations add up to more
        if expected != value and not cut:
            wrong(f"{key}: expected {expected}, found {value}")
    for key in imported.attributes:
        if key.startswith("vptrace.expect.") and key[15:] not in found:
            wrong(f"{key} cannot be checked")
    return found


def look(path, options):
    cut = "--cut" in options or "--hole" in options
    imported = Importer()
    all_packets = list(packets_of_protoc(path) if "--protoc" in options else packets(read(path)))
    hole = range(len(all_packets) // 4, len(all_packets) // 3) if "--hole" in options else ()
    for at, p in enumerate(all_packets):
        if at in hole:
            imported.lost.add(p.get("sequence"))  # readers cannot know which: they drop what refers to what they have not seen
            imported.lost.update(imported.sequences)
        elif p.get("flags", 0) & 1 or p.get("sequence") == 1 or p.get("sequence") not in imported.lost:
            imported.lost.discard(p.get("sequence"))
            imported.take(p)
    if cut:
        errors_before = len(errors)
    slices, instants, samples = imported.finish()
    if cut:
        del errors[errors_before:]  # what is open at the cut has no end
    found = check(imported, slices, samples, cut)
    for key in ("nest_clamps", "late_links", "late_slices", "clock_residual_ns"):
        found[key] = imported.attributes.get("vptrace." + key, 0)
    if imported.stacks:
        found["stack_weights"] = sum(stack[4] is not None for stack in imported.stacks)
    found["waits"] = sum(len(g["waits"]) for g in imported.gpu)
    found["call_waits"] = sum(len(s["waits"]) for s in slices)
    found["counter_packets"] = imported.counter_packets
    found["kernel_bytes"], found["realtime"] = imported.kernel_bytes, imported.realtime
    found["instants"], found["packets"] = instants, imported.order
    for key, value in sorted(found.items()):
        print(key, value)
    if "--ids" in options:
        for g in imported.gpu:
            print("op", g["id"])
            print("gpu", g["gpu"])
    if "--slices" in options:
        start = min([s["start"] for s in slices] + [g["start"] for g in imported.gpu], default=0)
        def place(track):
            t = imported.tracks.get(track, {})
            name = t.get("name") or (f"thread {t['thread']['tid']}" if "thread" in t else "?")
            return (place(t["parent"]) + " / " if "parent" in t and imported.tracks.get(t["parent"], {}).get("name") else "") + name
        for s in sorted(slices, key=lambda s: (place(s["track"]), s["start"], s["depth"])):
            print(f"{place(s['track'])}: {s['start'] - start} +{s.get('ns')} depth {s['depth']} {s['category']} "
                  f"\"{s['name']}\" {s['args']} -> {[link & 0xffffffff for link in s['links']]}"
                  + (f" waited for {[w & 0xffffffff for w in s['waits']]}" if s["waits"] else ""))
        for g in sorted(imported.gpu, key=lambda g: g["id"]):
            size = g["launch"].get("grid", {}), g["launch"].get("block", {})
            print(f"GPU {g['gpu']} pid {g['pid']} {g['queue']}: {g['id'] & 0xffffffff} {g['start'] - start} +{g['ns']} "
                  f"{g['kind']} \"{g['name']}\" {[list(d.values()) for d in size]} {g['args']}"
                  + (f" waited for {[w & 0xffffffff for w in g['waits']]}" if g["waits"] else ""))
        for time, name, gpu, value in imported.samples:
            print(f"sample: GPU {gpu} {time - start} {name} {value}")
        for time, pid, tid, source, weight, frames in sorted(imported.stacks, key=lambda s: s[:3]):
            print(f"stack: {source} pid {pid} tid {tid}: {time - start} {'' if weight is None else f'+{weight} '}{';'.join(frames)}")
        for name, description in sorted(imported.queues.items()):
            print(f"queue: {name}: {description}")
        for t in imported.tracks.values():
            parent = imported.tracks.get(t.get("parent"), {})
            if "process" in t:
                print(f"process: {t['process']['pid']} {t['process'].get('name')} rank {t.get('rank')}")
            elif "process" in parent:
                print(f"track: {t.get('name')} of process {parent['process']['pid']}")
            elif "counter" in t and "name" in parent:
                print(f"counter: {parent['name']} / {t.get('name')} {t['counter']}")
            if "counter" in t:
                print(f"counter: {t.get('name')}, {t['counter'].get('unit')}")
        if imported.system:
            print("system:", dict(sorted(imported.system.items())))
        for gpu in imported.gpus:
            print("GPU info:", dict(sorted(gpu.items())))
        for key, value in imported.attributes.items():
            if not key.startswith("vptrace.expect"):
                print("attribute:", key, value)
    finish()



def serve():
    """Says of each line's file what it would say of one, and then "= " and the exit code."""
    for line in sys.stdin:
        words, code = line.split(), 0
        errors.clear()
        try:
            look(words[0], words[1:])
        except SystemExit as e:
            code = e.code
        except Exception as e:  # a file that cannot be read at all
            print(f"wrong: {e!r}", file=sys.stderr)
            code = 1
        print("=", code, flush=True)


if sys.argv[1:] == ["--serve"]:
    sys.stderr = sys.stdout
    serve()
else:
    look(sys.argv[1], sys.argv[2:])
