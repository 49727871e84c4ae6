# SPDX-License-Identifier: Apache-2.0
"""Traces as Python sees them: opening, errors, texts, summaries, files."""

import doctest
import gc
import gzip
import json
import os
import pickle

import pytest
from conftest import chrome_json, complete_event

import opscope
import opscope.comparison
import opscope.limits
import opscope.table
import opscope.trace


def write(path, *events):
    path.write_bytes(chrome_json(*events))
    return path


class TestOpen:
    def test_takes_str_bytes_and_path(self, tmp_path):
        path = write(tmp_path / "t.json", complete_event("a", 0, 1))
        for spelling in (path, str(path), os.fsencode(path)):
            assert len(opscope.open(spelling).spans) == 1

    def test_finds_the_format_by_content(self, tmp_path):
        path = tmp_path / "no_extension"
        path.write_bytes(gzip.compress(chrome_json(complete_event("a", 0, 1))))
        trace = opscope.open(path)
        assert trace.info["compressed"] == "gzip"
        assert list(trace.spans.text("name")) == ["a"]

    def test_malformed_input_is_a_value_error_that_names_file_and_byte(self, tmp_path):
        path = tmp_path / "bad.json"
        path.write_bytes(b'{"traceEvents": [{"ph": oops')
        with pytest.raises(opscope.Error, match=r"bad\.json: at byte \d+: ") as caught:
            opscope.open(path)
        assert isinstance(caught.value, ValueError)
        assert caught.value.code == "malformed"

    def test_a_file_of_no_known_format_is_an_error(self, tmp_path):
        path = tmp_path / "noise"
        path.write_bytes(b"\x00\x01\x02" * 100)
        with pytest.raises(opscope.Error, match="noise"):
            opscope.open(path)

    def test_a_missing_file_is_file_not_found(self, tmp_path):
        path = tmp_path / "none.json"
        with pytest.raises(FileNotFoundError) as caught:
            opscope.open(path)
        assert caught.value.errno == 2
        assert caught.value.filename == path

    def test_a_directory_is_refused_as_one(self, tmp_path):
        with pytest.raises(IsADirectoryError) as caught:
            opscope.open(str(tmp_path))
        assert caught.value.filename == str(tmp_path)

    def test_no_permission_is_refused_as_such(self, tmp_path):
        path = write(tmp_path / "t.json")
        path.chmod(0)
        child = os.fork()
        if child == 0:  # as another user, because root may read everything
            try:
                if os.geteuid() == 0:
                    tmp_path.parent.parent.chmod(0o755)
                    os.setuid(65534)
                with pytest.raises(PermissionError) as caught:
                    opscope.open(path)
                os._exit(0 if (caught.value.errno, caught.value.filename) in ((13, path),) else 1)
            finally:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

    def test_damage_after_a_whole_event_keeps_what_is_whole(self):
        data = chrome_json(complete_event("a", 0, 1), complete_event("b", 2, 1))
        trace = opscope.read(data[:-30])
        assert list(trace.spans.text("name")) == ["a"]
        assert trace.is_partial
        assert "truncated" in trace.problems.text("kind")

    def test_refuses_a_memory_limit_that_is_none(self):
        for limit in (0, "0M", "much"):
            with pytest.raises(ValueError, match="max_memory must be a positive number of bytes"):
                opscope.read(b"[]", max_memory=limit)

    def test_takes_a_memory_limit_with_a_unit(self):
        data = chrome_json(*(complete_event(f"op{i}", i, 1) for i in range(20_000)))
        assert len(opscope.read(data, max_memory="1G").spans) == 20_000
        for limit in ("1000K", "0.5M"):
            try:
                trace = opscope.read(data, max_memory=limit)
            except opscope.Error as error:
                assert "memory" in str(error)  # noqa: PT017 - either answer must name the limit
            else:
                assert "over_memory_limit" in trace.problems.text("kind")

    def test_a_memory_limit_that_is_reached_is_said(self):
        data = chrome_json(*(complete_event(f"op{i}", i, 1) for i in range(20_000)))
        try:
            trace = opscope.read(data, max_memory=1_000_000)
        except opscope.Error as error:
            assert "memory" in str(error)  # noqa: PT017 - either answer must name the limit
        else:
            assert "over_memory_limit" in trace.problems.text("kind")


