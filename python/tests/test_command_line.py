# SPDX-License-Identifier: Apache-2.0
"""The ``opscope`` command as Python starts it; what the verbs print is tested beside src/cli."""

import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest
from conftest import chrome_json, complete_event

import opscope

MODULE = [sys.executable, "-m", "opscope"]
SCRIPT = pathlib.Path(sys.executable).parent / "opscope"


def run(*arguments, command=MODULE, **options):
    return subprocess.run([*command, *arguments], capture_output=True, timeout=60, **options)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "t.json"
    path.write_bytes(chrome_json(complete_event("aten::mm", 0, 5), complete_event("aten::add", 7, 1)))
    return path


def test_the_version_is_the_packages():
    done = run("--version")
    assert (done.returncode, done.stdout.decode()) == (0, f"opscope {opscope.__version__}\n")


def test_help_names_the_command():
    assert run("--help").stdout.decode().count("opscope") > 0


@pytest.mark.skipif(not SCRIPT.exists(), reason="the package is used without an installation")
def test_the_installed_command_is_the_same(path):
    assert run("summary", "--json", path, command=[SCRIPT]).stdout == run("summary", "--json", path).stdout


def test_a_verb_prints_and_the_exit_code_arrives(path, tmp_path):
    done = run("summary", "--json", path)
    assert done.returncode == 0
    rows = json.loads(done.stdout)["rows"]
    expected = opscope.open(path).summary()
    assert [{key: row[key] for key in expected[0]} for row in rows] == expected
    missing = run("summary", tmp_path / "none")
    assert missing.returncode == 1
    assert missing.stdout == b""
    assert b"none" in missing.stderr
    assert run("no-such-verb").returncode == 2


def test_a_file_name_that_is_not_unicode_arrives_as_it_is(tmp_path):
    name = os.fsencode(tmp_path) + b"/caf\xe9.json"
    with open(name, "wb") as file:
        file.write(chrome_json(complete_event("aten::mm", 0, 5)))
    assert run("info", "--json", name).returncode == 0


def test_input_from_a_pipe(path):
    done = run("summary", "--json", "-", input=path.read_bytes())
    assert (done.returncode, len(json.loads(done.stdout)["rows"])) == (0, 2)


def test_a_closed_pipe_ends_it_without_a_traceback(tmp_path):
    path = tmp_path / "many.json"
    path.write_bytes(chrome_json(*(complete_event(f"op{i}", i, 1) for i in range(50_000))))
    with subprocess.Popen([*MODULE, "summary", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as command:
        command.stdout.readline()
        command.stdout.close()
        assert command.stderr.read() == b""
    assert command.returncode == -signal.SIGPIPE


def test_ctrl_c_ends_it_at_once(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)

    def heed_interrupts():  # which the shell that runs the tests may have had ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    line = [*MODULE, "summary", fifo]
    with subprocess.Popen(line, stderr=subprocess.PIPE, preexec_fn=heed_interrupts) as command:
        with open(fifo, "wb"):  # returns when the command has opened it: it is in C++ now
            command.send_signal(signal.SIGINT)
            command.wait(timeout=30)
        assert command.stderr.read() == b""
    assert command.returncode == -signal.SIGINT
