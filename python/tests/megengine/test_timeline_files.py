# SPDX-License-Identifier: Apache-2.0
"""Which files a program leaves behind, and when they are written."""

import json
import os

import megengine.functional as F
import pytest
from conftest import OURS, THEIRS, Timeline

from opscope.megengine import Profiler

ADD = "F.add(x, x).numpy()"
FILE = "print(os.getpid()); "


def name(ran, folder="profile", number="", line=0):
    return f"{folder}/{ran.printed.split()[line]}{number}.chrome_timeline.json"


def test_nothing_is_written_before_dump_and_once_by_it(tensor, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    profiler = Profiler("folder/below")
    with profiler:
        F.add(tensor, tensor)
        profiler.dump()
    assert not os.path.exists("folder")
    profiler.dump()
    assert os.listdir("folder/below") == [f"{os.getpid()}.chrome_timeline.json"]
    assert profiler.path == f"folder/below/{os.getpid()}.chrome_timeline.json"
    os.remove(profiler.path)
    profiler.dump()
    assert os.listdir("folder/below") == []


def test_a_file_is_there_when_its_profiler_is_gone(tensor, tmp_path):
    with Profiler(str(tmp_path)):
        F.add(tensor, tensor)
    assert os.listdir(tmp_path) == [f"{os.getpid()}.chrome_timeline.json"]


ENDS = {
    "the end of the program": ("", 0),
    "sys.exit": ("sys.exit(3)", 3),
    "an exception": ("raise ValueError('mine')", 1),
    "MegEngine's exit": ("mge._exit(5)", 5),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("is_open", [False, True])
def test_files_are_written_at_the_end_of_a_program(run, end, is_open):
    statement, status = ENDS[end]
    block = f"profiler.start(); {ADD}" if is_open else f"with profiler: {ADD}"
    ran = run(f"{FILE}profiler = Profiler()\n{block}\n{statement}\n", status=status)
    assert ran.files == [name(ran)]
    assert Timeline(ran.folder / ran.files[0]).begins()["OpDispatch"] == 1
    assert "opscope:" not in ran.told and "Exception ignored" not in ran.told


def test_os_exit_leaves_no_file_as_with_the_original(run):
    program = f"profiler = Profiler()\nwith profiler: {ADD}\nos._exit(0)\n"
    assert run(program).files == run(program, names=THEIRS, folder="theirs").files == []


def test_the_last_window_is_what_is_written(run):
    program = f"{FILE}profiler = Profiler()\nfor i in range(3):\n  with profiler, scope(f'window{{i}}'): {ADD}\n"
    for names in (OURS, THEIRS):
        ran = run(program, names=names, folder=names.split()[1])
        begins = Timeline(ran.folder / name(ran)).begins()
        assert [key for key in begins if key.startswith("window")] == ["window2"]


def test_a_second_living_profiler_in_a_folder_gets_a_number(run):
    ran = run(
        f"""{FILE}first, second, other = Profiler(), Profiler("./profile"), Profiler("other")
with first, scope("first"): {ADD}
with second, scope("second"): {ADD}
with other: {ADD}
print(second.path)
del first
with Profiler(), scope("third"): {ADD}
"""
    )
    assert ran.files == sorted([name(ran, "other"), name(ran), name(ran, number=".2")])
    assert "./" + name(ran, number=".2") == ran.printed.split()[1]
    written = {file: set(Timeline(ran.folder / file).begins()) & {"first", "second", "third"} for file in ran.files}
    assert written == {name(ran): {"third"}, name(ran, number=".2"): {"second"}, name(ran, "other"): set()}


def test_the_functions_of_a_program_have_a_file_each(run):
    ran = run(
        f"""{FILE}
@profile()
def one(): {ADD}
@profile()
def two(): {ADD}
one(); two(); one()
"""
    )
    assert ran.files == sorted([name(ran), name(ran, number=".2")])


def test_files_are_relative_to_where_the_program_stands_when_they_are_written(run):
    program = f"{FILE}profiler = Profiler()\nwith profiler: {ADD}\nos.mkdir('in'); os.chdir('in')\n"
    for names in (OURS, THEIRS):
        ran = run(program, names=names, folder=names.split()[1])
        assert ran.files == ["in/" + name(ran)]


def test_a_path_that_is_no_folder_is_told_and_the_window_is_kept(tensor, tmp_path):
    place = tmp_path / "place"
    place.write_text("mine")
    profiler = Profiler(str(place))
    with profiler:
        F.add(tensor, tensor)
    profiler.dump()
    assert place.read_text() == "mine"
    place.unlink()
    profiler.dump()
    assert len(os.listdir(place)) == 1


def test_a_place_that_cannot_be_written_is_an_oserror_and_the_window_is_kept(tensor, tmp_path):
    profiler = Profiler("/proc/nowhere")
    with profiler:
        F.add(tensor, tensor)
    with pytest.raises(OSError, match="/proc/nowhere"):
        profiler.dump()
    profiler._path = str(tmp_path)
    profiler.dump()
    assert len(os.listdir(tmp_path)) == 1


def test_the_end_of_a_program_is_not_changed_by_a_place_that_cannot_be_written(run):
    ran = run(
        f"profiler = Profiler('/proc/nowhere')\nprofiler.start(); {ADD}\nwith_file = Profiler()\nsys.exit(3)", status=3
    )
    assert "/proc/nowhere" in ran.told and "Traceback" not in ran.told


def test_nothing_half_written_stays_under_the_name(tensor, tmp_path, monkeypatch):
    profiler = Profiler(str(tmp_path))
    with profiler:
        F.add(tensor, tensor)
    blocked = tmp_path / f"{os.getpid()}.chrome_timeline.json"
    blocked.mkdir()
    with pytest.raises(OSError):
        profiler.dump()
    assert os.listdir(tmp_path) == [blocked.name]
    blocked.rmdir()
    profiler.dump()
    assert json.loads(blocked.read_text())["traceEvents"]


def test_record_to_has_each_window_when_the_process_is_killed(run):
    import opscope

    program = f"""
profiler = Profiler(record_to="kept.opscope")
for i in range(2):
    with profiler, scope(f"window {{i}}"): {ADD}
os.kill(os.getpid(), 9)
"""
    ran = run(program, status=-9)
    assert ran.files == ["kept.2.opscope", "kept.opscope"]
    for number, file in enumerate(["kept.opscope", "kept.2.opscope"]):
        names = set(opscope.open(ran.folder / file).spans.text("name"))
        assert {name for name in names if name.startswith("window")} == {f"window {number}"}


def test_record_to_where_nothing_can_be_written_is_a_warning(tensor, tmp_path):
    profiler = Profiler(str(tmp_path), record_to="/proc/nowhere/kept.opscope")
    with pytest.warns(RuntimeWarning, match="/proc/nowhere/kept.opscope"), profiler:
        F.add(tensor, tensor)
    profiler.dump()
    assert len(os.listdir(tmp_path)) == 1
