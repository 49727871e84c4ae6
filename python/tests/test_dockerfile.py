# SPDX-License-Identifier: Apache-2.0
"""The Dockerfile without Docker: what its first stage copies and calls is there, and is all that the package is built
from. The steps of its second stage run with a wheel that holds nothing, and in a fresh environment with the wheel that
`make wheel` has left (tools/build_wheel.py calls that test).
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import chrome_json, complete_event

ROOT = Path(__file__).resolve().parents[2]
INSTRUCTIONS = {"FROM", "WORKDIR", "COPY", "RUN", "ENTRYPOINT", "CMD"}
OF_THE_IMAGE = {"pip", "rm"}  # programs of python:3.*-bookworm
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


def commands(words):
    """The commands of a RUN: lists of words."""
    return [shlex.split(command) for command in words.split("&&")]


def test_each_step_of_the_first_stage_calls_a_program_that_is_there_by_then():
    copied_paths, programs = set(), set(OF_THE_IMAGE)
    for instruction, words in stages()[0]:
        if instruction == "COPY":
            copied_paths |= set(words.split()[:-1])
        for program, *arguments in commands(words) if instruction == "RUN" else ():
            if "/" in program:
                assert program in copied_paths and os.access(ROOT / program, os.X_OK), program
                usage = re.findall(rf"^#   {program} (\w+)", (ROOT / program).read_text(), re.MULTILINE)
                assert set(arguments) <= set(usage)
            else:
                assert program in programs, program
            if [program, *arguments[:1]] == ["pip", "install"]:
                programs |= set(arguments[1:])
            if [program, *arguments[:1]] == ["pip", "wheel"]:
                assert {"pyproject.toml", "CMakeLists.txt"} <= copied_paths  # else "." is no project


def test_the_second_stage_takes_the_wheel_from_where_the_first_one_leaves_it():
    build, slim = stages()
    (home,) = (words for instruction, words in build if instruction == "WORKDIR")
    (built,) = (command for _, words in build for command in commands(words) if command[:2] == ["auditwheel", "repair"])
    (taken,) = (words.split() for instruction, words in slim if instruction == "COPY")
    assert taken == ["--from=build", f"{home}/{built[built.index('-w') + 1]}", "/wheelhouse"]


def test_it_has_only_instructions_that_these_tests_read():
    assert {instruction for stage in stages() for instruction, _ in stage} == INSTRUCTIONS


def run_steps_of_second_stage(wheelhouse, environment):
    """What each RUN did, until one fails; /wheelhouse is a folder of the test."""
    done = []
    for instruction, words in stages()[1]:
        if instruction == "RUN":
            line = ["sh", "-ec", words.replace("/wheelhouse", str(wheelhouse))]
            done.append(subprocess.run(line, env=environment, capture_output=True, text=True, check=False))
            if done[-1].returncode != 0:
                break
    return done


def test_the_steps_of_the_second_stage_install_the_wheel_with_its_extras_and_remove_it(tmp_path):
    wheelhouse, programs = tmp_path / "wheelhouse", tmp_path / "bin"
    wheelhouse.mkdir()
    programs.mkdir()
    extras = re.findall(
        r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text().partition("optional-dependencies]")[2], re.M
    )
    (used,) = re.findall(r"\.whl\)\[([\w,]+)\]", str(stages()[1]))
    assert set(used.split(",")) <= set(extras)
    provided = "".join(f"Provides-Extra: {extra}\n" for extra in used.split(","))
    with zipfile.ZipFile(wheelhouse / "opscope-9.8-py3-none-any.whl", "w") as wheel:
        info = "opscope-9.8.dist-info"
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: opscope\nVersion: 9.8\n{provided}")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    (programs / "pip").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pip "$@"\n')
    (programs / "pip").chmod(0o755)
    target = {"PIP_TARGET": str(tmp_path / "site"), "PIP_NO_INDEX": "1"}
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", **target}
    done = run_steps_of_second_stage(wheelhouse, environment)
    assert [(each.returncode, each.stderr) for each in done if each.returncode or "WARNING" in each.stderr] == []
    assert (tmp_path / "site" / info).is_dir() and not wheelhouse.exists()


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
    for done in run_steps_of_second_stage(tmp_path / "wheelhouse", environment):
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
