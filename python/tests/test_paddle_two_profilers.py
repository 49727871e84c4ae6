# SPDX-License-Identifier: Apache-2.0
"""Two Profiler objects of opscope.paddle in one process refuse where those of paddle.profiler do, in words of use."""

import pathlib

import pytest
from paddle_runs import run_code, run_python

pytestmark = pytest.mark.framework("paddle")

PROGRAM = pathlib.Path(__file__).with_name("paddle_two_profilers.py")
SEED, ORDERS = 38, 150
REFUSAL = (
    "RuntimeError: this Profiler cannot record: it was made while another Profiler existed, and Paddle has one for "
    "each process; stop() the other one, delete every reference to it, and make this one anew"
)


@pytest.fixture(scope="module")
def both():
    return [run_python([str(PROGRAM), side, str(SEED), str(ORDERS)]) for side in ("paddle.profiler", "opscope.paddle")]


def endings(orders):
    return [end for told, _ in orders for _, _, end in told[2:] if end]


def test_calls_fail_where_the_originals_fail(both):
    theirs, ours = (
        [(told[:2], [(what, name, bool(end)) for what, name, end in told[2:]]) for told, _ in orders] for orders in both
    )
    assert ours == theirs, f"seed {SEED}"


def test_each_refusal_says_what_to_do(both):
    theirs, ours = map(endings, both)
    assert {end.partition(":")[0] for end in theirs} == {"AttributeError"}
    assert len(ours) > 20
    assert set(ours) == {REFUSAL}


def test_results_beside_a_refused_object_are_those_of_the_original(both):
    theirs, ours = ([results for _, results in orders] for orders in both)
    assert sum(map(len, theirs)) > 10
    assert ours == theirs, f"seed {SEED}"


def test_what_the_refusal_says_to_do_works():
    found = run_code(
        """
import opscope.paddle as profiler
quiet = dict(on_trace_ready=lambda prof: None)
first, second = profiler.Profiler(**quiet), profiler.Profiler(**quiet)
first.start()
try:
    second.start()
except RuntimeError:
    first.stop()
    del first
    second = profiler.Profiler(**quiet)
second.start()
paddle.add(ones, ones)
second.stop()
print(json.dumps("add dygraph" in [row["name"] for row in second.trace.spans]))
"""
    )
    assert found is True


def test_a_refused_start_leaves_the_timer_to_the_profiler_that_runs():
    found = run_code(
        """
import opscope.paddle as profiler
from paddle.profiler.timer import benchmark
quiet = dict(on_trace_ready=lambda prof: None)
first, second = profiler.Profiler(**quiet), profiler.Profiler(**quiet)
first.start()
first.step()
try:
    second.start()
except RuntimeError:
    first.step()
steps = benchmark().current_event.total_iters
first.stop()
print(json.dumps([steps, len(benchmark().events.items)]))
"""
    )
    assert found == [2, 0]
