# SPDX-License-Identifier: Apache-2.0
"""Protobufs as paddle.profiler writes them, of invented events: with devices, which a CPU has not.

Encoded by hand, so that the tests owe nothing to our own writer.
"""

import random
import struct

KERNEL, MEMCPY, MEMSET = 4, 5, 6
FORWARD, PROFILE_STEP, COMMUNICATION = 9, 2, 12


def varint(value):
    value &= (1 << 64) - 1
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes([*encoded, value])


def field(number, value):
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def message(*fields):
    """Of pairs of a number and a value; None is left out."""
    return b"".join(field(number, value) for number, value in fields if value is not None)


def fields(*values):
    """Numbered from 1 on."""
    return message(*enumerate(values, 1))


class Host:
    def __init__(self, name, kind, start, end):
        self.name, self.kind, self.start, self.end = name, kind, start, end
        self.children, self.calls, self.memory = [], [], []
        self.supplement = None


class Call:
    def __init__(self, name, start, end, correlation):
        self.name, self.start, self.end, self.correlation = name, start, end, correlation
        self.devices = []


class Device:
    def __init__(self, name, kind, start, end, device, stream, detail):
        self.name, self.kind, self.start, self.end = name, kind, start, end
        self.device, self.stream, self.detail = device, stream, detail


class Memory:
    def __init__(self, time, kind, address, increase, place, totals):
        self.time, self.kind, self.address, self.increase = time, kind, address, increase
        self.place, self.totals = place, totals


def encode_device(event, correlation):
    number = {KERNEL: 9, MEMCPY: 10, MEMSET: 11}[event.kind]
    return fields(
        message(
            (1, event.name), (2, event.kind), (3, event.start), (4, event.end), (5, event.device), (6, 1),
            (7, event.stream), (8, correlation), (number, event.detail),
        )
    )  # fmt: skip


def encode_node(number, parent, node, process, thread):
    calls = [
        message(
            (1, fields(call.name, call.start, call.end, process, thread, call.correlation, 211)),
            *((2, encode_device(event, call.correlation)) for event in call.devices),
        )
        for call in node.calls
    ]
    memory = [
        fields(fields(m.time, m.kind, m.address, process, thread, m.increase, m.place, *m.totals)) for m in node.memory
    ]
    return message(
        (1, number),
        (2, parent),
        (3, fields(node.name, node.kind, node.start, node.end, *((0, 0) if parent < 0 else (process, thread)))),
        *((4, call) for call in calls),
        *((5, event) for event in memory),
        (6, node.supplement and fields(fields(*node.supplement[:2], process, thread, *node.supplement[2:]))),
    )


def encode_thread(root, process, thread):
    nodes, queue = [], [(root, -1)]
    for number, (node, parent) in enumerate(queue):
        nodes.append((2, encode_node(number, parent, node, process, thread)))
        queue += [(child, number) for child in node.children]
    return message((1, thread), *nodes)


def encode_file(roots, extra_info, process=4711, span_index=0):
    """``roots``: by number of thread."""
    return message(
        (1, "1.0.2"),
        (2, span_index),
        *((3, encode_thread(root, process, thread)) for thread, root in sorted(roots.items())),
        *((4, fields(key, value)) for key, value in extra_info.items()),
    )


HOST_NAMES = {
    0: ["matmul dygraph", "c_allreduce_sum", "Broadcast_tensors", "conv2d dygraph", "relu", "Global_AddGradNode",
        "an operator with a name that is longer than the column of names by far"],
    1: ["_DataLoaderIterSingleProcess"],
    2: ["ProfileStep#1"],
    7: ["GpuMemcpyAsync:CPU->GPU", "backward", "executor", "GpuMemoryCopy", "GpuMemset"],
    8: ["matmul infer_meta", "matmul compute", "x" * 49, "x" * 50, "x" * 51, "größe der ünïcode 名前 " * 3],
    9: ["Linear", "LeNet"],
    10: ["Gradient Backward"],
    11: ["Optimization Step"],
    12: ["ProcessGroupNCCL::AllReduce", "barrier"],
    13: ["python op"],
    14: ["a", "data_augment", "my_memset_test", "a range of the program with a rather long name, 64 letters "],
}  # fmt: skip
KERNEL_NAMES = [
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "void phi::funcs::VectorizedBroadcastKernel<float, float, phi::funcs::AddFunctor<float>, 2, 1, 4>(float*, int)",
    "void gemm<128, 128>(int)", "plain_kernel", "a<b", "<lambda>(int)", "operator->(int)", "f<(a>b)>(c) const",
    "k" * 90, "k" * 91, "void cutlass::Kernel<" + "very::long::name, " * 9 + ">(Params)", "XCCL_broadcast", "核<x>(y)",
]  # fmt: skip
PLACES = ["Place(cpu)", "Place(gpu:0)", "Place(gpu:1)", "Place(gpu_pinned)"]


