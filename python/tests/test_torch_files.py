# SPDX-License-Identifier: Apache-2.0
"""What a profile leaves: trace ids, metadata, and files, beside torch.profiler."""

import gzip
import json
import os
import time

import pytest
from torch_oracle import both_modules, schedule_of

pytestmark = pytest.mark.framework("torch")
S = "RECORD_AND_SAVE"


@pytest.mark.torch_has(
    "_KinetoProfile(custom_trace_id_callback)", "profile.get_trace_id", "profile.set_custom_trace_id_callback"
)
def test_trace_ids_are_torchs():
    import opscope.torch

    ids = iter(["first", "second"])
    prof = opscope.torch.profile()
    assert prof.get_trace_id() is None
    with prof:
        pass
    assert len(prof.get_trace_id()) == 32 and prof.get_trace_id() == prof.get_trace_id().upper()
    prof = opscope.torch.profile(
        schedule=schedule_of(opscope.torch, [S, S]), custom_trace_id_callback=lambda: next(ids)
    )
    seen = []
    prof.on_trace_ready = lambda p: seen.append(p.get_trace_id())
    with prof:
        prof.step()
    assert seen == ["first", "second"]
    prof.set_custom_trace_id_callback(lambda: "third")
    prof.prepare_trace()
    assert prof.get_trace_id() == "third"


def test_the_file_has_torchs_top_level_keys_and_metadata(tmp_path):
    def write(module, path):
        prof = module.profile(record_shapes=True)
        prof.preset_metadata_json("preset", "[1, 2]")
        with prof:
            prof.add_metadata("text", "some text")
            prof.add_metadata_json("number", "5")
        prof.export_chrome_trace(str(path))
        return json.loads(path.read_text())

    from opscope.torch import features

    theirs, ours = (write(module, tmp_path / f"{i}.json") for i, module in enumerate(both_modules()))
    assert set(ours) == set(theirs)
    if features.has("profile.get_trace_id"):
        assert len(ours["trace_id"]) == 32
    if features.behaves("writes_host_name"):
        assert ours["host_name"] == theirs["host_name"]
    for key in ("schemaVersion", "deviceProperties", "record_shapes", "preset", "text", "number", "displayTimeUnit"):
        assert ours[key] == theirs[key], key


@pytest.mark.parametrize("options", [{}, {"profile_memory": True}, {"with_stack": True}], ids=str)
def test_the_file_ends_with_torchs_rows_in_torchs_order(options, tmp_path):
    import torch

    def last_rows(module, path):
        with module.profile(activities=[module.ProfilerActivity.CPU], **options) as prof:
            with module.record_function("step"):
                (torch.ones(2, requires_grad=True) * 2).sum().backward()
        prof.export_chrome_trace(str(path))
        rows = json.loads(path.read_text())["traceEvents"]
        first = next(i for i, row in enumerate(rows) if row["pid"] == "Spans")
        return [(row["ph"], row["name"], row["pid"], row["tid"], row.get("s")) for row in rows[first:]]

    theirs, ours = (last_rows(module, tmp_path / f"{i}.json") for i, module in enumerate(both_modules()))
    assert ours == theirs
    assert [row[1] for row in ours][-2:] == ["Iteration Start: PyTorch Profiler", "Record Window End"]


def test_metadata_texts_survive_where_the_originals_file_breaks(tmp_path):
    import opscope.torch

    text = 'say "hi" \\ and\nmore \U0001f600'
    with opscope.torch.profile() as prof:
        prof.add_metadata("text", text)
    path = tmp_path / "x.json"
    prof.export_chrome_trace(str(path))
    assert json.loads(path.read_text(encoding="utf-8"))["text"] == text


def test_metadata_after_the_recording_was_read_is_not_lost_in_silence(tmp_path):
    import opscope.torch

    with opscope.torch.profile() as prof:
        pass
    prof.add_metadata("after stop", "kept")
    prof.events()
    with pytest.warns(UserWarning, match="'too late' came after the recording was read"):
        prof.add_metadata("too late", "x")
    prof.export_chrome_trace(str(tmp_path / "x.json"))
    assert json.loads((tmp_path / "x.json").read_text())["after stop"] == "kept"


