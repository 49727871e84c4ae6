# SPDX-License-Identifier: Apache-2.0
"""The recorder and the PyTorch source by ctypes, and a decoder of raw chunks (include/opscope/record.h).

Independent of opscope's importer and extension on purpose: what it reads is what the source wrote.
Libraries: OPSCOPE_BUILD names a build folder; torch must be imported before the source is loaded.
"""

import ctypes
import glob
import os
import pathlib
import struct

import torch
from source_table import Source
from window_options import WindowOptions

INPUTS, ALL_THREADS, OVERLOAD_NAMES = 1, 2, 4  # torch_source_flags
NATIVE_ALL, NATIVE_ATTACHED, NATIVE_NONE = 0, 1, 2
KIND_SCOPE, KIND_ASYNC, KIND_INSTANT = 1, 4, 7
RAW_CHUNK, WINDOW_INFO = 2, 1
UNFINISHED, OTHER_THREAD, STEP = 1, 2, 4


class WindowCounts(ctypes.Structure):
    _fields_ = [
        ("recorded", ctypes.c_uint64),
        ("dropped", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("threads", ctypes.c_uint32),
        ("chunks", ctypes.c_uint32),
    ]


class TorchSource(ctypes.Structure):
    _fields_ = [
        ("source", Source),
        ("abi", ctypes.c_uint32),
        ("torch_version", ctypes.c_char_p),
        ("is_traced", ctypes.CFUNCTYPE(ctypes.c_bool)),
        (
            "enter",
            ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t),
        ),
        ("exit", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("set_async", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("hold", ctypes.c_void_p),
        ("probe_capture_mode", ctypes.CFUNCTYPE(ctypes.c_char_p)),
        ("set_probe_result", ctypes.CFUNCTYPE(None, ctypes.c_char_p)),
    ]


SINK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint16, ctypes.c_void_p, ctypes.c_uint64)


def _library(build, pattern):
    found = sorted(glob.glob(str(build / "**" / pattern), recursive=True))
    if not found:
        raise FileNotFoundError(f"no {pattern} under {build}; build the target, or set OPSCOPE_BUILD")
    return found[0]


def _load():
    root = pathlib.Path(__file__).resolve().parents[2]
    build = pathlib.Path(os.environ.get("OPSCOPE_BUILD", root / "build" / "dev"))
    recorder = ctypes.CDLL(_library(build, "libopscope_recorder.so"), mode=ctypes.RTLD_GLOBAL)
    major, minor = torch.__version__.split(".")[:2]
    source = ctypes.CDLL(_library(build, f"libopscope_torch_{major}_{minor}.so"))
    recorder.opscope_window_open.restype = ctypes.c_void_p
    recorder.opscope_window_open.argtypes = [ctypes.POINTER(WindowOptions), ctypes.POINTER(ctypes.c_char_p)]
    for name, result in (("slot", ctypes.c_uint32), ("id", ctypes.c_uint64), ("counts", WindowCounts)):
        function = getattr(recorder, f"opscope_window_{name}")
        function.argtypes, function.restype = [ctypes.c_void_p], result
    for name in ("close", "free"):
        function = getattr(recorder, f"opscope_window_{name}")
        function.argtypes, function.restype = [ctypes.c_void_p], None
    recorder.opscope_window_read.argtypes = [ctypes.c_void_p, SINK, ctypes.c_void_p]
    recorder.opscope_window_read.restype = None
    source.opscope_torch_source.restype = ctypes.POINTER(TorchSource)
    table = source.opscope_torch_source().contents
    table.probe_capture_mode()  # hooks record the operators of the tests, where they fit
    return recorder, table


recorder, source = _load()


class Window:
    """One recording of torch's operators. Use as a context manager, then read `blocks()` or `ranges()`."""

    def __init__(self, flags=0, max_bytes=1 << 30, at_cap=0, native=NATIVE_NONE):
        self.flags, self.session, self.handle = flags, None, None
        self.options = WindowOptions(recorder.opscope_recorder_abi(), at_cap, native, 0, max_bytes, None, None)

    def start(self):
        error = ctypes.c_char_p()
        self.handle = recorder.opscope_window_open(self.options, error)
        if not self.handle:
            raise RuntimeError(error.value)
        self.session = source.source.start(source.source, self.handle, self.flags, error)
        if not self.session:
            self.free()
            raise RuntimeError(error.value)
        return self

    def stop(self):
        source.source.stop(self.session)
        self.close()

    def close(self):
        recorder.opscope_window_close(self.handle)

    def counts(self):
        return recorder.opscope_window_counts(self.handle)

    def free(self):
        handle, self.handle = self.handle, None
        if handle:
            recorder.opscope_window_free(handle)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def blocks(self):
        blocks = []
        sink = SINK(lambda _, kind, data, size: blocks.append((kind, ctypes.string_at(data, size))))
        recorder.opscope_window_read(self.handle, sink, None)
        return blocks

    def ranges(self):
        """All records, decoded, per thread in order of start."""
        decoded = [r for kind, data in self.blocks() if kind == RAW_CHUNK for r in decode_chunk(data)]
        return sorted(decoded, key=lambda r: (r["os_thread"], r["start"], r["depth"]))


def decode_chunk(data):
    header = struct.unpack_from("<IHHIIQQIIQQQq32sIIQQ", data)
    magic, _, header_bytes, size, _, _, os_thread, thread_index, _, logical = header[:10]
    count = header[14]
    assert magic == 0x4B48434F and size == len(data), "not a chunk"
    for i in range(count):
        start, value, name, side, depth, kind, flags, origin, scope, _ = struct.unpack_from(
            "<QQIIHBBBBH", data, (header_bytes or 128) + 32 * i
        )
        record = {
            "start": start,
            "value": value,
            "name": _name(data, name),
            "depth": depth,
            "kind": kind,
            "flags": flags,
            "source": origin,
            "scope": scope,
            "os_thread": os_thread,
            "thread_index": thread_index,
            "thread": logical,
            "sequence": -1,
            "forward_thread": 0,
            "overload": "",
            "keywords": None,
            "handle": 0,
            "start_thread": None,
            "arguments": [],
        }
        if side:
            _decode_payload(data, side, record)
        yield record


def _name(data, offset):
    if offset == 0:
        return None
    (size,) = struct.unpack_from("<I", data, offset)
    return data[offset + 8 : offset + 8 + size].decode("utf-8", "replace")


def _decode_payload(data, at, record):
    size, fields, arguments = struct.unpack_from("<IHH", data, at)
    end, at = at + size, at + 8
    if fields & 1:
        record["sequence"], record["forward_thread"] = struct.unpack_from("<qQ", data, at)
        at += 16
    if fields & 2:
        record["overload"] = _name(data, struct.unpack_from("<I", data, at)[0])
        at += 8
    if fields & 4:
        record["start_thread"] = struct.unpack_from("<I", data, at)[0]
        at += 8
    assert not fields & (8 | 16), "a torch range has no address and no device"
    if fields & 32:
        record["keywords"] = _name(data, struct.unpack_from("<I", data, at)[0])
        at += 8
    if fields & 64:
        record["handle"] = struct.unpack_from("<Q", data, at)[0]
        at += 8
    if fields & 1024:  # the arguments are another payload's
        of = {"arguments": []}
        _decode_payload(data, struct.unpack_from("<I", data, at)[0], of)
        record["arguments"] = of["arguments"]
        return
    for _ in range(arguments):
        argument, at = _decode_argument(data, at)
        record["arguments"].append(argument)
    assert at <= end <= at + 4, "the payload's size does not fit its arguments"


def _words(data, at, count, wide):
    return list(struct.unpack_from(f"<{count}{'q' if wide else 'i'}", data, at)), at + count * (8 if wide else 4)


def dense_strides(sizes):
    strides, step = [], 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= size
    return strides


def _decode_argument(data, at):
    (tag,) = struct.unpack_from("<I", data, at)
    at += 4
    kind, element, count = tag & 15, tag >> 4 & 255, tag >> 16
    contiguous, wide, no_strides = tag & 1 << 12, tag & 1 << 13, tag & 1 << 14
    if no_strides:
        count &= 0xFFF  # the layout is above
    if kind == 1:
        sizes, at = _words(data, at, count, wide)
        strides = []
        if contiguous:
            strides = dense_strides(sizes)
        elif not no_strides:
            strides, at = _words(data, at, count, wide)
        return ("tensor", element, sizes, strides), at
    if kind in (3, 11):
        values = []
        for _ in range(count):
            value, at = _decode_argument(data, at)
            values.append(value)
        return ("tensors" if kind == 3 else "scalars", values), at
    if kind == 4:
        return ("int", struct.unpack_from("<q", data, at)[0]), at + 8
    if kind == 5:
        return ("double", struct.unpack_from("<d", data, at)[0]), at + 8
    if kind == 6:
        return ("bool", bool(count)), at
    if kind == 7:
        values, at = _words(data, at, count, wide)
        return ("ints", values), at
    if kind == 8:
        return ("doubles", list(struct.unpack_from(f"<{count}d", data, at))), at + 8 * count
    if kind == 9:
        values, at = _words(data, at, count, False)
        return ("bools", [bool(v) for v in values]), at
    if kind == 10:
        return ("complex", complex(*struct.unpack_from("<2d", data, at))), at + 16
    assert kind in (0, 2), f"unknown argument kind {kind}"
    return ("undefined",) if kind == 2 else ("other",), at
