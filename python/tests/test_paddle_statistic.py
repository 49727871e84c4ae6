# SPDX-License-Identifier: Apache-2.0
"""opscope.paddle.profiler_statistic takes invented nodes, and those of our results."""

import dataclasses

import pytest

pytestmark = pytest.mark.framework("paddle")


@dataclasses.dataclass
class Node:
    """What Paddle's statistics read of a call on the host."""

    name: str
    type: object
    start_ns: int
    end_ns: int
    process_id: int = 1000
    thread_id: int = 1001
    correlation_id: int = 0
    children_node: list = dataclasses.field(default_factory=list)
    runtime_node: list = dataclasses.field(default_factory=list)
    device_node: list = dataclasses.field(default_factory=list)
    mem_node: list = dataclasses.field(default_factory=list)
    input_shapes: dict = dataclasses.field(default_factory=dict)
    dtypes: dict = dataclasses.field(default_factory=dict)
    callstack: str = ""
    attributes: dict = dataclasses.field(default_factory=dict)


@pytest.fixture
def invented():
    """One step: forward with an operator in it, backward with another, a copy by the program."""
    from opscope.paddle import TracerEventType as Kind

    inner = Node("conv2d infer_shape", Kind.OperatorInner, 25, 40)
    forward = Node(
        "Net", Kind.Forward, 10, 60, children_node=[Node("conv2d", Kind.Operator, 20, 50, children_node=[inner])]
    )
    backward = Node("Gradient Backward", Kind.Backward, 60, 90)
    backward.children_node = [Node("conv2d_grad", Kind.Operator, 65, 85)]
    mine = Node("mine", Kind.PythonUserDefined, 91, 99)
    step = Node("ProfileStep#0", Kind.ProfileStep, 0, 100, children_node=[forward, backward, mine])
    return {"thread1001": Node("Root Node", Kind.UserDefined, 0, 2**64 - 1, children_node=[step])}


def test_invented_nodes_are_counted_by_time_and_by_operator(invented):
    from opscope.paddle import TracerEventType as Kind
    from opscope.paddle import profiler_statistic

    data = profiler_statistic.StatisticData(
        invented, {"Process Cpu Utilization": "1.0", "System Cpu Utilization": "1.0"}
    )
    times = data.time_range_summary
    kinds = (Kind.ProfileStep, Kind.Forward, Kind.Backward, Kind.Operator, Kind.OperatorInner, Kind.PythonUserDefined)
    assert [times.get_cpu_range_sum(kind) for kind in kinds] == [100, 50, 30, 50, 15, 8]
    items = data.event_summary.items
    assert {name: (item.call, item.cpu_time) for name, item in items.items()} == {
        "conv2d": (1, 30),
        "conv2d_grad": (1, 20),
    }
    assert items["conv2d"].operator_inners["conv2d infer_shape"].cpu_time == 15
    assert data.event_summary.userdefined_items["mine"].cpu_time == 8
    table = profiler_statistic._build_table(
        data, sorted_by=profiler_statistic.SortedKeys.CPUTotal, time_unit="ns", views=None
    )
    assert table.index("conv2d ") < table.index("conv2d_grad ")
    assert "30.00 / 30.00 / 30.00 / 30.00 / 60.00" in table, "total, mean, most, least, percent of operators"


def test_nodes_of_our_results_give_the_tables_that_our_summary_prints():
    import paddle

    import opscope.paddle as profiler
    from opscope.paddle import profiler_statistic

    ones = paddle.ones([2, 3])
    with profiler.Profiler(on_trace_ready=lambda _: None, targets=[profiler.ProfilerTarget.CPU]) as prof:
        for _ in range(3):
            paddle.add(ones, ones)
            with profiler.RecordEvent("mine"):
                paddle.tanh(ones)
            prof.step()
    result = prof.profiler_result
    data = profiler_statistic.StatisticData(result.get_data(), result.get_extra_info())
    theirs = profiler_statistic._build_table(
        data, sorted_by=profiler.SortedKeys.CPUTotal, op_detail=True, thread_sep=False, time_unit="ms", views=None
    )
    ours = result.summary(profiler.SortedKeys.CPUTotal, True, False, "ms", None)
    assert "tanh dygraph" in ours
    assert ours == theirs
