# SPDX-License-Identifier: Apache-2.0
"""Every command line of opscope that a document shows does what it says, on files of the names that stand there."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
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
        return " ".join([*words[: words.index("--") + 1], "python", "train.py"])
    files = any(word.endswith((".opscope", ".gz", ".json")) or word in JOBS for word in words)
    if not files and words[1] not in ("doctor", "man", "completion") and "--help" not in words:
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
    (folder / "traces").mkdir()
    for rank in range(4):
        content["distributedInfo"] = {"rank": rank, "world_size": 4}
        (folder / "traces" / f"rank{rank}.json").write_text(json.dumps(content))
    opscope = str(Path(sys.executable).parent / "opscope")
    subprocess.run([opscope, "collect", "traces/", "-o", "job", "-q"], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """By verb; `reproduce` needs a trace with shapes."""
    usual = folder_with(KINETO, tmp_path_factory.mktemp("documented"))
    return {"": usual, "reproduce": folder_with(SHAPES, tmp_path_factory.mktemp("shapes"))}


def test_documents_show_commands():
    assert len(COMMANDS) > 20
    assert {"README.md", "merge_ranks.md", "record_into_a_file.md"} <= {name for name, _ in COMMANDS}


@pytest.mark.parametrize(("document", "command"), COMMANDS)
def test_command_of_a_document_works(document, command, folders):
    folder = folders.get(command.split()[1], folders[""])
    path = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    line = ["bash", "-c", runnable(command)]
    done = subprocess.run(line, cwd=folder, env=path, capture_output=True, text=True, timeout=120)
    # 3: two files of one rank are no whole job.
    assert done.returncode in ((0, 3) if command.split()[1] == "merge" else (0,)), done.stderr
