# SPDX-License-Identifier: Apache-2.0
"""EventList as pandas, Arrow and Polars see it: every value is that of the event's attribute."""

import builtins
import gc
import pathlib
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.framework("torch")

# Column -> how an element says the same.
SAID = {
    "name": lambda event: event.name,
    "overload_name": lambda event: event.overload_name,
    "activity_type": lambda event: event.activity_type,
    "thread": lambda event: event.thread,
    "start_us": lambda event: event.time_range.start,
    "end_us": lambda event: event.time_range.end,
    "cpu_time_total_us": lambda event: event.cpu_time_total,
    "self_cpu_time_total_us": lambda event: event.self_cpu_time_total,
    "input_shapes": lambda event: str(event.input_shapes),
    "cpu_memory_usage_bytes": lambda event: event.cpu_memory_usage,
    "self_cpu_memory_usage_bytes": lambda event: event.self_cpu_memory_usage,
    "device_memory_usage_bytes": lambda event: event.device_memory_usage,
    "self_device_memory_usage_bytes": lambda event: event.self_device_memory_usage,
    "flops": lambda event: event.flops,
    "sequence_nr": lambda event: event.sequence_nr,
    "fwd_thread": lambda event: event.fwd_thread,
    "scope": lambda event: event.scope,
    "is_async": lambda event: event.is_async,
    "is_user_annotation": lambda event: event.is_user_annotation,
    "is_python_function": lambda event: event.is_python_function,
}


@pytest.fixture(scope="module")
def recorded():
    """A training step with everything that fills columns, the ranges of a schedule among it."""
    import torch

    from opscope.torch import ProfilerActivity, profile, schedule

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=0, warmup=1, active=2, repeat=1),
        record_shapes=True,
        profile_memory=True,
        with_flops=True,
    ) as prof:
        for _ in range(3):
            model(torch.randn(4, 8)).sum().backward()
            prof.step()
    return prof


def fresh(prof):
    """The list of the same recording, not filled yet."""
    return prof.profiler._events_of(prof.profiler.last_cycle_trace())


def listed(table, column):
    """Values of a column of the engine's table; flags are bytes there."""
    return table.text(column) if column in TEXTS else table[column]


# Attributes that the events of older torch have not.
OF_NEWER = {"overload_name", "activity_type", "is_user_annotation", "is_python_function"}
TEXTS = {"name", "overload_name", "activity_type", "input_shapes"}


def test_every_column_says_what_the_events_say(recorded):
    from opscope.torch.event_frame import to_table

    events = fresh(recorded)
    table = to_table(events)
    assert set(SAID) | {"cpu_parent", "span"} == set(table.columns)
    for column, read in SAID.items():
        if column in OF_NEWER and not hasattr(events[0], column):
            continue
        # A "[memory]" row has None where a number is needed.
        assert list(listed(table, column)) == [
            read(event) or (0 if column == "flops" else read(event)) for event in events
        ]
    parents = [None if event.cpu_parent is None else events.index(event.cpu_parent) for event in events]
    assert [table.row(i)["cpu_parent"] for i in range(len(table))] == parents
    spans = recorded.trace.spans
    for row, event in enumerate(events):
        span = table.row(row)["span"]
        assert (span is None) == (event.name == "[memory]")
        if span is not None and not event.name.startswith("ProfilerStep"):
            assert spans.row(span)["name"] == event.name


def test_reading_columns_makes_no_event(recorded):
    from opscope.torch.event_frame import to_table

    events = fresh(recorded)
    assert len(to_table(events)) == len(events)
    assert type(events).__name__ == "_UnfilledEventList"


def test_columns_outlive_the_list_and_the_profile():
    import torch

    from opscope.torch import ProfilerActivity, profile
    from opscope.torch.event_frame import to_table

    with profile(activities=[ProfilerActivity.CPU]) as prof:
        for _ in range(1000):
            torch.ones(2).neg()
    starts = to_table(prof.events())["start_us"]
    expected = starts.tolist()
    del prof
    gc.collect()
    assert starts.tolist() == expected == sorted(expected)


