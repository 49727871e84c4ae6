# SPDX-License-Identifier: Apache-2.0
"""``opscope export --to paddle-protobuf`` and ``--to paddle-chrome`` write what paddle.profiler wrote of the same run.

The original's loader opens our protobuf, and prints, and writes, of it what it does of its own."""

import json
import math
import pathlib
import subprocess
import sys

import paddle_oracle
import pytest
from paddle_protobuf import Invention, decode, fields, message, rewrite_types
from test_paddle_summary import assert_same_texts, ours, profiled, run_oracle  # noqa: F401  (profiled is a fixture)

import opscope

pytestmark = pytest.mark.framework("paddle")

SEEDS = range(100, 112)


@pytest.fixture(scope="module")
def invented(tmp_path_factory):
    """Protobufs of invented devices, with what the original prints and writes of them."""
    folder = tmp_path_factory.mktemp("invented")
    paths = [folder / f"{seed}.pb" for seed in SEEDS]
    for seed, path in zip(SEEDS, paths, strict=True):
        path.write_bytes(Invention(seed, shapes=True).file())
        opscope.open(path).export(folder / f"{seed}.ours.pb", to="paddle-protobuf")
        opscope.open(path).export(folder / f"{seed}.ours.json", to="paddle-chrome")
    run_oracle("rewrite", *paths, folder=folder)
    texts = json.loads(run_oracle("tables", *(folder / f"{seed}.ours.pb" for seed in SEEDS), folder=folder))
    theirs = json.loads(run_oracle("tables", *paths, folder=folder))
    return {
        seed: (folder, texts[str(folder / f"{seed}.ours.pb")], theirs[str(folder / f"{seed}.pb")]) for seed in SEEDS
    }


def has_events(nodes):
    return len(nodes) > 1 or nodes[0]["calls"] or nodes[0]["memory"]


def sorted_info(tree):
    return {**tree, "extra_info": sorted(tree["extra_info"])}


@pytest.mark.parametrize("program", paddle_oracle.PROGRAMS)
def test_the_protobuf_of_a_run_has_the_originals_fields(profiled, tmp_path, program):  # noqa: F811
    theirs = profiled / f"{program}.pb"
    opscope.open(theirs).export(tmp_path / "ours.pb", to="paddle-protobuf")
    expected = decode(theirs.read_bytes())
    assert sum(len(thread["nodes"]) for thread in expected["threads"]) > 20
    assert sorted_info(decode((tmp_path / "ours.pb").read_bytes())) == sorted_info(expected)


@pytest.mark.parametrize("program", ["mlp_all", "threads"])
def test_the_originals_loader_opens_what_it_refuses_of_its_own(profiled, tmp_path, program):  # noqa: F811
    theirs, path = profiled / f"{program}.pb", tmp_path / "ours.pb"
    opscope.open(theirs).export(path, to="paddle-protobuf")
    opened = json.loads(run_oracle("tables", theirs, path, folder=tmp_path))
    assert opened[str(theirs)] is None
    assert opened[str(path)] is not None
    # Types 15 and 16 are OperatorInner there: as in this file, which has no others.
    known = tmp_path / "known.pb"
    known.write_bytes(rewrite_types(path.read_bytes()))
    assert_same_texts(ours(known), opened[str(path)])


def test_a_run_is_the_same_after_a_turn_through_the_protobuf(profiled, tmp_path):  # noqa: F811
    for program in paddle_oracle.PROGRAMS:
        first = tmp_path / f"{program}.1.pb"
        opscope.open(profiled / f"{program}.pb").export(first, to="paddle-protobuf")
        opscope.open(first).export(tmp_path / "2.pb", to="paddle-protobuf")
        assert first.read_bytes() == (tmp_path / "2.pb").read_bytes()
        opscope.open(profiled / f"{program}.pb").export(tmp_path / "a.json", to="chrome")
        opscope.open(first).export(tmp_path / "b.json", to="chrome")
        a, b = ((tmp_path / name).read_bytes() for name in ("a.json", "b.json"))
        assert a.replace(b"a.json", b"") == b.replace(b"b.json", b"")


def test_the_original_prints_the_same_of_our_protobuf(invented):
    for _, of_ours, of_theirs in invented.values():
        assert of_ours is not None
        assert_same_texts(of_ours, of_theirs)


def test_invented_devices_have_the_originals_fields(invented):
    for seed, (folder, _, _) in invented.items():
        expected = decode((folder / f"{seed}.pb").read_bytes())
        # A thread without any event is none, and the original writes none.
        expected["threads"] = [thread for thread in expected["threads"] if has_events(thread["nodes"])]
        assert decode((folder / f"{seed}.ours.pb").read_bytes()) == expected


# The JSON ----------------------------------------------------------------------------------------------------------


def number_of(text):
    value, unit = text.split(" ")
    return float(value) * {"us": 1, "ms": 1000}[unit]


def assert_near(ours, theirs, what):
    """The original's number went through a float of 32 bits, and both were printed with three decimals."""
    assert math.isclose(ours, theirs, rel_tol=2**-22, abs_tol=0.0011), what


