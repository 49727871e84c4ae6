# SPDX-License-Identifier: Apache-2.0
"""`Trace.device_kernels` and `Trace.device_copies` of real traces, beside a brute force over their JSON."""

import collections
import decimal
import gzip
import json
import re
from pathlib import Path

import pytest

import opscope

SAMPLES = Path(__file__).parents[2].parent / "shared" / "samples" / "kineto"
NAMES = sorted(path.name for path in SAMPLES.glob("*.json.gz") if path.name.startswith(("cuda_", "diff_", "rocm_")))
SMALL = 65536

# Written anew after TensorFlow's and PyProf's lists, for the kernels that the samples have.
TENSOR_CORES = re.compile(
    r"[hscdi](884|1688|8816)|16816|tensorop|tensor\d+x8x|hmma|xmma_(gemm|implicit)|nvjet|conv1x1", re.I
)

# The operators of the samples that could use them.
ELIGIBLE = re.compile(
    r"aten::(addmm|bmm|mm|baddbmm|linear|matmul|_?convolution|convolution_backward|cudnn_convolution(_backward_\w+)?)"
)

pytestmark = pytest.mark.skipif(not NAMES, reason="no ../shared/samples here")


class Sample:
    def __init__(self, name):
        document = json.loads(gzip.decompress((SAMPLES / name).read_bytes()), parse_float=decimal.Decimal)
        self.events = [e for e in document["traceEvents"] if e.get("ph") == "X"]
        self.works = [e for e in self.events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
        self.kernels = [e for e in self.works if e["cat"] == "kernel"]
        self.copies = [e for e in self.works if e["cat"] == "gpu_memcpy"]
        self.calls = {}  # by correlation: the one that begins first
        for e in self.events:
            number = e.get("args", {}).get("correlation")
            if e.get("cat") in ("cuda_runtime", "cuda_driver") and number:
                self.calls.setdefault(number, e)
                if e["ts"] < self.calls[number]["ts"]:
                    self.calls[number] = e
        self.trace = opscope.open(SAMPLES / name)


@pytest.fixture(scope="module", params=NAMES)
def sample(request):
    return Sample(request.param)


def ns(event):
    begin = int(event["ts"] * 1000)
    return begin, begin + int(event["dur"] * 1000)


def length(event):
    return ns(event)[1] - ns(event)[0]


def union(intervals):
    covered, reached = 0, None
    for begin, end in sorted(intervals):
        if reached is None or begin > reached:
            covered, reached = covered + end - begin, end
        elif end > reached:
            covered, reached = covered + end - reached, end
    return covered


def rows_by(events, key):
    groups = collections.defaultdict(list)
    for event in events:
        groups[key(event)].append(event)
    return groups


def three(value):
    return "x".join(str(number) for number in value)


def test_kernels_are_those_of_a_brute_force(sample):
    expected = {}
    whole = {
        device: sum(map(length, of)) for device, of in rows_by(sample.kernels, lambda e: e["args"]["device"]).items()
    }
    for (device, name), of in rows_by(sample.kernels, lambda e: (e["args"]["device"], e["name"])).items():
        shapes = collections.Counter(
            (tuple(e["args"]["grid"]), tuple(e["args"]["block"])) for e in of if "grid" in e["args"]
        )
        most = min(shapes, key=lambda shape: (-shapes[shape], shape)) if shapes else ((), ())
        told = [e["args"]["est. achieved occupancy %"] for e in of if "est. achieved occupancy %" in e["args"]]
        times = list(map(length, of))
        expected[device, name] = {
            "count": len(of),
            "total_ns": sum(times),
            "mean_ns": sum(times) // len(of),
            "min_ns": min(times),
            "max_ns": max(times),
            "share": pytest.approx(sum(times) / whole[device], abs=1e-6),
            "grid": three(most[0]),
            "block": three(most[1]),
            "alike": shapes[most],
            "occupancy": pytest.approx(sum(told) / len(told) / 100, abs=1e-6) if told else None,
            "used": TENSOR_CORES.search(name) is not None,
        }
    rows = sample.trace.device_kernels()
    ours = {(row["device"], row["name"]): row | {"used": row["tensor_cores"] == "used"} for row in rows}
    assert {key: {field: ours[key][field] for field in row} for key, row in expected.items()} == expected
    assert len(rows) == len(expected)
    assert [row["total_ns"] for row in rows] == sorted((row["total_ns"] for row in rows), reverse=True)


def test_the_operator_is_the_one_around_the_call(sample):
    """Of kernels whose calls all stand in an operator: the innermost one of the thread at the call's begin."""
    operators = rows_by((e for e in sample.events if e.get("cat") == "cpu_op"), lambda e: (e["pid"], e["tid"]))

    def operator_of(kernel):
        call = sample.calls.get(kernel["args"].get("correlation"))
        if call is None:
            return None
        begin, end = ns(call)
        around = [e for e in operators[call["pid"], call["tid"]] if ns(e)[0] <= begin and end <= ns(e)[1]]
        return max(around, key=lambda e: (ns(e)[0], -ns(e)[1]))["name"] if around else None

    names = rows_by(sample.kernels, lambda e: (e["args"]["device"], e["name"]))
    rows = {(row["device"], row["name"]): row for row in sample.trace.device_kernels()}
    # Looking at all operators for each kernel takes long: kernels that are launched a few times are enough.
    for key, of in sorted(names.items(), key=lambda item: len(item[1]))[:20]:
        found = [(operator_of(e), length(e)) for e in of]
        if any(operator is None for operator, _ in found):
            continue
        times = collections.Counter()
        for operator, time in found:
            times[operator] += time
        assert rows[key]["operators"] == len(times), key
        assert rows[key]["eligible"] == sum(ELIGIBLE.fullmatch(operator) is not None for operator, _ in found), key
        assert rows[key]["operator"] == min(times, key=lambda name: (-times[name], name)), key


def test_copies_are_those_of_a_brute_force(sample):
    expected = {}
    for key, of in rows_by(sample.copies, lambda e: (e["args"]["device"], e["name"])).items():
        device, name = key
        kind, source, target = re.fullmatch(r"Memcpy (\w+) \((.*) -> (.*)\)", name).groups()
        kernels = [ns(e) for e in sample.kernels if e["args"]["device"] == device]
        told = [e for e in of if "bytes" in e["args"]]
        timed = [e for e in told if length(e) > 0]
        small = [e for e in told if e["args"]["bytes"] <= SMALL]
        launched = [e for e in of if e["args"].get("correlation") in sample.calls]

        def waits(event, kind=kind, memories=(source, target)):
            call = sample.calls[event["args"]["correlation"]]["name"]
            blocks = "Async" not in call or "Pageable" in memories
            return "Memcpy" in call and kind != "DtoD" and blocks

        waited = [e for e in launched if waits(e)]
        time = sum(map(length, timed))
        expected[device, kind, source, target] = {
            "count": len(of),
            "total_ns": sum(map(length, of)),
            "exposed_ns": union(kernels + [ns(e) for e in of]) - union(kernels),
            "bytes": sum(e["args"]["bytes"] for e in told) if told else None,
            "bytes_per_second": sum(e["args"]["bytes"] for e in timed) * 10**9 // time if time else None,
            "small": len(small),
            "small_ns": sum(map(length, small)),
            "launched": len(launched),
            "synchronous": len(waited),
            "synchronous_ns": sum(map(length, waited)),
        }
    rows = sample.trace.device_copies(small_bytes=SMALL)
    ours = {(row["device"], row["kind"], row["source"], row["target"]): row for row in rows}
    assert {key: {field: ours[key][field] for field in row} for key, row in expected.items()} == expected
    assert len(rows) == len(expected)


def test_time_of_tensor_cores_is_a_union_of_their_kernels(sample):
    for row in sample.trace.devices():
        of = [e for e in sample.kernels if e["args"]["device"] == row["device"] and TENSOR_CORES.search(e["name"])]
        stream = [e for e in of if row["stream"] in ("all", str(e["tid"]))]
        assert row["tensor_core_ns"] == union(map(ns, stream))
        assert row["tensor_core_ns"] <= row["tensor_core_eligible_ns"] <= row["kernel_ns"]


def test_chosen_spans_alone_count(sample):
    assert sample.trace.device_kernels(where="kind = copy") == []
    assert sample.trace.device_copies(where="kind = kernel") == []
