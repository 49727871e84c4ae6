# SPDX-License-Identifier: Apache-2.0
"""opscope.integrations.paddle with paddle.Model.fit: what is recorded, written, left."""

import importlib
import json
import sys
from collections import Counter

import pytest
from examples_path import EXAMPLES
from paddle_runs import run_original
from trainer_recordings import free_ports, only_trace, run_ranks, steps_of, within_steps

pytestmark = pytest.mark.framework("paddle")

PLAN = {"closed": 1, "ready": 1, "record": 2, "repeat": 1}


def callback(folder, **options):
    from opscope.integrations.paddle import OpscopeCallback

    return OpscopeCallback(folder, **options)


def test_each_step_of_the_window_counts_over_epochs_and_has_one_of_everything(tmp_path):
    from paddle_fit import fit

    made = callback(tmp_path / "out", record_shapes=True)
    fit(made, steps=4, epochs=4)
    trace = only_trace(tmp_path / "out")
    assert steps_of(trace) == [6, 7, 8, 9, 10]
    expected = {"sgd_ dygraph": 4, "matmul dygraph": 2, "Gradient Backward": 1}
    counts = {name: within_steps(trace, name) for name in expected}
    assert made.files == [str(next((tmp_path / "out").glob("*.opscope")))]
    assert counts == {name: [count] * 5 for name, count in expected.items()}
    # Step 8 is the first one of an epoch: the end of the data before it, and its own batch.
    assert within_steps(trace, "_DataLoaderIterSingleProcess") == [1, 1, 2, 1, 1]


def test_operators_are_as_many_as_with_paddles_profiler(tmp_path):
    import paddle_fit

    from opscope.paddle import make_scheduler

    paddle_fit.fit(callback(tmp_path / "out", schedule=make_scheduler(**PLAN)), steps=6)
    trace = only_trace(tmp_path / "out")
    assert steps_of(trace) == [2, 3]
    theirs = tmp_path / "theirs.json"
    run_original([sys.executable, paddle_fit.__file__, str(theirs)])
    events = json.loads(theirs.read_text())["traceEvents"]

    def operators(names):
        found = Counter(name.split("[")[0].strip() for name in names)
        return {
            name: count
            for name, count in found.items()
            if name.endswith((" dygraph", "Backward", " launch", "node_creation"))
        }

    ours = operators(trace.spans["name"])
    assert ours == operators(event["name"] for event in events if event.get("ph") == "X")
    assert ours["matmul dygraph"] == 4 and ours["Gradient Backward"] == 2


@pytest.mark.parametrize("where", ["model", "callback"])
def test_an_exception_leaves_what_was_recorded_and_passes(where, tmp_path):
    from paddle_fit import Failure, fit

    made = callback(tmp_path / "out", profile_memory=True)
    with pytest.raises(Failure, match=where):
        fit(made, steps=12, fails_in=where, fails_at=8)
    trace = only_trace(tmp_path / "out")
    assert steps_of(trace) == [6, 7, 8]
    assert within_steps(trace, "matmul dygraph") == [2, 2, 0]
    # The same object records the next training: Paddle's one profiler is free again.
    fit(made, steps=12)
    assert len(made.files) == 2


def test_ctrl_c_leaves_what_was_recorded(tmp_path):
    from paddle_fit import fit

    with pytest.raises(KeyboardInterrupt):
        fit(callback(tmp_path / "out"), steps=12, fails_in="model", fails_at=8, failure=KeyboardInterrupt)
    assert steps_of(only_trace(tmp_path / "out")) == [6, 7, 8]


def test_the_class_in_place_of_an_object_is_named():
    from paddle_fit import fit

    from opscope.integrations.paddle import OpscopeCallback

    with pytest.raises(TypeError, match=r"^callbacks takes objects, such as OpscopeCallback\(\), not the class$"):
        fit(OpscopeCallback, steps=1)


def test_first_and_last_step_are_a_schedule_and_a_short_training_says_so(tmp_path):
    from paddle_fit import fit

    fit(callback(tmp_path / "out", schedule=(3, 5)), steps=6)
    assert steps_of(only_trace(tmp_path / "out")) == [3, 4]
    with pytest.warns(RuntimeWarning, match=r"no step of this training was recorded: it ended in step 2, before"):
        fit(callback(tmp_path / "none", schedule=(3, 5)), steps=2)
    assert not (tmp_path / "none").exists()


def test_wrong_arguments_are_named(tmp_path):
    with pytest.raises(
        TypeError, match=r"schedule must be a callable from .*opscope\.paddle\.make_scheduler\(.*not int"
    ):
        callback(tmp_path, schedule=3)
    with pytest.raises(ValueError, match=r"schedule must be the first step and the one behind the last, not \(5, 3\)"):
        callback(tmp_path, schedule=(5, 3))
    with pytest.raises(ValueError, match=r"must be the first step and the one behind the last, not \(5, 'a'\)"):
        callback(tmp_path, schedule=(5, "a"))
    with pytest.raises(TypeError, match=r"targets must be a list .*profiler\.ProfilerTarget\.CPU.*not \['cpu'\]"):
        callback(tmp_path, targets=["cpu"])
    with pytest.raises(TypeError, match="with_flops must be a bool, not int"):
        callback(tmp_path, with_flops=1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'with_stack'"):
        callback(tmp_path, with_stack=True)


def test_absent_paddle_is_named(monkeypatch):
    for name in [name for name in sys.modules if name == "paddle" or name.startswith("opscope.paddle")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "opscope.integrations.paddle", raising=False)
    monkeypatch.setitem(sys.modules, "paddle", None)
    with pytest.raises(
        ModuleNotFoundError, match="the package paddle is not installed here: `pip install paddlepaddle`"
    ):
        importlib.import_module("opscope.integrations.paddle")


def test_two_gloo_ranks_leave_a_recording_and_a_report_each(tmp_path):
    import opscope

    places = [f"127.0.0.1:{port}" for port in free_ports(2)]
    job = {"PADDLE_TRAINERS_NUM": "2", "PADDLE_TRAINER_ENDPOINTS": ",".join(places), "PADDLE_DISTRI_BACKEND": "gloo"}
    ranks = [
        {**job, "PADDLE_TRAINER_ID": str(rank), "PADDLE_CURRENT_ENDPOINT": place} for rank, place in enumerate(places)
    ]
    run_ranks(tmp_path, ranks, ["paddle"], [EXAMPLES / "train_with_paddle.py"])
    for rank in (0, 1):
        (path,) = (tmp_path / "opscope-run").glob(f"rank{rank}-*.opscope")
        assert path.with_suffix(".html").exists()
        trace = opscope.open(path)
        assert trace.processes["rank"][0] == rank
        assert steps_of(trace) == [6, 7, 8, 9, 10]
        assert within_steps(trace, "Gradient Backward") == [1] * 5
    assert len(list((tmp_path / "opscope-run").iterdir())) == 4
