# SPDX-License-Identifier: Apache-2.0
"""What recording cost: told by every recording, taken off by corrected=True, kept through files."""

import pytest
from opscope_command import answer, run

pytestmark = pytest.mark.framework("torch")


def times(rows, field="cpu_time_total"):
    return {row.key: getattr(row, field) for row in rows}


@pytest.fixture(scope="module")
def recorded():
    import torch

    import opscope.torch

    a = torch.ones(2)
    with opscope.torch.profile(record_shapes=True) as prof:
        with opscope.torch.record_function("loop"):
            for _ in range(500):
                torch.add(a, a)
    return prof


def test_a_recording_says_what_an_event_cost(recorded, tmp_path):
    import opscope

    recorded.save(tmp_path / "x.opscope")
    for trace in (recorded.trace, opscope.open(tmp_path / "x.opscope")):
        costs = trace.info["options"]["own_cost"]
        assert {"scope", "point", "torch_op", "torch_argument", "torch_range"} <= set(costs)
        for kind in ("scope", "torch_op", "torch_range"):
            cost = costs[kind]
            assert 0 < cost["inside_ns"] < cost["begin_ns"] + cost["end_ns"] < 100_000, kind
        assert 0 < costs["torch_op"]["floor_ns"]


def test_the_cost_of_a_job_is_that_of_its_ranks(recorded, tmp_path):
    pytest.importorskip("duckdb")
    files = [tmp_path / f"rank{rank}.opscope" for rank in range(2)]
    recorded.save(files[0])
    recorded.trace.cut(where="name = aten::add").save(files[1])
    run("collect", *files, "-o", tmp_path / "job", "-q", code=None)
    job, *ranks = (answer("summary", path, "--explain")["explain"] for path in (tmp_path / "job", *files))
    assert job["overhead_ns"] == sum(rank["overhead_ns"] for rank in ranks) > max(rank["overhead_ns"] for rank in ranks)
    assert job["overhead_share"] == pytest.approx(job["overhead_ns"] / sum(rank["window_ns"] for rank in ranks))


def test_corrected_times_are_the_recorded_ones_without_the_cost(recorded, tmp_path):
    import opscope

    costs = recorded.trace.info["options"]["own_cost"]
    raw = {row["name"]: row for row in recorded.trace.summary()}
    recorded.save(tmp_path / "x.opscope")
    for trace in (recorded.trace, opscope.open(tmp_path / "x.opscope")):
        corrected = {row["name"]: row for row in trace.summary(corrected=True)}
        adds = raw["aten::add"]["count"]
        inside = costs["torch_op"]["inside_ns"] + 3 * costs["torch_argument"]["inside_ns"]
        off = raw["aten::add"]["self_ns"] - corrected["aten::add"]["self_ns"]
        assert off == pytest.approx(adds * inside, abs=1)
        whole = sum(costs["torch_op"][key] for key in ("begin_ns", "end_ns")) + 3 * costs["torch_argument"]["begin_ns"]
        off = raw["loop"]["total_ns"] - corrected["loop"]["total_ns"]
        assert off == pytest.approx(adds * whole + costs["torch_range"]["inside_ns"], abs=1)
        assert {name: row["count"] for name, row in corrected.items()} == {n: r["count"] for n, r in raw.items()}


def test_averages_and_table_are_corrected_alike(recorded):
    raw, corrected = recorded.key_averages(), recorded.key_averages(corrected=True)
    summary = {row["name"]: row for row in recorded.trace.summary(corrected=True)}
    assert all(times(corrected)[key] < time_of for key, time_of in times(raw).items())
    for key, time_of in times(corrected).items():
        assert time_of == pytest.approx(summary[key]["total_ns"] / 1000, abs=0.001), key
        assert times(corrected, "self_cpu_time_total")[key] == pytest.approx(summary[key]["self_ns"] / 1000, abs=0.001)
    assert raw.table(corrected=True) == corrected.table() == corrected.table(corrected=True)
    assert "Corrected: without the " in corrected.table().splitlines()[-1]
    assert "Corrected" not in raw.table()
    by_shape = recorded.key_averages(group_by_input_shape=True)
    assert "[2]" in by_shape.table(corrected=True)