class TestTexts:
    NAMES = ['quote"', "new\nline", "tab\t", "emoji \U0001f525", "x" * 100_000, "NUL \0 inside", "back\\slash"]

    def test_survive_as_they_are(self):
        trace = opscope.read(chrome_json(*(complete_event(name, i, 1) for i, name in enumerate(self.NAMES))))
        assert list(trace.spans.text("name")) == self.NAMES

    def test_bytes_that_are_not_utf8_are_reversible(self):
        data = chrome_json(complete_event("MARK", 0, 1)).replace(b"MARK", b"caf\xe9 \xff")
        trace = opscope.read(data)
        name = trace.spans.text("name")[0]
        assert name == "caf\udce9 \udcff"
        assert name.encode("utf-8", "surrogateescape") == b"caf\xe9 \xff"
        assert trace.strings[trace.strings.find(name)] == name

    def test_survive_saving_and_json_even_where_they_are_not_utf8(self, tmp_path):
        data = chrome_json(*(complete_event(name, i, 1) for i, name in enumerate([*self.NAMES, "MARK"])))
        names = [*self.NAMES, "caf\udce9"]
        trace = opscope.read(data.replace(b"MARK", b"caf\xe9"))
        for name in ("t.opscope", "t.json", "t.json.gz"):
            trace.export(tmp_path / name, to="opscope" if name.endswith("opscope") else "chrome")
            trace = opscope.open(tmp_path / name)
            assert list(trace.spans.text("name")) == names

    def test_a_text_is_found_or_none(self, trace):
        assert trace.strings.find("aten::mm") == trace.spans.codes("name")[1]
        assert trace.strings.find("aten::nothing") is None
        assert trace.strings.find("\ud800") is None
        assert trace.strings[0] == ""

    def test_ids_out_of_range_are_index_errors(self, trace):
        with pytest.raises(IndexError):
            trace.strings[len(trace.strings)]
        with pytest.raises(IndexError):
            trace.arguments(10**6)


class TestSummary:
    def test_has_the_fields_of_the_command_line(self, trace):
        row = trace.summary(sort="total_ns")[0]
        assert list(row) == [
            "name",
            "count",
            "total_ns",
            "self_ns",
            "self_share",
            "mean_ns",
            "min_ns",
            "p50_ns",
            "p99_ns",
            "max_ns",
            "stddev_ns",
            "total_with_recursion_ns",
            "device_total_ns",
            "device_self_ns",
            "self_memory_bytes",
            "flops",
            "flops_per_s",
            "on",
        ]

    def test_counts_and_times(self, trace):
        rows = {row["name"]: row for row in trace.summary()}
        assert (rows["aten::linear"]["total_ns"], rows["aten::linear"]["self_ns"]) == (100_000, 70_000)
        mm = rows["aten::mm"]
        assert (mm["count"], mm["total_ns"], mm["mean_ns"], mm["min_ns"], mm["max_ns"]) == (
            2,
            40_000,
            20_000,
            10_000,
            30_000,
        )

    def test_sorts_limits_and_groups(self, trace):
        assert [row["name"] for row in trace.summary(sort="count")] == ["aten::mm", "aten::linear"]
        assert len(trace.summary(limit=1)) == 1
        assert trace.summary(limit=0) == []
        (row,) = trace.summary(group_by="category")
        assert "name" not in row
        assert (row["category"], row["count"]) == ("cpu_op", 3)

    def test_a_name_on_host_and_device_has_two_rows(self):
        span = {"ph": "X", "name": "forward", "ts": 0, "dur": 3, "pid": 1, "tid": 1, "cat": "user_annotation"}
        on_device = span | {"dur": 5, "pid": 0, "tid": 7, "cat": "gpu_user_annotation"}
        trace = opscope.read(json.dumps([span, on_device]).encode())
        for group_by in ("name", "device", ("name", "process", "rank", "step")):
            rows = trace.summary(group_by=group_by)
            assert [(row["on"], row["count"], row["total_ns"]) for row in rows] == [
                ("device", 1, 5000),
                ("host", 1, 3000),
            ]

    def test_refuses_what_it_does_not_know(self, trace):
        with pytest.raises(opscope.Error, match="total_ns"):
            trace.summary(sort="nothing")
        with pytest.raises(opscope.Error, match="known: name, shape"):
            trace.summary(group_by="nothing")
        with pytest.raises(ValueError, match="negative"):
            trace.summary(limit=-1)


