# SPDX-License-Identifier: Apache-2.0
"""The Dockerfile without Docker: what it copies is there and is all that the package is built from, and the steps of
its second stage run in a fresh environment, with the wheel that `make wheel` has left.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import chrome_json, complete_event

ROOT = Path(__file__).resolve().parents[2]
WHEELHOUSE = ROOT / "build" / "wheel" / "wheelhouse"


def stages():
    """Of each stage: (instruction, its words as one text), in their order."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    found = []
    for line in filter(None, text.splitlines()):
        instruction, words = line.split(maxsplit=1)
        if instruction == "FROM":
            found.append([])
        found[-1].append((instruction, words))
    return found


def copied(stage):
    """The paths that come from the repository."""
    lines = [words.split() for instruction, words in stage if instruction == "COPY"]
    return [path for line in lines if not line[0].startswith("--from") for path in line[:-1]]


def test_it_has_two_stages_of_one_python_and_the_second_is_slim():
    build, slim = stages()
    release = build[0][1].removesuffix(" AS build")
    assert re.fullmatch(r"python:3\.\d+-bookworm", release)
    assert slim[0][1] == release.replace("-bookworm", "-slim-bookworm")
    assert [words for instruction, words in slim if instruction == "ENTRYPOINT"] == ['["opscope"]']


def test_each_path_that_it_copies_is_there_and_keeps_its_name():
    build, slim = stages()
    assert [path for path in copied(build) if not (ROOT / path).exists()] == []
    for instruction, words in build:
        if instruction == "COPY" and not words.endswith(" ./"):
            source, target = words.split()
            assert source == target
    assert copied(slim) == []


def test_it_copies_all_that_the_package_is_built_from():
    paths = set(copied(stages()[0]))
    (sources,) = re.findall(r"source_hash\(\) \{\n  find (.*?) -type f", (ROOT / "tools" / "setup").read_text())
    project = (ROOT / "pyproject.toml").read_text()
    (readme,), (licenses,) = (
        re.findall(r'^readme = "(.*)"', project, re.M),
        re.findall("^license-files = (.*)", project, re.M),
    )
    assert {*sources.split(), readme, *(path.split("/")[0] for path in json.loads(licenses))} <= paths
    assert paths - set(sources.split()) == {"tools/setup", "README.md", "LICENSE", "LICENSES"}


def test_the_steps_of_the_second_stage_give_a_command_that_answers(tmp_path):
    wheels = list(WHEELHOUSE.glob("*.whl"))
    if not wheels:
        pytest.skip("there is no wheel: make wheel")
    shutil.copytree(WHEELHOUSE, tmp_path / "wheelhouse")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    path = f"{tmp_path / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment = {**plain, "PATH": path, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    for instruction, words in stages()[1]:
        if instruction == "RUN":
            line = words.replace("/wheelhouse", str(tmp_path / "wheelhouse"))
            done = subprocess.run(["sh", "-ec", line], env=environment, capture_output=True, text=True, check=False)
            if "No matching distribution found" in done.stderr:
                pytest.skip("packages cannot be fetched")
            assert done.returncode == 0, done.stderr
    assert not (tmp_path / "wheelhouse").exists()
    (tmp_path / "t.json").write_bytes(chrome_json(complete_event("aten::mm", 0, 5)))

    def opscope(*arguments):
        command = [tmp_path / "venv" / "bin" / "opscope", *arguments]
        done = subprocess.run(
            command, cwd=tmp_path, env=plain, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.decode()

    assert "summary" in opscope("--help")
    assert "aten::mm" in opscope("summary", "t.json")
    assert json.loads(opscope("query", "t.json", "SELECT sum(duration) FROM spans", "--json"))["rows"] == [[5000]]
    assert opscope("mcp", "t.json") == ""