def test_raw_times_stay_raw(recorded):
    before = times(recorded.key_averages())
    recorded.key_averages(corrected=True)
    assert times(recorded.key_averages()) == before
    assert [event.cpu_time_total for event in recorded.events() if event.key == "loop"] == [before["loop"]]


def test_what_was_changed_cannot_be_corrected(recorded):
    rows = recorded.key_averages()
    rows.pop()
    with pytest.raises(ValueError, match="as key_averages"):
        rows.table(corrected=True)
    with pytest.raises(ValueError, match="as key_averages"):
        recorded.events().table(corrected=True)


def test_an_import_without_costs_says_so(recorded, tmp_path):
    import opscope

    path = tmp_path / "kineto.json"
    recorded.export_chrome_trace(str(path))
    with pytest.raises(opscope.Error, match="does not say what recording it cost; its format, chrome-json"):
        opscope.open(path).summary(corrected=True)


# ---- calls of Python --------------------------------------------------------------------------------------------


WORK = (0,) * 500  # takes longer than recording a call, so that nothing that is corrected ends below 0


def function_of_python():
    for _ in WORK:
        pass


def run_calls(count):
    for _ in range(count):
        function_of_python()
        abs(1)


def test_a_recording_with_calls_says_what_they_cost(tmp_path):
    import opscope
    import opscope.torch

    with opscope.torch.profile(with_stack=True) as prof:
        run_calls(10)
    prof.save(tmp_path / "x.opscope")
    costs = opscope.open(tmp_path / "x.opscope").info["options"]["own_cost"]
    for kind in ("python_call", "c_call", "module_call"):
        assert 0 < costs[kind]["inside_ns"] < costs[kind]["begin_ns"] + costs[kind]["end_ns"] < 100_000, kind
    told = answer("info", tmp_path / "x.opscope")
    assert told["own_cost"]["kinds"]["c_call"]["begin_ns"] == costs["c_call"]["begin_ns"]
    counted = sum(row["count"] for row in prof.trace.summary())
    assert told["own_cost"]["events"] > 20 and told["own_cost"]["events"] <= counted
    with opscope.torch.profile() as prof:
        run_calls(10)
    assert "python_call" not in prof.trace.info["options"]["own_cost"]


def test_corrected_times_of_calls_are_the_recorded_ones_without_the_cost(tmp_path):
    import opscope.torch

    with opscope.torch.profile(with_stack=True) as prof:
        run_calls(1000)
    raw, corrected = (
        {row["name"].split(": ")[-1]: row for row in prof.trace.summary(corrected=kind)} for kind in (False, True)
    )
    costs = prof.trace.info["options"]["own_cost"]
    off = raw["function_of_python"]["self_ns"] - corrected["function_of_python"]["self_ns"]
    assert raw["function_of_python"]["count"] == 1000
    assert off == pytest.approx(1000 * costs["python_call"]["inside_ns"], abs=1)
    whole = sum(costs[kind][key] for kind in ("python_call", "c_call") for key in ("begin_ns", "end_ns"))
    off = raw["run_calls"]["total_ns"] - corrected["run_calls"]["total_ns"]
    assert off == pytest.approx(1000 * whole + costs["python_call"]["inside_ns"], abs=1)


PROGRAM_UNDER_A_PROFILER = """
import cProfile
import opscope, opscope.torch

def work():
    return abs(-1)

seen = cProfile.Profile()
seen.enable()
with opscope.torch.profile(with_stack=True) as prof:
    work()
seen.disable()
names = {entry.code if isinstance(entry.code, str) else entry.code.co_name for entry in seen.getstats()}
assert "work" in names and not {"_call", "_call_module", "_call_deeply"} & names, names
try:
    prof.key_averages(corrected=True)
except opscope.Error as error:
    print(error)
"""


def test_where_another_profiler_would_see_the_measurement_there_is_none(programs):
    done = programs.run(PROGRAM_UNDER_A_PROFILER)
    assert done.status == 0, done.stderr
    assert "what a call of Python costs could not be measured" in done.stdout