def assert_same_events(our_file, their_file):
    ours = json.loads(our_file.read_text())
    theirs = json.loads(their_file.read_text())
    assert ours.pop("span_indx") == theirs["span_index"]
    our_events, their_events = ours.pop("traceEvents"), theirs.pop("traceEvents")
    assert ours == theirs
    assert len(our_events) == len(their_events)
    for our, their in zip(our_events, their_events, strict=True):
        assert our.keys() == their.keys()
        their_args, our_args = their.pop("args", {}), our.pop("args", {})
        assert our_args.keys() == their_args.keys(), their
        for time in {"start_time", "end_time"} & their_args.keys():
            assert_near(number_of(our_args.pop(time)), number_of(their_args.pop(time)), their)
        if "dur" in their:
            assert_near(our.pop("dur"), their.pop("dur"), their)
            our_name, our_time = our.pop("name")[:-1].rsplit("[", 1)
            their_name, their_time = their.pop("name")[:-1].rsplit("[", 1)
            assert our_name == their_name
            assert our_time[-2:] == their_time[-2:]
            scale = 1000 if our_time.endswith("ms") else 1
            assert_near(number_of(our_time) / scale, number_of(their_time) / scale, their)
        bandwidth = "memory bandwidth (GB/s)"
        if bandwidth in their_args:
            assert_near(our_args.pop(bandwidth), their_args.pop(bandwidth), their)
        for slots in {
            "input_shapes",
            "input_dtypes",
        } & their_args.keys():  # the original's loader loses what is in them
            assert our_args.pop(slots).keys() == their_args.pop(slots).keys()
        if "callstack" in our_args:
            our_args["callstack"] = our_args["callstack"].replace('"', "'")
        assert our == their
        assert our_args == their_args, their


@pytest.mark.parametrize("program", paddle_oracle.PROGRAMS)
def test_the_json_of_a_run_has_the_originals_events(profiled, tmp_path, program):  # noqa: F811
    opscope.open(profiled / f"{program}.pb").export(tmp_path / "ours.json", to="paddle-chrome")
    assert_same_events(tmp_path / "ours.json", profiled / f"{program}.json")


def test_the_json_of_invented_devices_has_the_originals_events(invented):
    for seed, (folder, _, _) in invented.items():
        assert_same_events(folder / f"{seed}.ours.json", folder / f"{seed}.pb.json")


# By field of Paddle's nodetree.proto; the keys of the JSON that a build for devices writes.
DEVICES = [
    (0, 'A "device"', 8 << 33, 9, 0, 1024, 2048, 65536, 65537, 32, 49152, 233472, 132, 232448),
    (3, "another", 1, 7, 5, 2, 3, 4, 5, 6, 7, 8, 9, 10),
]
KEYS = """id name totalGlobalMem computeMajor computeMinor maxThreadsPerBlock maxThreadsPerMultiprocessor regsPerBlock
regsPerMultiprocessor warpSize sharedMemPerBlock sharedMemPerMultiprocessor smCount sharedMemPerBlockOptin""".split()


def test_properties_of_devices_come_through_both_files(tmp_path):
    whole = Invention(3).file()
    (tmp_path / "t.pb").write_bytes(whole + message(*((5, fields(*device)) for device in DEVICES)))
    trace = opscope.open(tmp_path / "t.pb")
    trace.export(tmp_path / "t.json", to="paddle-chrome")
    found = json.loads((tmp_path / "t.json").read_text())["deviceProperties"]
    assert [(*device.items(),) for device in found] == [(*zip(KEYS, device, strict=True),) for device in DEVICES]
    trace.save(tmp_path / "t.opscope")
    for file in ("t.pb", "t.json", "t.opscope"):
        opscope.open(tmp_path / file).export(tmp_path / "again.pb", to="paddle-protobuf")
        written = decode((tmp_path / "again.pb").read_bytes())["devices"]
        assert [tuple(map(text_of, device)) for device in written] == DEVICES, file
    texts = json.loads(run_oracle("tables", tmp_path / "again.pb", folder=tmp_path))
    assert texts[str(tmp_path / "again.pb")] is not None, "the original opens it"


def test_a_file_of_a_build_without_devices_has_no_properties(tmp_path):
    (tmp_path / "t.pb").write_bytes(Invention(3).file())
    opscope.open(tmp_path / "t.pb").export(tmp_path / "t.json", to="paddle-chrome")
    assert "deviceProperties" not in json.loads((tmp_path / "t.json").read_text())


def text_of(value):
    return bytes(value).decode() if isinstance(value, (bytes, bytearray, memoryview)) else value


def test_a_name_with_a_quote_leaves_the_json_whole(tmp_path):
    (tmp_path / "t.pb").write_bytes(Invention(1, names={14: ['say "hi"\\\n\x01']}).file())
    opscope.open(tmp_path / "t.pb").export(tmp_path / "t.json", to="paddle-chrome")
    names = {
        event.get("name", "").split("[")[0] for event in json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    }
    assert 'say "hi"\\\n\x01' in names


def test_the_command_writes_both(tmp_path):
    path = tmp_path / "t.pb"
    path.write_bytes(Invention(2).file())
    for to in ("paddle-protobuf", "paddle-chrome"):
        done = subprocess.run(
            [sys.executable, "-m", "opscope", "export", path, "--to", to, "-o", tmp_path / to],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, f"opscope: {path}: usable: 4 spans cross others\n")
        opscope.open(path).export(tmp_path / "python", to=to)
        assert (tmp_path / to).read_bytes() == pathlib.Path(tmp_path / "python").read_bytes()


def test_a_saved_result_is_logged_at_the_level_of_info(tmp_path, monkeypatch, capsys):
    from opscope.paddle import load_profiler_result

    (tmp_path / "t.pb").write_bytes(Invention(3).file())
    result = load_profiler_result(tmp_path / "t.pb")
    result.save(tmp_path / "silent.json")
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("OPSCOPE_LOG", "info")
    result.save(tmp_path / "told.json")
    assert capsys.readouterr().err == f"opscope: writing profiling data to {tmp_path / 'told.json'}\n"
