# SPDX-License-Identifier: Apache-2.0
"""Real traces of CUDA and ROCm: what ``opscope devices`` prints of each, and that reading and writing loses nothing.

What is printed is kept in tests/golden/kineto_samples; OPSCOPE_UPDATE_GOLDEN=1 rewrites what differs, and the run
still fails. The traces lie beside the repository.
"""

import collections
import decimal
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import opscope

SAMPLES = Path(__file__).parents[2].parent / "shared" / "samples" / "kineto"
GOLDEN = Path(__file__).parents[2] / "tests" / "golden" / "kineto_samples"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.txt"))

COMMANDS = ("devices", "devices --copies", "devices --kernels --csv --limit 5")

# What torch writes with the arguments of an operator since 2.4; older files lack them, and they are empty then.
NEWER_ARGUMENTS = {
    "Concrete Inputs": lambda values: set(values) == {""},
    "Input Strides": lambda values: not any(values),
}


def sample(name):
    path = SAMPLES / f"{name}.json.gz"
    if not path.exists():
        pytest.skip("no ../shared/samples here")
    return path


def test_every_sample_has_golden_output():
    if not SAMPLES.exists():
        pytest.skip("no ../shared/samples here")
    found = [path.name.removesuffix(".json.gz") for path in SAMPLES.glob("*.json.gz")]
    assert sorted(name for name in found if name.startswith(("cuda_", "diff_", "rocm_"))) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_devices_prints_what_it_did(name):
    path = sample(name)
    printed = ""
    for command in COMMANDS:
        arguments = [*command.split(), path.name]
        done = subprocess.run(
            [sys.executable, "-m", "opscope", *arguments], cwd=SAMPLES, capture_output=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
        text = (done.stdout + done.stderr).decode().replace("\r\n", "\n")
        printed += f"$ opscope {' '.join(arguments)}\n{text}\n"
    golden = GOLDEN / f"{name}.txt"
    expected = golden.read_text(encoding="utf-8")
    if printed != expected and "OPSCOPE_UPDATE_GOLDEN" in os.environ:
        golden.write_text(printed, encoding="utf-8")
    assert printed == expected


def plain(value):
    """A JSON value that can be compared and counted, whatever the order of its members."""
    if isinstance(value, dict):
        return tuple(sorted((key, plain(member)) for key, member in value.items()))
    if isinstance(value, list):
        return tuple(map(plain, value))
    return value if isinstance(value, bool | str | None) else decimal.Decimal(value)


def read(path):
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data, parse_float=decimal.Decimal)


def without_empty_arguments(event):
    arguments = event.get("args", {})
    kept = {k: v for k, v in arguments.items() if k not in NEWER_ARGUMENTS or not NEWER_ARGUMENTS[k](v)}
    return event | {"args": kept} if "args" in event else event


def counted(events):
    return collections.Counter(plain(without_empty_arguments(event)) for event in events)


def named(events):
    """What the document says of its processes and threads, of those that have events."""
    used = {(e["pid"], e["tid"]) for e in events if e["ph"] != "M" and "tid" in e}
    pids = {pid for pid, _ in used}
    names = {}
    for e in events:
        of_process = e["name"].startswith("process_")
        if e["ph"] == "M" and (e["pid"] in pids if of_process else (e["pid"], e["tid"]) in used):
            names[e["name"], e["pid"], None if of_process else e["tid"]] = plain(e["args"])
    return names


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_that_is_exported_has_lost_nothing(name, tmp_path):
    """But arrows that lead from or to nowhere, which are counted. Old names of arrows become torch's of today."""
    path = sample(name)
    trace = opscope.open(path)
    first, saved, second, third = (tmp_path / file for file in ("1.json", "1.opscope", "2.json", "3.json"))
    trace.export(first, to="chrome")
    theirs, ours = read(path), read(first)

    def of(document, is_flow):
        return [e for e in document["traceEvents"] if e["ph"] != "M" and (e["ph"] in "stf") == is_flow]

    assert counted(of(ours, False)) == counted(of(theirs, False))
    unpaired = dict(zip(trace.problems.text("kind"), trace.problems["count"], strict=True)).get("unpaired_flow", 0)
    assert len(of(ours, True)) == len(of(theirs, True)) - unpaired
    renamed = [e | {"cat": e["cat"].replace("async_cpu_to_gpu", "ac2g")} for e in of(theirs, True)]
    points = {(e["ph"], e["cat"], e["id"], e["pid"], e["tid"], e["ts"]) for e in renamed}
    assert {(e["ph"], e["cat"], e["id"], e["pid"], e["tid"], e["ts"]) for e in of(ours, True)} <= points
    assert named(ours["traceEvents"]) == named(theirs["traceEvents"])
    kept = {key: plain(value) for key, value in theirs.items() if key not in ("traceEvents", "traceName")}
    assert {key: plain(ours[key]) for key in kept} == kept

    trace.export(saved, to="opscope")
    opscope.open(saved).export(second, to="chrome")
    opscope.open(first).export(third, to="chrome")
    for again in (second, third):
        assert read(again) | {"traceName": ""} == ours | {"traceName": ""}
