# SPDX-License-Identifier: Apache-2.0
"""enable_cupti=1 on a wheel without CUPTI: opscope's own records beside MegEngine's, on a simulated GPU."""

import collections
import json

import pytest
from built import built

import opscope

FAKE = built("tests/fake_cupti/libfake_cupti.so")
MADE = "enable_cupti=1, profile_device=1"
LAUNCHES = """
import ctypes, json, warnings
import numpy
from megengine.core._imperative_rt import core2
from opscope.megengine import parts
fake = ctypes.CDLL(FAKE)
fake.fake_cuda_launch.argtypes = [ctypes.c_uint32, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_uint32]
rows = mge.tensor(numpy.ones((8, 8), "float32"))
F.matmul(rows, rows).numpy()  # asks for types the first time

def step(name=b"_Z6matmulPfS_"):
    F.matmul(rows, rows).numpy()
    fake.fake_cuda_launch(7, name, 70_000, 640, 128)
    fake.fake_cuda_memcpy(7, 1, 1, 3, 4096, 0)
"""


@pytest.fixture
def run_on_fake(run):
    """Runs a program with the simulated CUPTI; what it prints last, as JSON."""
    if not FAKE.exists():
        pytest.skip(f"the simulated CUPTI was not built: {FAKE}")

    def run_program(program, scenario="", named=True, **variables):
        variables |= {"OPSCOPE_FAKE_CUPTI": scenario, "OPSCOPE_CUPTI_LIB": str(FAKE) if named else ""}
        ran = run(f"FAKE = {str(FAKE)!r}{LAUNCHES}{program}", **variables)
        ran.result = json.loads(ran.printed.splitlines()[-1])
        return ran

    return run_program


def counts(trace):
    return collections.Counter(trace.spans.text("name"))


WINDOWS = """
for name, options in (("without", {}), ("with", {"enable_cupti": 1})):
    profiler = Profiler(name, **options)
    with warnings.catch_warnings(record=True) as caught, profiler:
        for _ in range(3): step()
        core2.full_sync()
    profiler.save(f"{name}.opscope")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        profiler.dump()
    print(json.dumps([str(warning.message) for warning in caught]))
"""


COUNTERS_OF_THE_RUN = ("gpu_usage_ratio", "gpu_usgae_ratio", "train_time_ratio")


def shape(path):
    """What a timeline holds, whatever its times: how often each event, each key, and the tracks.

    A track by its name: threads are numbered in the order of their first records, and the worker may be the first.
    MegEngine puts the counters of the whole run on the first thread, so these are compared without their track.
    """
    content = json.loads(path.read_text())
    events = content["traceEvents"]
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    told = collections.Counter(
        (
            event["ph"],
            event["name"].rstrip("0123456789"),
            "" if event["name"] in COUNTERS_OF_THE_RUN else names[event["tid"]],
            *sorted(event),
            *sorted(event.get("args", ())),
        )
        for event in events
        if event.get("cat") != "TensorProp"  # there where the worker was slower than who waited
    )
    return told, sorted(content), {event["pid"] for event in events}


def test_kernels_and_copies_are_in_the_trace_and_the_timeline_stays_the_originals(run_on_fake):
    ran = run_on_fake(WINDOWS)
    with_cuda, without = (opscope.open(ran.folder / f"{name}.opscope") for name in ("with", "without"))
    found = counts(with_cuda)
    assert found["matmul(float*, float*)"] == 3 and found["cudaLaunchKernel"] == 3
    assert found["Memcpy HtoD (Pageable -> Device)"] == 3
    assert found["MatrixMul"] == counts(without)["MatrixMul"] == 6  # on the worker and on MegEngine's own device
    assert sum(row["category"] == "ac2g" for row in with_cuda.flows) == 6
    assert [row["kind"] for row in with_cuda.problems] == []
    theirs, ours = (shape(next((ran.folder / name).iterdir())) for name in ("without", "with"))
    assert ours == theirs, (ours[0] - theirs[0], theirs[0] - ours[0])
    assert "CUDA" in ran.result[0] and len(ran.result) == 1, "what the file has not is told"


