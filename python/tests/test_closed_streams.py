# SPDX-License-Identifier: Apache-2.0
"""A program that has closed its standard streams: none of our files takes their numbers."""

import json
import shlex
import subprocess
import sys

import opscope

PROGRAM = """
import json, os, sys
import opscope
source, folder = sys.argv[1:]
for stream in (0, 1, 2):
    os.close(stream)
trace = opscope.open(source)
columns = {name: trace.spans[name].tolist() for name in ("sequence", "stack", "args")}
for stream in (0, 1, 2):
    try:
        os.write(stream, b"printed by somebody")
        os._exit(3)
    except OSError:
        pass
trace.save(folder + "/a.opscope")
for to in ("chrome", "perfetto", "csv", "collapsed"):
    trace.export(f"{folder}/a.{to}", to=to)
if {name: trace.spans[name].tolist() for name in columns} != columns:
    os._exit(4)
sys.stdout = sys.stderr = None
"""


def test_no_file_takes_the_number_of_a_closed_stream(tmp_path):
    events = [
        {"ph": "X", "cat": "cpu_op", "name": f"op{i}", "pid": 1, "tid": 1, "ts": 10 * i, "dur": 5} for i in range(1000)
    ]
    source = tmp_path / "a.json"
    source.write_text(json.dumps({"traceEvents": events}))
    done = subprocess.run([sys.executable, "-c", PROGRAM, source, tmp_path], check=False)
    assert done.returncode == 0
    trace = opscope.open(source)
    for to in ("chrome", "perfetto", "csv", "collapsed"):
        trace.export(tmp_path / f"b.{to}", to=to)
        ours, theirs = (tmp_path / f"{name}.{to}" for name in "ab")
        if to == "chrome":  # says its own name
            assert [json.loads(path.read_text())["traceEvents"] for path in (ours, theirs)][0]
        else:
            assert ours.read_bytes() == theirs.read_bytes()
    again = opscope.open(tmp_path / "a.opscope")
    assert list(again.spans.text("name")) == list(trace.spans.text("name"))


def run_by_shell(command, tmp_path):
    program = f"{shlex.quote(sys.executable)} -m opscope {command}"
    return subprocess.run(["sh", "-c", program], check=False, capture_output=True, text=True, cwd=tmp_path)


def test_a_table_without_standard_output_is_an_error(tmp_path):
    (tmp_path / "a.json").write_text('[{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]')
    for command in ("summary a.json", "info a.json", "flame a.json", "export a.json --to csv -o -"):
        done = run_by_shell(command + " >&-", tmp_path)
        assert done.returncode == 1, command
        assert done.stderr == "opscope: standard output: Bad file descriptor\n"
    done = run_by_shell("convert a.json -o a.opscope <&- >&-", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(opscope.open(tmp_path / "a.opscope").spans) == 1
