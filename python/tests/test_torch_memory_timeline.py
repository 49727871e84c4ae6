# SPDX-License-Identifier: Apache-2.0
"""The memory timeline beside torch.profiler's: the same events, bytes and categories."""

import gzip
import json
import pathlib
import xml.etree.ElementTree as ElementTree

import pytest

pytestmark = pytest.mark.framework("torch")

SCRIPT = pathlib.Path(__file__).with_name("timeline_under_both.py")
PROGRAMS = ("sgd", "momentum", "adam", "adam_warm", "inference", "checkpoint", "convolution", "moved_storages")
PARAMETER, OPTIMIZER_STATE, INPUT, TEMPORARY, ACTIVATION, GRADIENT, AUTOGRAD_DETAIL, UNKNOWN = range(8)


@pytest.fixture(scope="module")
def folders(programs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("timelines")
    done = programs.run_script(SCRIPT, str(folder), limit_s=300)
    assert done.status == 0, done.stderr
    return folder


@pytest.fixture(params=PROGRAMS)
def written(request, folders):
    """What timeline_under_both.py has written of one program."""
    return folders / request.param


def load(path):
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt") as file:
        return json.load(file)


def pair(folder, suffix):
    return load(folder / f"theirs.{suffix}"), load(folder / f"ours.{suffix}")


def test_every_event_has_the_originals_action_bytes_and_category(written):
    theirs, ours = pair(written, "raw.json.gz")
    assert len(theirs) > 15
    assert [row[1:] for row in ours] == [row[1:] for row in theirs]
    # Both read the clock once per event, one shortly after the other.
    assert all((a[0] == -1) == (b[0] == -1) for a, b in zip(theirs, ours, strict=True))
    known = [row[0] for row in ours if row[0] != -1]
    assert known == sorted(known)
    assert max(abs(a[0] - b[0]) for a, b in zip(theirs, ours, strict=True)) < 1e9


def test_bytes_by_category_end_as_the_originals_do(written):
    (_, theirs), (times, ours) = pair(written, "json")
    assert ours[-1] == theirs[-1]
    assert [max(column) for column in zip(*ours, strict=True)] == [max(column) for column in zip(*theirs, strict=True)]
    assert len(times) == len(ours)
    assert all(len(row) == 9 and row[0] == 0 for row in ours)
    assert min(times) > 1.6e15, "microseconds since 1970"


def test_the_compressed_form_is_the_plain_one(written):
    assert load(written / "ours.json.gz") == load(written / "ours.json")


def test_a_saved_recording_gives_the_same_timeline(written):
    import opscope
    from opscope import _core

    trace = opscope.open(written / "ours.opscope")
    timeline = _core.torch.MemoryTimeline(trace._core)
    assert timeline.has_operators
    assert json.loads(timeline.raw_json(0, -1)) == load(written / "ours.raw.json.gz")


def test_the_page_is_whole_and_shows_what_there_is(written):
    text = (written / "ours.html").read_text()
    assert "http" not in text.replace("http://www.w3.org/2000/svg", ""), "nothing from elsewhere"
    svg = ElementTree.fromstring(text[text.index("<svg") : text.index("</svg>") + 6])
    space = "{http://www.w3.org/2000/svg}"
    drawn = {area.find(f"{space}title").text for area in svg.iter(f"{space}polygon")}
    _, rows = load(written / "ours.json")
    names = "PARAMETER OPTIMIZER_STATE INPUT TEMPORARY ACTIVATION GRADIENT AUTOGRAD_DETAIL Unknown".split()
    # A temporary may live for less than a column.
    lasting = {name for i, name in enumerate(names) if i != TEMPORARY and any(row[i + 1] for row in rows)}
    assert lasting <= drawn | {"AUTOGRAD_DETAIL", "Unknown"}
    assert all(name in text for name in names)


def recorded(run, **changed):
    import torch

    import opscope.torch

    wanted = {"record_shapes": True, "profile_memory": True, "with_stack": True} | changed
    with opscope.torch.profile(activities=[torch.profiler.ProfilerActivity.CPU], **wanted) as prof:
        run()
    return prof


def export(prof, path, **arguments):
    with pytest.warns(FutureWarning, match="`export_memory_timeline` is deprecated"):
        prof.export_memory_timeline(path, **arguments)


def add():
    import torch

    torch.ones(4).add_(1)


@pytest.mark.parametrize("missing", [("record_shapes",), ("profile_memory", "with_stack")])
@pytest.mark.torch_does("deprecates_memory_timeline")
def test_the_flags_that_are_missing_are_told_in_the_originals_words(missing, tmp_path):
    import torch

    off = dict.fromkeys(missing, False)
    prof = recorded(add, **off)
    with torch.profiler.profile(**{"record_shapes": True, "profile_memory": True, "with_stack": True} | off) as theirs:
        add()
    messages = []
    for each in (theirs, prof):
        with pytest.warns(FutureWarning), pytest.raises(ValueError) as told:
            each.export_memory_timeline(str(tmp_path / "x.json"))
        messages.append(str(told.value))
    assert messages[0] == messages[1]


def test_without_a_device_the_default_is_the_originals(tmp_path):
    import torch

    prof = recorded(add)
    export(prof, str(tmp_path / "default.json"))
    export(prof, tmp_path / "named.json", device="cuda:0" if torch.cuda.is_available() else "cpu")
    assert load(tmp_path / "default.json") == load(tmp_path / "named.json")
    assert prof.mem_tl is not None


def test_a_device_without_memory_gives_empty_lists(tmp_path):
    prof = recorded(add)
    export(prof, str(tmp_path / "x.json"), device="cuda:3")
    export(prof, str(tmp_path / "x.html"), device="cuda:3")
    assert load(tmp_path / "x.json") == [[], []]
    assert "cuda:3" in (tmp_path / "x.html").read_text()


@pytest.mark.parametrize("name", ["x.json", "x.json.gz", "x.raw.json.gz", "x.html"])
def test_an_unwritable_place_is_one_error_and_leaves_nothing(name, tmp_path):
    prof = recorded(add)
    with pytest.warns(FutureWarning), pytest.raises(FileNotFoundError) as told:
        prof.export_memory_timeline(str(tmp_path / "nowhere" / name), device="cpu")
    assert told.value.filename == str(tmp_path / "nowhere" / name)
    (tmp_path / name).mkdir()
    with pytest.warns(FutureWarning), pytest.raises(IsADirectoryError):
        prof.export_memory_timeline(str(tmp_path / name), device="cpu")
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


def test_what_is_written_replaces_what_was_there(tmp_path):
    path = tmp_path / "x.json"
    path.write_text("old")
    prof = recorded(add)
    export(prof, str(path), device="cpu")
    export(prof, str(path), device="cpu")
    assert load(path)[1][-1] == [0] * 9
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.torch_has("_ExperimentalConfig(profile_all_threads)")
def test_tensors_of_several_threads_are_followed(tmp_path):
    import threading

    import torch

    def run():
        shared = torch.ones(1000)

        def work():
            for _ in range(20):
                (shared + 1).mul_(2)

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        shared.add_(1)

    import opscope.torch

    config = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
    with opscope.torch.profile(
        activities=[torch.profiler.ProfilerActivity.CPU],
        record_shapes=True,
        profile_memory=True,
        with_stack=True,
        experimental_config=config,
    ) as prof:
        run()
    export(prof, str(tmp_path / "x.raw.json.gz"), device="cpu")
    rows = load(tmp_path / "x.raw.json.gz")
    of_tensors = [row for row in rows if abs(row[2]) == 4000]  # the rest are scalars
    assert [row[1] for row in of_tensors].count(2) == 41
    assert [row[1] for row in of_tensors].count(4) == 41
    assert all(row[3] in (TEMPORARY, UNKNOWN) for row in of_tensors), "there is no gradient"
