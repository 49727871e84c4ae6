# SPDX-License-Identifier: Apache-2.0
"""The always-on timer of nodes of CUDA graphs and of named regions, on a simulated device."""

import warnings

import pytest

pytest.importorskip("torch")
pytest.importorskip("numpy")

from cuda_program import PROGRAM, run_program

pytestmark = pytest.mark.framework("torch")

TIMED = (
    PROGRAM
    + """
from opscope.torch.node_timer import NodeTimerObserver, ObserverAnnotationSettings
fake.fake_cuda_graph_add_kernel.restype = ctypes.c_uint64
fake.fake_cuda_graph_add_kernel.argtypes = [ctypes.c_uint32, ctypes.c_char_p, ctypes.c_uint64]
graph = fake.fake_cuda_graph_create()
node = fake.fake_cuda_graph_add_kernel(graph, b"node", 3000)

def launch(stream=7):
    fake.fake_cuda_launch(stream, b"kernel", 2000, 1, 1)

def done():
    fake.fake_cuda_device_synchronize(0)
"""
)


def test_works_are_drained_as_columns_by_node():
    columns, kinds, again = run_program(
        """
timer = NodeTimerObserver()
launch(); fake.fake_cuda_graph_launch(graph, 7); done()
nodes, starts, ends, streams = timer.drain(flush=True)
again = [len(column) for column in timer.drain(flush=True)]
assert nodes.tolist() == [0, node], nodes
timer.close(); timer.close()
print(json.dumps([[(ends - starts).tolist(), streams.tolist()],
                  [str(column.dtype) for column in (nodes, starts, ends, streams)], again]))
""",
        program=TIMED,
    )
    assert columns == [[2000, 3000], [7, 7]]
    assert kinds == ["uint64", "int64", "int64", "uint64"]
    assert again == [0, 0, 0, 0]


def test_copies_are_timed_where_their_kind_is_asked_for():
    counts = run_program(
        """
counts = []
for kinds in (None, [10, 1], [2]):
    timer = NodeTimerObserver(kinds)
    launch(); fake.fake_cuda_memcpy(7, 1, 1, 3, ctypes.c_uint64(64), 0); done()
    counts.append(len(timer.drain(flush=True)[0]))
    timer.close()
print(json.dumps(counts))
""",
        program=TIMED,
    )
    assert counts == [1, 2, 0]


def test_works_have_the_name_of_their_node_or_of_the_region_they_were_launched_in():
    spans, reset = run_program(
        """
names = {node: "a node"}
settings = ObserverAnnotationSettings(graph_annotation_resolver=names.get, support_eager_annotations=True)
timer = NodeTimerObserver(annotations=settings)
with timer.annotate("outer"):
    launch()
    with timer.annotate("inner"):
        launch(); launch()
        fake.fake_cuda_graph_launch(graph, 7)
launch(); done()
spans = timer.drain_annotated(flush=True)
print(json.dumps([{name: [end - start for start, end in of] for name, of in spans.items()},
                  [timer.annotation_names(), timer.drain_annotated()]]))
timer.close()
""",
        program=TIMED,
    )
    assert spans == {"outer": [2000], "inner": [2000, 2000], "a node": [3000], "": [2000]}
    assert reset == [{}, {}]


def test_a_profile_beside_it_has_the_same_kernels():
    timed, profiled, problems = run_program(
        """
timer = NodeTimerObserver()
prof = run()
print(json.dumps([len(timer.drain(flush=True)[0]),
                  sum(e.device_type != DeviceType.CPU and "float" in e.name for e in prof.events()),
                  len(prof.trace.problems)]))
timer.close()
""",
        program=TIMED,
    )
    assert timed == profiled == 2
    assert problems == 0


def test_where_cuda_cannot_be_recorded_one_line_says_why():
    told, available, columns = run_program(
        """
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    timer = NodeTimerObserver(annotations=ObserverAnnotationSettings(support_eager_annotations=True))
    with timer.annotate("a region"):
        pass
print(json.dumps([[str(each.message) for each in caught], timer.available,
                  [len(column) for column in timer.drain(flush=True)]]))
""",
        program=TIMED,
        scenario="version=13.0;driver=none",
    )
    assert len(told) == 1 and told[0].startswith("NodeTimerObserver: CUDA is not recorded: no driver")
    assert not available
    assert columns == [0, 0, 0, 0]


def test_other_kinds_are_refused():
    from opscope.torch.node_timer import NodeTimerObserver

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=r"unsupported activity kind\(s\) \[5\]; timing supports \[1, 2, 10, 22\]"):
            NodeTimerObserver([10, 5])
