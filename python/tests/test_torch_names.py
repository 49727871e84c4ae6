# SPDX-License-Identifier: Apache-2.0
"""Awkward names survive: record -> save -> import -> JSON -> import."""

import pytest

pytestmark = pytest.mark.framework("torch")

NAMES = {
    "quotes": "say \"hi\" and 'ho' `now`",
    "backslash": "C:\\new\\table",
    "newline": "two\nlines\r\nand more",
    "tab": "a\tb\x0b\x0c",
    "control": "\x01\x02\x1b[31m\x7f",
    "emoji": "\U0001f600 grin \U0001f469\u200d\U0001f4bb",
    "other scripts": "模型推理 данные",
    "separators": "line\u2028paragraph\u2029",
    "invalid UTF-8": "caf\udce9 \udcff\udcfe",
    "cut UTF-8": "\udce2\udc82",
    "100 kB": "x" * 100_000,
    "100 kB of emoji": "\U0001f600" * 25_000,
    "empty": "",
    "spaces": "  leading and trailing  ",
    "looks escaped": "\\u00e9 \\x41 %41 &amp; \\udc80",
    "json": '{"ph": "X", "name": [1, 2]}',
    "html": "<script>alert(1)</script>",
}


def span_names(trace):
    return sorted(name for name in trace.spans.text("name") if name != "PyTorch Profiler (0)")


@pytest.fixture(scope="module")
def recorded():
    import opscope.torch

    with opscope.torch.profile(record_shapes=True) as prof:
        for name in NAMES.values():
            with opscope.torch.record_function(name, name[:50]):
                pass
    return prof


def test_recorded_names_are_the_names_given(recorded):
    assert sorted(e.trace_name for e in recorded.events()) == sorted(NAMES.values())
    assert sorted(e.name for e in recorded.events()) == sorted(NAMES.values())
    assert len(recorded.key_averages().table(row_limit=-1)) > 0


def test_names_survive_the_recording_file(recorded, tmp_path):
    import opscope

    recorded.save(tmp_path / "x.opscope")
    assert span_names(opscope.open(tmp_path / "x.opscope")) == sorted(NAMES.values())


@pytest.mark.parametrize("ending", ["json", "json.gz"])
def test_names_survive_recording_file_then_json(recorded, tmp_path, ending):
    import opscope

    recorded.save(tmp_path / "x.opscope")
    saved = opscope.open(tmp_path / "x.opscope")
    saved.export(tmp_path / f"x.{ending}")
    read = opscope.open(tmp_path / f"x.{ending}")
    assert span_names(read) == sorted(NAMES.values())
    read.save(tmp_path / "y.opscope")
    assert span_names(opscope.open(tmp_path / "y.opscope")) == sorted(NAMES.values())


def test_the_json_is_json_for_others(recorded, tmp_path):
    import json

    recorded.export_chrome_trace(str(tmp_path / "x.json"))
    text = (tmp_path / "x.json").read_bytes().decode("utf-8")  # strict: valid UTF-8
    names = {e["name"] for e in json.loads(text)["traceEvents"]}
    for kind in ("quotes", "newline", "tab", "emoji", "100 kB", "html"):
        assert NAMES[kind] in names, kind
