# SPDX-License-Identifier: Apache-2.0
"""Exports to places that cannot be written: one error with the path, no half file, nothing beside it; and sizes."""

import os

import pytest

pytestmark = pytest.mark.framework("torch")

EXPORTS = {
    "export_chrome_trace": lambda prof, path: prof.export_chrome_trace(path),
    "export_chrome_trace gz": lambda prof, path: prof.export_chrome_trace(path + ".gz"),
    "events.export_chrome_trace": lambda prof, path: prof.events().export_chrome_trace(path),
    "save": lambda prof, path: prof.save(path),
    "tensorboard_trace_handler": lambda prof, path: handler_into(path)(prof),
}


def handler_into(path):
    import opscope.torch

    return opscope.torch.tensorboard_trace_handler(os.path.dirname(path), worker_name=os.path.basename(path))


@pytest.fixture(scope="module")
def recorded():
    import torch

    import opscope.torch

    with opscope.torch.profile(record_shapes=True) as prof:
        for _ in range(2000):
            torch.ones(3, 3).add(1.0)
    return prof


def files_below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("export", [name for name in EXPORTS if name != "tensorboard_trace_handler"])
def test_a_folder_of_that_name_is_an_error_and_stays(recorded, export, tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "x.gz").mkdir()
    before = files_below(tmp_path)
    with pytest.raises(IsADirectoryError) as error:
        EXPORTS[export](recorded, str(tmp_path / "x"))
    assert str(tmp_path / "x") in str(error.value)
    assert files_below(tmp_path) == before


@pytest.mark.parametrize("export", [name for name in EXPORTS if name != "tensorboard_trace_handler"])
def test_a_folder_that_is_not_there_is_an_error(recorded, export, tmp_path):
    path = str(tmp_path / "no" / "x")
    with pytest.raises(FileNotFoundError) as error:
        EXPORTS[export](recorded, path)
    assert path in str(error.value)
    assert files_below(tmp_path) == []


FULL = """
import resource, signal, sys
sys.path.insert(0, {folder!r})
import torch
import opscope.torch
from test_torch_exports import EXPORTS
with opscope.torch.profile(record_shapes=True) as prof:
    for _ in range(2000):
        torch.ones(3, 3).add(1.0)
resource.setrlimit(resource.RLIMIT_FSIZE, (2048, resource.RLIM_INFINITY))
try:
    EXPORTS[{export!r}](prof, {path!r})
except OSError as error:
    print(type(error).__name__, {path!r} in str(error) or {path!r} in str(error.filename))
"""


@pytest.mark.parametrize("export", EXPORTS)
def test_a_file_that_may_not_grow_is_an_error_and_the_old_one_stays(export, programs, tmp_path):
    """A limit on file sizes fails a write in the middle of the file, as a full disk does."""
    path = tmp_path / "x"
    path.write_text("old")
    (tmp_path / "x.gz").write_text("old")
    program = FULL.format(folder=os.path.dirname(__file__), export=export, path=str(path))
    done = programs.run(program)
    assert (done.status, done.stdout.split()) == (0, ["OSError", "True"]), done
    assert files_below(tmp_path) == ["x", "x.gz"]
    assert path.read_text() == (tmp_path / "x.gz").read_text() == "old"


def test_results_before_twice_and_after_a_cycle_without_data_are_defined(tmp_path):
    import torch

    import opscope.torch
    from opscope.torch.features import has

    never = opscope.torch.profile()
    for ask in (never.events, never.key_averages, lambda: never.export_chrome_trace("x"), lambda: never.save("x")):
        with pytest.raises(AssertionError, match="^Profiler must be initialized before "):
            ask()
    with opscope.torch.profile() as prof:
        torch.ones(1)
        if has("LegacyProfile._check_finish"):
            with pytest.raises(RuntimeError, match="^Profiler didn't finish running$"):
                prof.key_averages()
        else:
            assert prof.key_averages().table() == ""
        assert list(prof.events()) == []
        with pytest.raises(RuntimeError, match="still running"):
            prof.export_chrome_trace(str(tmp_path / "x.json"))
    assert prof.events() is prof.events() and len(prof.events()) == 3
    prof.stop()
    assert len(prof.events()) == 3
    with opscope.torch.profile(schedule=opscope.torch.schedule(wait=5, warmup=1, active=1)) as waiting:
        waiting.step()
    with pytest.raises(AssertionError):
        waiting.events()
    with opscope.torch.profile() as empty:
        pass
    assert list(empty.events()) == [] and empty.key_averages().table() == "" and empty.key_averages() == []
    assert empty.key_averages().total_average().count == 0
    empty.export_chrome_trace(str(tmp_path / "empty.json"))
    assert (tmp_path / "empty.json").stat().st_size > 0


@pytest.mark.parametrize(("record_shapes", "most"), [(False, 1.0), (True, 1.05)])
def test_a_gzipped_trace_is_as_small_as_the_originals(record_shapes, most, tmp_path):
    import torch.profiler

    import opscope

    theirs, ours = tmp_path / "theirs.json.gz", tmp_path / "ours.json.gz"
    a = torch.ones(2)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=record_shapes) as prof:
        for _ in range(30000):
            torch.add(a, a)
    prof.export_chrome_trace(str(theirs))
    opscope.open(theirs).export(ours, to="chrome")  # the same events, at the same times
    assert ours.stat().st_size <= most * theirs.stat().st_size