@pytest.mark.torch_has("_KinetoProfile.export_chrome_trace(use_python_export)")
def test_files_can_be_written_again_and_say_the_same(tmp_path):
    import torch

    import opscope
    import opscope.torch

    with opscope.torch.profile(record_shapes=True) as prof:
        torch.ones(2, 3) @ torch.ones(3, 4)
    plain, packed, own = (str(tmp_path / name) for name in ("t.json", "t.json.gz", "t.opscope"))
    prof.export_chrome_trace(plain)
    prof.export_chrome_trace(plain)
    prof.export_chrome_trace(packed, use_python_export=True)
    prof.save(own)
    with open(plain) as file, gzip.open(packed) as zipped:
        first, second = json.load(file), json.load(zipped)
    assert first["traceEvents"] == second["traceEvents"]
    names = sorted(prof.trace.spans.text("name"))
    assert "aten::matmul" in names
    for path in (plain, packed, own):
        read = sorted(opscope.open(path).spans.text("name"))
        assert [name for name in read if name != "PyTorch Profiler (0)"] == names


def test_files_that_cannot_be_written_raise_os_errors_with_the_path(tmp_path):
    import opscope.torch

    with opscope.torch.profile() as prof:
        pass
    missing = str(tmp_path / "no" / "such" / "folder.json")
    for write, path in (
        (prof.export_chrome_trace, missing),
        (prof.export_chrome_trace, str(tmp_path)),
        (prof.save, missing.replace(".json", ".opscope")),
    ):
        with pytest.raises(OSError) as error:
            write(path)
        assert path in str(error.value)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("use_gzip", [False, True])
def test_the_trace_handler_names_files_as_torch_does(tmp_path, use_gzip):
    import socket

    import opscope.torch

    folder = tmp_path / "new" / "folder"
    handler = opscope.torch.tensorboard_trace_handler(str(folder), use_gzip=use_gzip)
    before = time.time_ns()
    schedule = schedule_of(opscope.torch, [S, S])
    with opscope.torch.profile(schedule=schedule, on_trace_ready=handler) as prof:
        prof.step()
    files = sorted(os.listdir(folder))
    assert len(files) == 2
    for name in files:
        worker, stamp, *ending = name.split(".", 2)
        assert worker == f"{socket.gethostname().split('.')[0]}_{os.getpid()}" or "." in socket.gethostname()
        assert before < int(stamp) < time.time_ns() or "." in socket.gethostname()
        assert name.endswith(".pt.trace.json.gz" if use_gzip else ".pt.trace.json")
    with (gzip.open if use_gzip else open)(folder / files[0]) as file:
        json.load(file)
    opscope.torch.tensorboard_trace_handler(str(folder), "worker")(prof)
    assert any(name.startswith("worker.") for name in os.listdir(folder))


def test_prof_trace_is_a_trace():
    import torch

    import opscope
    import opscope.torch

    with opscope.torch.profile() as prof:
        torch.ones(1)
    assert isinstance(prof.trace, opscope.Trace)
    assert "aten::ones" in list(prof.trace.spans.text("name"))


def test_a_saved_recording_exports_the_members_of_the_live_file(tmp_path):
    import torch

    import opscope
    from opscope.torch import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU]) as prof:
        torch.ones(2).add(1)
    prof.export_chrome_trace(str(tmp_path / "live.json"))
    prof.save(tmp_path / "run.opscope")
    saved = opscope.open(tmp_path / "run.opscope")
    saved.export(tmp_path / "saved.json", to="chrome")
    live, again = (json.loads((tmp_path / name).read_text()) for name in ("live.json", "saved.json"))
    assert list(again) == list(live)
    of_recording_alone = {"opscope_threads", "opscope_processors", "opscope_software", "opscope_options"}
    assert of_recording_alone <= set(saved.metadata["key"]) - set(live)