WITH_FLOPS = {"matmul dygraph", "conv2d dygraph", "relu"}


class Invention:
    """Random trees as Paddle would build them: children inside parents, calls and memory outside children."""

    def __init__(self, seed, events=150, shapes=False, names=None):
        self.random = random.Random(seed)
        self.shapes = shapes
        self.names = {**HOST_NAMES, **(names or {})}
        self.left = events
        self.correlation = 0
        self.base = 1_790_000_000_000_000_000 + self.random.randrange(10**9)

    def moments(self, count, start, end):
        return sorted(self.random.sample(range(start + 1, end), count))

    def device(self, around):
        kind = self.random.choice([KERNEL, KERNEL, MEMCPY, MEMSET])
        start = around + self.random.randrange(100_000)
        end = start + self.random.choice([0, 1, 999, self.random.randrange(60_000)])
        number = self.random.randrange(1 << 20)
        if kind == KERNEL:
            name = self.random.choice(KERNEL_NAMES)
            sizes = [self.random.randrange(1, 1 << 10) for _ in range(11)]
            detail = fields(*sizes, number, number + 1, number + 2, 1.25, 40.0, self.random.choice([0.5, 0.123456]))
        elif kind == MEMCPY:
            name, detail = "MEMCPY_HtoD", fields(number, "HtoD", "Pageable", "Device")
        else:
            name, detail = "MEMSET", fields(number, "Device", self.random.randrange(256))
        return Device(name, kind, start, end, self.random.randrange(2), self.random.choice([7, 13, 20]), detail)

    def call(self, start, end):
        self.correlation += 1
        call = Call(self.random.choice(["cudaLaunchKernel", "cudaMemcpyAsync"]), start, end, self.correlation)
        call.devices = [self.device(start) for _ in range(self.random.choice([0, 1, 1, 2, 3]))]
        return call

    def supplement(self, time):
        """The original loses shapes when it loads them, so no operator that it has a formula for has any."""
        slots = self.random.sample(["X", "Y", "Größe", "a slot"], self.random.randrange(4))
        sizes = [[[self.random.choice([-1, 1, 3, 640])] * self.random.randrange(4)] * 2 for _ in slots]
        shapes = [message(*((1, message(*((1, size) for size in shape))) for shape in each)) for each in sizes]
        types = [message((1, "FP32"), (1, "INT64")) for _ in slots]
        return (
            time,
            "some_op",
            message(*((1, slot) for slot in slots), *((2, each) for each in shapes)),
            message(*((1, slot) for slot in slots), *((2, each) for each in types)),
            'File "x.py", line 1\n  call()',
            self.random.randrange(5),
        )

    def memory(self, time):
        kind = self.random.choice([0, 0, 1, 1, 2, 3])
        size = self.random.choice([0, 4, 1024, self.random.randrange(1 << 33)])
        totals = [self.random.randrange(1 << 34) for _ in range(4)]
        increase = -size if kind % 2 else size
        return Memory(time, kind, self.random.randrange(1 << 47), increase, self.random.choice(PLACES), totals)

    def fill(self, node, start, end, depth):
        """Children, calls and memory side by side between the two moments."""
        parts = min(self.random.randrange(1, 6), max(0, (end - start) // 40))
        edges = self.moments(2 * parts, start, end) if end - start > 8 * parts else []
        for begin, stop in zip(edges[::2], edges[1::2], strict=True):
            what = self.random.random()
            if what < 0.15:
                node.memory.append(self.memory(begin))
            elif what < 0.35:
                node.calls.append(self.call(begin, stop))
            elif self.left > 0:
                self.left -= 1
                kind = self.random.choice([0, 0, 0, 8, 8, 7, 14, 9, 1, 10, 11, 12, 13])
                child = Host(self.random.choice(self.names[kind]), kind, begin, stop)
                if kind == 0 and self.shapes and child.name not in WITH_FLOPS and self.random.random() < 0.5:
                    child.supplement = self.supplement(begin)
                node.children.append(child)
                if depth < 9:
                    self.fill(child, begin, stop, depth + 1)

    def thread(self, has_steps):
        root = Host("root node", 7, 0, (1 << 64) - 1)
        start, end = self.base, self.base + 40_000_000
        if not has_steps:
            self.fill(root, start, end, 0)
            return root
        edges = [start, *self.moments(self.random.randrange(1, 4), start, end), end]
        for step, (begin, stop) in enumerate(zip(edges, edges[1:], strict=False)):
            node = Host(f"ProfileStep#{step}", PROFILE_STEP, begin, stop - 1)
            root.children.append(node)
            self.left += 20
            self.fill(node, begin, stop - 1, 1)
        return root

    def file(self):
        numbers = self.random.sample(range(1, 100_000), self.random.randrange(1, 5))
        roots = {number: self.thread(at == 0) for at, number in enumerate(numbers)}
        if self.random.random() < 0.3:  # calls of threads that Paddle does not know
            roots[0] = Host("root node", 7, 0, (1 << 64) - 1)
            roots[0].calls = [self.call(self.base + 5, self.base + 10)]
        extra = {"Process Cpu Utilization": "1.020408", "System Cpu Utilization": "0.684211", str(numbers[0]): "main"}
        return encode_file(roots, extra)


# Back --------------------------------------------------------------------------------------------------------------


def read_varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def read_fields(data):
    """Pairs of a number and a value: an integer, or bytes."""
    found, at = [], 0
    while at < len(data):
        key, at = read_varint(data, at)
        if key & 7 == 0:
            value, at = read_varint(data, at)
        else:
            size, at = (4, at) if key & 7 == 5 else read_varint(data, at)
            value, at = data[at : at + size], at + size
        found.append((key >> 3, value))
    return found


def values_of(data, number):
    return [value for key, value in read_fields(data) if key == number]


def last_values(data):
    return dict(read_fields(data))


def decode_node(data):
    node = last_values(data)
    event = last_values(node[3])
    calls = [
        (last_values(values_of(call, 1)[0]), [decode_device(values_of(device, 1)[0]) for device in values_of(call, 2)])
        for call in values_of(data, 4)
    ]
    return {
        "id": node[1],
        "parent": node[2],
        "name": event[1],
        "kind": event[2],
        "times": (event[3], event[4]),
        "owner": (event[5], event[6]),
        "calls": calls,
        "memory": [last_values(values_of(memory, 1)[0]) for memory in values_of(data, 5)],
        "supplements": [values_of(each, 1)[0] for each in values_of(data, 6)],
    }


def decode_device(data):
    event = last_values(data)
    (detail,) = {9, 10, 11} & event.keys()
    return {**event, detail: last_values(event[detail])}


def decode(data):
    """All that is in a protobuf; of a field that is there twice the last value."""
    return {
        "version": values_of(data, 1),
        "span_index": values_of(data, 2),
        "threads": [
            {"thread": values_of(tree, 1), "nodes": [decode_node(node) for node in values_of(tree, 2)]}
            for tree in values_of(data, 3)
        ],
        "extra_info": [tuple(last_values(each).values()) for each in values_of(data, 4)],
        "devices": [tuple(last_values(each).values()) for each in values_of(data, 5)],
    }


def with_first_type(node):
    def event_of(event):
        kinds = values_of(event, 2)
        return message(*((number, value) for number, value in read_fields(event) if number != 2 or value == kinds[0]))

    return message(*((number, event_of(value) if number == 3 else value) for number, value in read_fields(node)))


def rewrite_types(data):
    """The same with the first of several types of an event, which is the one that the original's loader takes."""
    return message(
        *(
            (number, value)
            if number != 3
            else (3, message(*((n, with_first_type(v) if n == 2 else v) for n, v in read_fields(value))))
            for number, value in read_fields(data)
        )
    )
