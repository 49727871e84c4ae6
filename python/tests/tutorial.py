# SPDX-License-Identifier: Apache-2.0
"""Follows a page of docs/tutorials to the letter.

A block of code with a title, ```` ```python title="train.py" ````, is that file. A block ```` ```sh ```` is run by bash
in the folder of the files, and the block ```` ```text ```` behind it is what that prints. Printed lines are compared
without their numbers and units and in any order, since a table is sorted by times; `...` stands for any further lines.
The pages call this machine node0. Messages of opscope (``opscope: ...``) must come when the page shows them and may
come when it does not. Where other programs keep the machine busy, a difference that the page shows can drown in their
noise: ``attempts`` follows a page again from its beginning.
"""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

PAGES = Path(__file__).resolve().parents[2] / "docs" / "tutorials"
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,.:]*(?:e-\d+)?(?: ?(?:ns|us|ms|s|B|KiB|MiB|GiB|K|M|G|%)(?!\w))?")


def shape(text):
    """Its lines, sorted, without numbers, rules of tables and the width of columns."""
    lines = (re.sub(r"\s+", " ", re.sub(r"-{3,}", "---", NUMBER.sub("#", line))).strip() for line in text.splitlines())
    return sorted(line for line in lines if line)


def split(text):
    """(messages of opscope, everything else)."""
    lines = text.splitlines()
    return "\n".join(line for line in lines if line.startswith("opscope: ")), "\n".join(
        line for line in lines if not line.startswith("opscope: ")
    )


def compare(command, shown, printed):
    printed = re.sub(rf"\b{re.escape(socket.gethostname())}\b", "node0", printed)
    messages, rest = split(shown)
    printed_messages, printed_rest = split(printed)
    assert set(shape(messages)) <= set(shape(printed_messages)), command
    if "..." in rest.splitlines():
        expected = shape(rest.replace("\n...", "").replace("...\n", ""))
        assert set(expected) <= set(shape(printed_rest)), command
    else:
        assert shape(rest) == shape(printed_rest), command


def environment(folder):
    """In which `python` is this one, and `opscope` its opscope, whether it is installed or of the build."""
    programs = folder.with_name(folder.name + "_programs")
    programs.mkdir()
    opscope = programs / "opscope"
    opscope.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m opscope "$@"\n')
    opscope.chmod(0o755)
    path = os.pathsep.join((str(programs), str(Path(sys.executable).parent), os.environ["PATH"]))
    return {**os.environ, "PATH": path, "OMP_NUM_THREADS": "1"}


def follow(name, folder, attempts=1, **variables):
    """Follows the page in an empty folder; returns how many commands it has."""
    for attempt in range(1, attempts):
        again = folder / f"attempt_{attempt}"
        again.mkdir()
        try:
            return follow_once(name, again, **variables)
        except AssertionError as difference:
            print(f"{name}, attempt {attempt} of {attempts}: {difference}")
    return follow_once(name, folder, **variables)


def follow_once(name, folder, **variables):
    blocks = BLOCK.findall((PAGES / name).read_text())
    assert blocks, name
    variables = environment(folder) | variables
    commands = 0
    for place, (language, title, body) in enumerate(blocks):
        if title:
            (folder / title).write_text(body)
        elif language == "sh":
            done = subprocess.run(
                ["bash", "-ec", body], cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
            printed = done.stdout.decode()
            assert done.returncode == 0, f"{body}{printed}"
            commands += 1
            if place + 1 < len(blocks) and blocks[place + 1][0] == "text":
                compare(body, blocks[place + 1][2], printed)
    return commands
