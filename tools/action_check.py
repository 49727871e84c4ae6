#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The step of action.yml: `opscope check` and `opscope diff` of the inputs, as the summary of a job of GitHub Actions.

Reads the inputs from OPSCOPE_HEAD, OPSCOPE_BASE, OPSCOPE_LIMITS, OPSCOPE_RULES and OPSCOPE_ROWS, appends Markdown to
the file GITHUB_STEP_SUMMARY, and ends with the exit code of `opscope check`. Names of spans are any text that the
program of a pull request chooses. In the summary each of their characters that Markdown or HTML could read is a
character reference; they do not stand in the log, where a line that begins with :: is a command.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

LIMITS = ("max", "min", "max-increase", "max-decrease")
LONGEST_NAME = 200  # characters


class WrongInput(Exception):
    """An input that says nothing to opscope."""


def text(value):
    """Any text as Markdown that shows it on one line, in a cell of a table, too."""
    value = str(value)
    if len(value) > LONGEST_NAME:
        value = value[: LONGEST_NAME - 3] + "..."
    shown = []
    for char in value:
        if not char.isprintable():
            char = char.encode("unicode_escape", "surrogatepass").decode()
        shown += [each if each.isalnum() or each == " " else f"&#{ord(each)};" for each in char]
    return "".join(shown)


def number(value, name):
    """A value of a metric or of a column, with the unit that its name has."""
    if value is None:
        return "-"
    if name.endswith("_ns"):
        return f"{value / 1e6:,.3f} ms"
    if name.endswith("_bytes"):
        return f"{value / 2**20:,.3f} MiB"
    return f"{value:,.6g}"


def table(titles, rows):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (titles, ["---"] * len(titles), *rows)) + "\n"


def check_section(answer):
    rows = answer["rows"]
    crossed = sum(not row["passed"] for row in rows)
    cells = []
    for row in rows:
        metric = row["metric"]
        limit = f"{metric} {row['name']}" if row["name"] else metric
        values = [number(row[key], metric) for key in ("value", "baseline", "limit")]
        cells.append(
            [text(limit), row["limit_kind"].replace("_", " "), *values, "" if row["passed"] else "**crossed**"]
        )
    title = f"{crossed} of {len(rows)} limits crossed" if crossed else f"{len(rows)} limits kept"
    head = f"### opscope check: {title}\n\n"
    return head + table(["Metric", "Kind", "Value", "Baseline", "Limit", ""], cells) + quality_line(answer)


def quality_line(answer):
    quality = answer.get("quality") or {}
    if quality.get("verdict", "good") == "good":
        return ""
    return f"\nThe recording is {text(quality['verdict'])}: {text('; '.join(map(str, quality.get('reasons', []))))}\n"


def diff_section(answer):
    cells = []
    for row in answer["rows"]:
        times = [number(row[key], key) for key in ("delta_ns", "a_self_ns", "b_self_ns")]
        counts = [number(row[key], key) for key in ("a_count", "b_count", "p")]
        cells.append([text(row["name"]), text(row["status"]), *times, *counts])
    steps = answer["steps"]
    means = " to ".join(number(steps[key], key) for key in ("a_mean_ns", "b_mean_ns"))
    counts = " and ".join(number(steps[key], key) for key in ("a_count", "b_count"))
    line = f"\nMean step: {means} (of {counts} steps, p {number(steps['p'], 'p')})\n" if steps["a_count"] else ""
    titles = ["Name", "Status", "Delta", "Base, self", "Head, self", "Base, calls", "Head, calls", "p"]
    return "\n### opscope diff: base to head\n\n" + table(titles, cells) + line


def path_argument(path):
    return f"./{path}" if path.startswith("-") else path


def lines_of(name):
    return [line.strip() for line in os.environ.get(name, "").splitlines() if line.strip()]


def check_arguments(heads, base):
    """Of `opscope check`. Each limit is joined with its option, so that no text becomes an option of its own."""
    arguments = [f"--baseline={base}"] if base else []
    for rules in lines_of("OPSCOPE_RULES"):
        arguments.append(f"--rules={rules}")
    for line in lines_of("OPSCOPE_LIMITS"):
        kind, _, limit = line.partition(" ")
        if kind not in LIMITS or not limit.strip():
            raise WrongInput(f"limits: a line is one of {', '.join(LIMITS)} and METRIC=N, not {line!r}")
        arguments.append(f"--{kind}={limit.strip()}")
    return [*arguments, "--", *heads]


def find_opscope():
    beside = Path(sys.executable).with_name("opscope")
    program = str(beside) if beside.exists() else shutil.which("opscope")
    if program is None:
        raise WrongInput("opscope is not installed: give the input `package`, or install it in an earlier step")
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


def check_and_compare():
    """The exit code and the Markdown."""
    heads = [path_argument(path) for path in lines_of("OPSCOPE_HEAD")]
    bases = [path_argument(path) for path in lines_of("OPSCOPE_BASE")]
    if not heads or len(bases) > 1:
        raise WrongInput("head is a file, or one a line; base is one file or none")
    rows = os.environ.get("OPSCOPE_ROWS") or "20"
    if not rows.isdecimal() or int(rows) == 0:
        raise WrongInput(f"rows is a number from 1 on, not {rows!r}")
    program = find_opscope()
    code, answer, messages = run(program, "check", *check_arguments(heads, bases[0] if bases else None))
    if answer is None:
        log_error(messages)
        return code or 1, f"### opscope check could not be done\n\n{text(messages)}\n"
    for row in answer["rows"]:
        if not row["passed"]:
            log_error(row["message"])
    markdown = check_section(answer)
    if bases and len(heads) == 1:  # several files would be several runs to diff, not ranks of one
        _, changes, why_not = run(program, "diff", f"--limit={min(int(rows), 200)}", "--", *bases, *heads)
        markdown += diff_section(changes) if changes is not None else f"\nopscope diff: {text(why_not)}\n"
    return code, markdown


def main():
    try:
        code, markdown = check_and_compare()
    except WrongInput as error:
        log_error(str(error))
        code, markdown = 2, f"### opscope check could not be done\n\n{text(error)}\n"
    print(f"opscope check ended with {code}")
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        with open(summary, "a", encoding="utf-8") as file:
            file.write(markdown)
    return code


if __name__ == "__main__":
    sys.exit(main())
