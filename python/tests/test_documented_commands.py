# SPDX-License-Identifier: Apache-2.0
"""Every command line of opscope that a document shows does what it says, on files of the names that stand there."""

import gzip
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = [page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name != "tutorials"]  # test_tutorials.py
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *PAGES]
KINETO = ROOT / "tests" / "golden" / "torch_table" / "mlp_steps" / "trace.json.gz"
SHAPES = ROOT / "tests" / "golden" / "torch_table" / "resnet_forward" / "trace.json.gz"
GRAPH = ROOT / "tests" / "golden" / "megengine_graph" / "matmul_and_relu"
PLACEHOLDERS = {"FILE": "run.opscope", "DUMP": "dump.json", "FORMAT": "chrome", "OUT": "out.json", "X.pb": "x.pb"}
INPUTS = (
    "run.opscope",
    "rank0.opscope",
    "rank1.opscope",
    "all.opscope",
    "before.opscope",
    "main.opscope",  # of limits.toml
    "after.opscope",
    "rank0.json.gz",
    "rank1.json.gz",
    "trace.json.gz",
    "dump.json",
    "part.opscope",
)
JOBS = ("job", "traces/")  # of `opscope collect`
PROCESSES = {"traces": 1, "opscope-run": 4711}  # that wait for requests, by folder


def documented(text):
    """In code between backticks, also over a line break, and in blocks of code; lines of usage are none."""
    inline = [" ".join(code.split()) for code in re.findall(r"(?<!`)`(opscope [a-z][a-z-]*\s[^`]+)`", text)]
    blocks = re.findall(r"```\w*\n(.*?)```", text, re.DOTALL) + re.findall(r"(?:^    .*\n)+", text, re.MULTILINE)
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    return inline + [line for line in lines if re.match(r"opscope [a-z]", line) and "[OPTION...]" not in line]


def runnable(command):
    """Of our program alone, with names of files in place of what stands for them."""
    command = re.split(r"\s+#|\s+\|\s|\s+&&\s", command)[0]
    words = [PLACEHOLDERS.get(word, word) for word in command.split(" ")]
    if words[1] == "run":  # launchers are for test_run_torch.py
        options = words[: words.index("--")] if "--" in words else words
        return " ".join([*options, "--", "python", "train.py"])
    files = any(word.endswith((".opscope", ".gz", ".json")) or word in JOBS for word in words)
    if not files and words[1] not in ("doctor", "man", "completion", "ps", "record") and "--help" not in words:
        words += ["rank*.opscope", "-o", "out.opscope"] if words[1] == "merge" else ["run.opscope"]
    return " ".join(words + ["--idle", "1"] * (words[1] == "view"))  # a server ends


COMMANDS = sorted({(path.name, command) for path in DOCUMENTS for command in documented(path.read_text())})


def folder_with(trace, folder):
    opscope = str(Path(sys.executable).parent / "opscope")
    for name in INPUTS:
        if name.endswith(".opscope"):
            subprocess.run([opscope, "convert", str(trace), "-o", str(folder / name)], check=True)
    for name in ("rank0.json.gz", "rank1.json.gz", "trace.json.gz"):
        shutil.copy(trace, folder / name)
    make_job(trace, folder)
    shutil.copy(ROOT / "examples" / "limits.toml", folder / "rules.toml")
    (folder / "train.py").write_text("")
    shutil.copy(next(path for path in GRAPH.iterdir() if path.name.startswith("input")), folder / "dump.json")
    return folder


def make_job(trace, folder):
    """The folders of JOBS, with four ranks."""
    content = json.loads(gzip.decompress(trace.read_bytes()))
    (folder / "traces").mkdir(mode=0o700)
    for rank in range(4):
        content["distributedInfo"] = {"rank": rank, "world_size": 4}
        (folder / "traces" / f"rank{rank}.json").write_text(json.dumps(content))
    opscope = str(Path(sys.executable).parent / "opscope")
    subprocess.run([opscope, "collect", "traces/", "-o", "job", "-q"], cwd=folder, check=True, capture_output=True)
    shutil.copytree(folder / "job", folder / "job_before")


def wait_for_requests(folder, pid):
    """A process that `opscope ps` and `opscope record` find in a folder, and that says that it has recorded."""
    folder.mkdir(mode=0o700, exist_ok=True)
    host = re.sub("[^A-Za-z0-9._]", "_", os.uname().nodename)
    listener = socket.socket(socket.AF_UNIX)
    opened = os.open(folder, os.O_PATH)
    listener.bind(f"/proc/self/fd/{opened}/{host}-{pid}.sock")
    os.close(opened)
    (folder / f"{host}-{pid}.sock").chmod(0o600)
    listener.listen()
    known = {"version": 1, "rank": 0, "host": host, "pid": pid, "framework": "torch", "last_step": 7, "step_ns": 10**6}
    end = {"version": 1, "status": "complete", "file": "rank0.opscope", "why_not": ""}

    def answer():
        while True:
            connection, _ = listener.accept()
            asked = json.loads(connection.recv(4096))
            is_status = asked["command"] == "status"
            said = {**known, "state": "ready", "why_not": ""} if is_status else {**end, "request": asked["request"]}
            connection.sendall(json.dumps(said).encode() + b"\n")
            connection.close()

    threading.Thread(target=answer, daemon=True).start()


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """By verb; `reproduce` needs a trace with shapes."""
    usual = folder_with(KINETO, tmp_path_factory.mktemp("documented"))
    for name, pid in PROCESSES.items():
        wait_for_requests(usual / name, pid)
    return {"": usual, "reproduce": folder_with(SHAPES, tmp_path_factory.mktemp("shapes"))}


def test_documents_show_commands():
    assert len(COMMANDS) > 20
    assert {"README.md", "merge_ranks.md", "record_into_a_file.md"} <= {name for name, _ in COMMANDS}


@pytest.mark.parametrize(("document", "command"), COMMANDS)
def test_command_of_a_document_works(document, command, folders):
    folder = folders.get(command.split()[1], folders[""])
    path = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    line = ["bash", "-c", runnable(command)]
    nothing = subprocess.DEVNULL  # a server ends with its input
    done = subprocess.run(line, cwd=folder, env=path, stdin=nothing, capture_output=True, text=True, timeout=120)
    # 3: two files of one rank are no whole job.
    assert done.returncode in ((0, 3) if command.split()[1] == "merge" else (0,)), done.stderr