class TestFiles:
    def test_a_saved_trace_opens_with_the_same_rows(self, trace, tmp_path):
        trace.save(tmp_path / "t.opscope")
        again = opscope.open(tmp_path / "t.opscope")
        assert again.info["format"] == "opscope"
        assert list(again.spans) == list(trace.spans)

    def test_chrome_json_has_the_events(self, trace, tmp_path):
        trace.export(tmp_path / "t.json")
        events = json.loads((tmp_path / "t.json").read_bytes())["traceEvents"]
        assert [e["name"] for e in events if e["ph"] == "X" and e.get("cat") == "cpu_op"] == [
            "aten::linear",
            "aten::mm",
            "aten::mm",
        ]

    def test_a_refused_export_names_the_path_and_leaves_nothing(self, trace, tmp_path):
        for name, write_to in (("t.opscope", trace.save), ("t.json", trace.export)):
            path = tmp_path / "none" / name
            with pytest.raises(FileNotFoundError) as caught:
                write_to(path)
            assert caught.value.filename == path
        assert list(tmp_path.iterdir()) == []

    def test_unknown_formats_are_refused(self, trace, tmp_path):
        with pytest.raises(ValueError, match="known: chrome, perfetto"):
            trace.export(tmp_path / "t", to="xlsx")


class TestShown:
    def test_repr_says_what_it_is(self, trace):
        assert repr(trace) == "<opscope.Trace chrome-json: 3 spans on 1 tracks, 0 problems>"
        assert repr(trace.spans) == "<opscope.Table spans: 3 rows>"

    def test_html_is_escaped_and_bounded(self):
        events = [complete_event(f"<b>{i}</b>", i, 1) for i in range(1000)]
        page = opscope.read(chrome_json(*events)).spans._repr_html_()
        assert "&lt;b&gt;0" in page
        assert "<b>" not in page
        assert page.count("<tr>") == 31
        assert "(970 more)" in page

    def test_html_of_names_that_are_not_utf8_can_be_sent(self):
        trace = opscope.read(chrome_json(complete_event("MARK", 0, 1)).replace(b"MARK", b"\xff"))
        assert "\\udcff" in trace.spans._repr_html_().encode("utf-8").decode("utf-8")


@pytest.mark.parametrize(
    "module, fewest",
    [(opscope.trace, 6), (opscope.trace_answers, 12), (opscope.table, 6), (opscope.comparison, 3), (opscope.limits, 3)],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_examples_of_the_documentation(module, fewest, doctest_trace):
    result = doctest.testmod(
        module,
        extraglobs={"trace": doctest_trace, "opscope": opscope, "json": json},
        optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL,
    )
    assert result.attempted >= fewest
    assert result.failed == 0


def test_a_trace_cannot_be_pickled_by_accident(trace):
    with pytest.raises(TypeError):
        pickle.dumps(trace)


def test_opening_many_traces_gives_the_memory_back(trace):
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    data = chrome_json(*(complete_event(f"op{i}", i, 1) for i in range(5_000)))

    def read_some():
        for _ in range(20):
            opscope.read(data).spans.start.tolist()
        gc.collect()

    read_some()
    before = resident()
    for _ in range(5):
        read_some()
    assert resident() - before < 8 << 20


def test_a_named_format_turns_detection_off(tmp_path):
    path = tmp_path / "prose.txt"
    path.write_text("Training took 12\nEpoch 3\n")
    for trace in (
        opscope.open(path, format="collapsed-stacks"),
        opscope.read(path.read_bytes(), format="collapsed-stacks"),
    ):
        assert (trace.info["format"], len(trace.spans)) == ("collapsed-stacks", 2)
    with pytest.raises(opscope.Error, match="there is no format 'kineto'; choose from opscope, "):
        opscope.open(path, format="kineto")


def test_a_parent_that_is_no_process_is_no_fact():
    def info(parent):
        return opscope.read(b'{"parent_pid":' + parent + b',"traceEvents":[]}').info

    assert info(b"77")["parent_pid"] == 77
    for parent in (b"1" * 5000, b"-1", b'"7"', b"[7]"):
        assert "parent_pid" not in info(parent)


@pytest.mark.parametrize("data", [5, [1], "text", None])
def test_what_are_no_bytes_is_refused(data):
    with pytest.raises(TypeError):
        opscope.read(data)
    for kind in (bytes, bytearray, memoryview):
        assert len(opscope.read(kind(b'{"traceEvents":[]}')).spans) == 0