def test_devices_of_both_recorders_keep_their_numbers_and_threads_are_not_mixed(run_on_fake):
    ran = run_on_fake(WINDOWS)
    trace = opscope.open(ran.folder / "with.opscope")
    tracks = list(trace.tracks)
    assert [(row["name"], row["tid"], row["device"]) for row in tracks if row["name"] in ("xpux:0", "stream 7 ")] == [
        ("stream 7 ", 7, 0),
        ("xpux:0", 2, None),
    ]
    of_calls = {tracks[row["track"]]["name"] for row in trace.spans if row["category"] == "cuda_runtime"}
    assert of_calls.isdisjoint({"interpreter", "worker"})


def test_a_window_in_parts_has_one_window_of_cuda(run_on_fake):
    ran = run_on_fake(
        """
parts._FIRST = parts._SHORTEST = 0.001
parts._RECORDS = 1
stops, stop = [], core2.stop_profile
core2.stop_profile = lambda: stops.append(1) or stop()
profiler = Profiler(enable_cupti=1)
launched = 0
with profiler:
    while len(stops) < 5 and launched < 100_000:
        step()
        launched += 1
profiler.save("x.opscope")
profiler._forget_results()
print(json.dumps([launched, len(stops)]))
"""
    )
    launched, stops = ran.result
    trace = opscope.open(ran.folder / "x.opscope")
    assert stops > 4
    found = counts(trace)
    assert found["matmul(float*, float*)"] == found["cudaLaunchKernel"] == launched
    assert found["MatrixMul"] == 2 * launched and found["StartProfile"] == 1
    assert [row["kind"] for row in trace.problems] == []


def test_times_of_both_recorders_are_on_one_axis(run_on_fake):
    ran = run_on_fake(WINDOWS)
    trace = opscope.open(ran.folder / "with.opscope")
    tracks = list(trace.tracks)
    rows = [row for row in trace.spans if row["name"] == "cudaLaunchKernel"]
    dispatched = sorted(row["start"] for row in trace.spans if row["name"] == "OpDispatch")
    waited = sorted(
        row["start"] + row["duration"]
        for row in trace.spans
        if row["name"] == "TensorWaitProp" and tracks[row["track"]]["name"] == "interpreter"
    )
    launched = sorted(row["start"] for row in rows)
    # Each step multiplies, waits for the product, launches.
    slack = 1_000_000  # the clocks of both are read apart
    assert all(begin < end < launch + slack for begin, end, launch in zip(dispatched, waited, launched, strict=True))
    assert all(launch < begin + slack for launch, begin in zip(launched, dispatched[1:], strict=False))


@pytest.mark.parametrize(
    ("scenario", "words"), [("version=12.9;driver=none", "no driver"), ("version=13.5;holder=recording", "in use")]
)
def test_a_named_cupti_that_records_nothing_says_why_and_the_rest_is_kept(run_on_fake, scenario, words):
    ran = run_on_fake(
        """
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    profiler = Profiler(enable_cupti=1)
    with profiler: F.add(x, x)
profiler.dump()
problems = {row["kind"]: row["message"] for row in profiler.trace.problems}
print(json.dumps([[str(warning.message) for warning in caught], problems]))
""",
        scenario,
    )
    [told], problems = ran.result
    assert "CUDA" in told and words in told
    assert words in problems["device_not_recorded"]
    assert len(ran.files) == 1


def test_without_any_cupti_the_original_is_heard(run_on_fake):
    ran = run_on_fake(
        """
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    profiler = Profiler(enable_cupti=1)
    with profiler: step()
print(json.dumps([len(caught), [row["kind"] for row in profiler.trace.problems]]))
""",
        named=False,
        OPSCOPE_LOG="info",
    )
    assert ran.result == [0, []]
    assert "CuPTI unavailable" in ran.printed + ran.told and "opscope: enable_cupti: CUDA is not recorded" in ran.told


def test_cupti_is_not_touched_unless_it_is_asked_for(run_on_fake):
    ran = run_on_fake(
        """
profiler = Profiler()
with profiler: step()
print(json.dumps([row["name"] for row in profiler.trace.spans if row["name"].startswith("cuda")]))
"""
    )
    assert ran.result == []


def test_a_window_that_megengine_writes_says_that_cuda_is_not_in_it(run_on_fake):
    ran = run_on_fake(
        """
from opscope.megengine import AdapterMissing, window
def missing(): raise AdapterMissing("not known")
window.source = missing
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    profiler = Profiler(enable_cupti=1)
    with profiler: step()
profiler.dump()
print(json.dumps([str(warning.message) for warning in caught]))
"""
    )
    assert ran.result == ["CUDA is not in this window of MegEngine: not known"] and len(ran.files) == 1
