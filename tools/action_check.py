#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The step of action.yml: `opscope check` and `opscope diff` of the inputs, as the summary of a job of GitHub Actions.

Reads the inputs from OPSCOPE_HEAD, OPSCOPE_BASE, OPSCOPE_LIMITS, OPSCOPE_RULES and OPSCOPE_ROWS, appends Markdown to
the file GITHUB_STEP_SUMMARY, and ends with the exit code of `opscope check`. Names of spans do not stand in the log,
where a line that begins with :: is a command.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from action_summary import check_section, diff_section, text  # noqa: E402  (the folder of tools is no package)

LIMITS = ("max", "min", "max-increase", "max-decrease")


class NotDone(Exception):
    """An input that opscope cannot use, and the exit code for it."""

    def __init__(self, message, code=2):
        super().__init__(message)
        self.code = code


def path_argument(path):
    return f"./{path}" if path.startswith("-") else path


def lines_of(name):
    return [line.strip() for line in os.environ.get(name, "").splitlines() if line.strip()]


def check_arguments(head, base):
    """Of `opscope check`. Each limit is joined with its option, so that no text becomes an option of its own."""
    arguments = [f"--baseline={base}"] if base else []
    for rules in lines_of("OPSCOPE_RULES"):
        arguments.append(f"--rules={rules}")
    for line in lines_of("OPSCOPE_LIMITS"):
        kind, _, limit = line.partition(" ")
        if kind not in LIMITS or not limit.strip():
            raise NotDone(f"limits: a line is one of {', '.join(LIMITS)} and METRIC=N, not {line!r}")
        arguments.append(f"--{kind}={limit.strip()}")
    return [*arguments, "--", head]


def find_opscope():
    beside = Path(sys.executable).with_name("opscope")
    program = str(beside) if beside.exists() else shutil.which("opscope")
    if program is None:
        raise NotDone("opscope is not installed: give the input `package`, or install it in an earlier step")
    return program


def run(program, verb, *arguments):
    """The exit code, the JSON (None without one) and the messages."""
    done = subprocess.run([program, verb, "--json", "--no-color", *arguments], capture_output=True)
    try:
        answer = json.loads(done.stdout.decode("utf-8", "replace"))
    except ValueError:
        answer = None
    return done.returncode, answer, done.stderr.decode("utf-8", "replace").strip()


def log_error(message):
    """An annotation of the job."""
    escaped = message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    print(f"::error title=opscope check::{escaped}")


def one_file(program, paths, merged):
    """The recording of a side: its file, or the files of its ranks merged into the file `merged`."""
    if len(paths) < 2:
        return "".join(paths)
    done = subprocess.run([program, "merge", "--quiet", "-o", merged, "--", *paths], capture_output=True)
    if done.returncode not in (0, 3):  # 3: a damaged file, which the answers name
        raise NotDone(done.stderr.decode("utf-8", "replace").strip(), done.returncode)
    return merged


def check_and_compare(folder):
    """The exit code and the Markdown. `folder`: an empty one, for files in between."""
    heads = [path_argument(path) for path in lines_of("OPSCOPE_HEAD")]
    bases = [path_argument(path) for path in lines_of("OPSCOPE_BASE")]
    if not heads:
        raise NotDone("head is a file, or one a line")
    rows = os.environ.get("OPSCOPE_ROWS") or "20"
    if not rows.isdecimal() or int(rows) == 0:
        raise NotDone(f"rows is a number from 1 on, not {rows!r}")
    program = find_opscope()
    head = one_file(program, heads, os.path.join(folder, "head.opscope"))
    base = one_file(program, bases, os.path.join(folder, "base.opscope"))
    code, answer, messages = run(program, "check", *check_arguments(head, base))
    if answer is None:
        raise NotDone(messages, code or 1)
    for row in answer["rows"]:
        if not row["passed"]:
            log_error(row["message"])
    markdown = check_section(answer)
    if base:
        _, changes, why_not = run(program, "diff", f"--limit={min(int(rows), 200)}", "--", base, head)
        markdown += diff_section(changes) if changes is not None else f"\nopscope diff: {text(why_not)}\n"
    return code, markdown


def main():
    try:
        with tempfile.TemporaryDirectory() as folder:
            code, markdown = check_and_compare(folder)
    except NotDone as error:
        log_error(str(error))
        code, markdown = error.code, f"### opscope check could not be done\n\n{text(error)}\n"
    print(f"opscope check ended with {code}")
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        with open(summary, "a", encoding="utf-8") as file:
            file.write(markdown)
    return code


if __name__ == "__main__":
    sys.exit(main())