@pytest.mark.torch_has("FunctionEvent.is_user_annotation")
def test_pandas_sees_the_same(recorded):
    pandas = pytest.importorskip("pandas")
    events = fresh(recorded)
    frame = events.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == len(events)
    for column in ("name", "cpu_time_total_us", "self_cpu_time_total_us", "is_user_annotation", "input_shapes"):
        assert frame[column].tolist() == [SAID[column](event) for event in events], column
    sums = frame.groupby("name", observed=True)["self_cpu_time_total_us"].sum()
    for average in events.key_averages():
        assert sums[average.key] == pytest.approx(average.self_cpu_time_total)
    assert frame[frame.is_user_annotation].name.tolist() == ["ProfilerStep*"] * 2


def test_numbers_reach_pandas_without_a_copy(recorded):
    pytest.importorskip("pandas")
    import numpy

    from opscope.torch.event_frame import to_table

    table = to_table(fresh(recorded))
    frame = table.to_pandas()
    assert numpy.shares_memory(frame["start_us"].to_numpy(), numpy.asarray(table["start_us"]))


def test_changed_lists_and_averages_are_frames_too(recorded):
    pytest.importorskip("pandas")
    events = fresh(recorded)
    events.sort(key=lambda event: -event.cpu_time_total)
    frame = events.to_pandas()
    assert frame["cpu_time_total_us"].tolist() == sorted((e.cpu_time_total for e in events), reverse=True)
    averages = recorded.key_averages(group_by_input_shape=True)
    frame = averages.to_pandas()
    assert frame["name"].tolist() == [row.key for row in averages]
    assert frame["count"].tolist() == [row.count for row in averages]
    assert frame["input_shapes"].tolist() == [str(row.input_shapes) for row in averages]
    assert frame["cpu_time_us"].tolist() == [row.cpu_time for row in averages]
    assert frame["flops"].tolist() == [row.flops for row in averages]
    events[0].name = "renamed"
    assert events.to_pandas()["name"][0] == "renamed"


def test_arrow_and_polars_see_the_same(recorded):
    pyarrow = pytest.importorskip("pyarrow")
    events = fresh(recorded)
    table = events.to_arrow()
    assert isinstance(table, pyarrow.Table)
    for column in ("name", "start_us", "thread", "sequence_nr", "activity_type"):
        assert table[column].to_pylist() == [SAID[column](event) for event in events], column
    averages = recorded.key_averages()
    assert averages.to_arrow()["name"].to_pylist() == [row.key for row in averages]
    for rows in (events, averages):  # any reader of the protocol
        streamed = pyarrow.RecordBatchReader.from_stream(rows).read_all()
        assert streamed["count" if rows is averages else "start_us"].to_pylist() == [
            row.count if rows is averages else row.time_range.start for row in rows
        ]


def documented_calls():
    """(package, call) of the table in docs/how-to/read_results.md."""
    text = (pathlib.Path(__file__).parents[2] / "docs/how-to/read_results.md").read_text(encoding="utf-8")
    table = text.partition("## Lists as data frames")[2].partition("\n\n")[2].partition("\n\n## ")[0]
    rows = [line.split("|")[1:-1] for line in table.splitlines() if line.startswith("| ")][1:]
    return [(row[0].strip().lower(), call) for row in rows for cell in row[1:] for call in re.findall("`(.*?)`", cell)]


def rows_of(frame):
    """The number of rows, and the names, of a frame of any of the packages."""
    if hasattr(frame, "fetchall"):  # DuckDB's
        names = [row[frame.columns.index("name")] for row in frame.fetchall()]
        return len(names), names
    names = frame["name"]
    return len(frame), names.to_pylist() if hasattr(names, "to_pylist") else list(names)


@pytest.mark.parametrize(("package", "call"), documented_calls())
def test_every_call_that_the_documents_name_gives_the_rows(recorded, package, call):
    module = pytest.importorskip(package)
    spans = "trace" in call
    for rows in ("events", "key_averages") if not spans else ("spans",):
        called = call.replace("key_averages", rows)
        frame = eval(called, {"prof": recorded, {"polars": "pl"}.get(package, package): module})
        expected = list(recorded.trace.spans.text("name")) if spans else [e.key for e in getattr(recorded, rows)()]
        assert rows_of(frame) == (len(expected), expected), called


def test_the_documents_name_a_call_for_every_package():
    assert {package for package, _ in documented_calls()} == {"pandas", "polars", "pyarrow", "duckdb"}


