"""Writes tables that vptrace-analyze hands over as files of Parquet or Arrow, with pyarrow.

    python3 -c PROGRAM parquet|arrow               whether pyarrow can write them
    python3 -c PROGRAM parquet|arrow FOLDER LEVEL  writes files; LEVEL of zstd, 0: not compressed

Standard input has messages: the length of a header in eight bytes, the header, and the buffers whose sizes the header gives, each
filled up to eight bytes. Standard output gets one line for each thing that is waited for: "ok", or why not.
"""

import os
import sys

sys.path = [path for path in sys.path if path]  # not modules of the current folder


def reply(line):
    sys.stdout.write(" ".join(line.split()) + "\n")
    sys.stdout.flush()


def import_pyarrow(module):
    try:
        __import__(module)
    except ImportError as error:
        reply("this python3 has no %s (%s): python3 -m pip install pyarrow" % (module, error))
        sys.exit(0)


def read(size):
    data = sys.stdin.buffer.read(size)
    if len(data) < size:
        sys.exit(0)  # the other side has failed, and says so
    return data


def messages():
    import json

    while True:
        header = json.loads(read(int.from_bytes(read(8), sys.byteorder)).decode())
        if "tables" in header:
            return
        yield header, [read(size + -size % 8)[:size] for size in header.get("sizes", ())]


class Columns:
    """What a table's batches are made of."""

    def __init__(self, pa, columns):
        types = {"integer": pa.int64(), "number": pa.float64()}
        self.pa = pa
        self.schema = pa.schema([
            pa.field(column["name"], types.get(column["type"], pa.large_string()),
                     metadata={key: column[key] for key in ("unit", "help") if key in column})
            for column in columns])

    def array(self, kind, rows, buffers):
        pa = self.pa
        known, values = pa.py_buffer(next(buffers)), pa.py_buffer(next(buffers))
        if kind != pa.large_string():
            return pa.Array.from_buffers(kind, rows, [known, values])
        ends, texts = next(buffers), pa.py_buffer(next(buffers))
        texts = pa.Array.from_buffers(kind, len(ends) // 8 - 1, [None, pa.py_buffer(ends), texts])
        return texts.take(pa.Array.from_buffers(pa.int32(), rows, [known, values]))

    def batch(self, rows, buffers):
        buffers = iter(buffers)
        return self.pa.RecordBatch.from_arrays(
            [self.array(field.type, rows, buffers) for field in self.schema], schema=self.schema)


def opener(form, level):
    import pyarrow as pa

    if form == "parquet":
        import pyarrow.parquet as parquet

        packing = {"compression": "zstd", "compression_level": level} if level else {"compression": "none"}
        return lambda path, schema: parquet.ParquetWriter(path, schema, **packing)
    options = pa.ipc.IpcWriteOptions(compression=pa.Codec("zstd", compression_level=level) if level else None)
    return lambda path, schema: pa.ipc.new_file(path, schema, options=options)


def write(form, folder, level):
    import pyarrow as pa

    new, tables, writers = opener(form, level), [], []
    for header, buffers in messages():
        if "columns" in header:
            tables.append(Columns(pa, header["columns"]))
            writers.append(new("%s/%s" % (folder, header["file"]), tables[-1].schema))
        else:
            number = header["table"]
            writers[number].write_batch(tables[number].batch(header["rows"], buffers))
    for writer in writers:
        writer.close()


def main():
    import_pyarrow("pyarrow")
    if sys.argv[1] == "parquet":
        import_pyarrow("pyarrow.parquet")
    reply("ok")
    if len(sys.argv) > 2:
        write(sys.argv[1], sys.argv[2], int(sys.argv[3]))
        reply("ok")


try:
    main()
except KeyboardInterrupt:
    sys.exit(1)
except Exception as error:  # pylint: disable=broad-except
    reply("%s: %s" % (type(error).__name__, error))
    os._exit(1)  # files that are not complete would complain when they are forgotten