def test_sql_finds_a_table_by_the_name_of_its_variable(recorded):
    duckdb = pytest.importorskip("duckdb")
    rows = fresh(recorded).to_table()  # noqa: F841 - found by name
    averages = recorded.key_averages().to_table()  # noqa: F841
    sums = dict(duckdb.sql("select name, sum(self_cpu_time_total_us) from rows group by name").fetchall())
    for name, own, count in duckdb.sql("select name, self_cpu_time_total_us, count from averages").fetchall():
        assert sums[name] == pytest.approx(own) and count > 0


def test_polars_and_duckdb_need_no_pyarrow(recorded):
    pytest.importorskip("polars")
    pytest.importorskip("duckdb")
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import duckdb, polars, torch\n"
        "from opscope.torch import ProfilerActivity, profile\n"
        "with profile(activities=[ProfilerActivity.CPU]) as prof:\n"
        "    torch.ones(2).neg()\n"
        "for rows in (prof.events(), prof.key_averages()):\n"
        "    assert polars.DataFrame(rows.to_table())['name'].to_list() == [row.key for row in rows]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_missing_parent_is_missing_in_pandas(recorded):
    pandas = pytest.importorskip("pandas")
    events = fresh(recorded)
    parents = [None if event.cpu_parent is None else events.index(event.cpu_parent) for event in events]
    shown = events.to_pandas()["cpu_parent"]
    assert [None if value is pandas.NA else value for value in shown] == parents
    assert None in parents and shown.max() < len(parents)
    spans = recorded.trace.spans
    frame = spans.to_pandas()
    for column in ("parent", "args", "stack", "track"):
        expected = [row[column] for row in spans]
        assert [None if value is pandas.NA else value for value in frame[column]] == expected, column


@pytest.mark.torch_has("FunctionEvent.is_user_annotation")
def test_values_of_a_program_become_columns_whatever_they_are():
    pytest.importorskip("pandas")
    from opscope.torch import EventList
    from opscope.torch.autograd_profiler import FunctionEvent

    events = EventList(FunctionEvent(number, f"op{number}", 1, 0, number) for number in range(3))
    events[0].flops, events[1].thread, events[2].sequence_nr = 0.5, "a thread", 1 << 63
    events[1].is_async = None
    frame = events.to_pandas()
    assert frame["thread"].tolist() == ["1", "a thread", "1"]
    assert frame["flops"].tolist()[0] == 0.5 and frame["flops"].isna().tolist() == [False, True, True]
    assert frame["sequence_nr"].tolist() == [-1.0, -1.0, 2.0**63]
    assert frame["is_user_annotation"].tolist() == [False] * 3
    assert frame["is_async"].isna().tolist() == [False, True, False]
    del events[:2]
    assert events.to_pandas()["sequence_nr"].tolist() == [1 << 63]


def test_empty_lists_are_empty_frames():
    pytest.importorskip("pandas")
    from opscope.torch import EventList, ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU]) as prof:
        pass
    assert len(prof.events().to_pandas()) == len(prof.key_averages().to_pandas()) == len(EventList().to_pandas()) == 0


@pytest.mark.parametrize("package", ["pandas", "pyarrow"])
def test_a_missing_package_is_named_with_the_line_that_installs_it(recorded, package, monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.partition(".")[0] == package:
            raise ModuleNotFoundError(f"No module named '{package}'", name=package)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    ask = {"pandas": "to_pandas", "pyarrow": "to_arrow"}[package]
    for events in (recorded.events(), recorded.key_averages()):
        with pytest.raises(ImportError, match=f"this needs {package}: pip install {package}"):
            getattr(events, ask)()


def test_a_list_itself_is_no_frame(recorded):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow, duckdb = pytest.importorskip("pyarrow"), pytest.importorskip("duckdb")
    for rows in (recorded.events(), recorded.key_averages()):
        for frame in (pandas.DataFrame(rows), polars.DataFrame(rows)):
            assert frame.shape == (len(rows), 1)
        with pytest.raises(ValueError, match="names or schema"):
            pyarrow.table(rows)
        with pytest.raises(duckdb.Error):
            duckdb.from_arrow(rows)
