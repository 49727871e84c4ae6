# SPDX-License-Identifier: Apache-2.0
"""The first program of README.md does what README.md shows, and the documents that it names exist."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
README = (ROOT / "README.md").read_text()


def block(language, after):
    """The text of the first code block of that language behind `after`."""
    begin = README.index(after)
    return re.compile(rf"```{language}\n(.*?)```", re.DOTALL).search(README, begin).group(1)


@pytest.fixture(scope="module")
def pasted(tmp_path_factory):
    """A folder in which the first program of README.md ran, and what it printed."""
    folder = tmp_path_factory.mktemp("readme")
    code = block("python", "## First use").replace("row_limit=10", "row_limit=-1")  # whichever ten took longest
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_first_program_is_the_example():
    example = (ROOT / "examples" / "quickstart.py").read_text()
    assert block("python", "## First use") == example[example.index("import torch") :]


def test_first_program_prints_the_rows_that_are_shown(pasted):
    def rows(text):
        lines = [line.split() for line in text.splitlines() if "%" in line and "CPU" not in line]
        return {line[0]: line[-1] for line in lines}  # name and number of calls

    shown = rows(block("text", "It prints"))
    assert len(shown) == 10
    assert shown.items() <= rows(pasted[1]).items()


def test_commands_that_are_shown_read_what_it_saved(pasted):
    lines = [line.partition("#")[0] for line in block("sh", "It prints").splitlines()]
    assert len(lines) >= 3
    program = str(Path(sys.executable).parent / "opscope")
    for line in lines:
        words = shlex.split(line)
        assert words[0] == "opscope"
        done = subprocess.run([program, *words[1:]], cwd=pasted[0], capture_output=True, text=True)
        assert done.returncode == 0, (line, done.stderr)
        assert done.stdout or "-o" in words


def test_index_and_site_name_every_document_and_nothing_else():
    docs = ROOT / "docs"
    linked = re.findall(r"\]\(([^)#]+)\)", (docs / "README.md").read_text())
    pages = {str(path.relative_to(docs)) for path in docs.rglob("*.md")} - {"README.md"}
    assert sorted(linked) == sorted(pages)
    assert re.findall(r"- (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE) == ["README.md", *linked]


def test_what_readme_names_is_there():
    named = re.findall(r"`((?:docs|src|examples)/[\w./]+)`", README) + re.findall(r"\]\(([^)#]+)\)", README)
    assert [name for name in named if not (ROOT / name).exists()] == []


# By the words of README.md: the row of docs/reference/benchmarks_*.md that has its two numbers.
ROWS = {
    "from stop to the operator table": "stop + events() + walk + table, tiny ops, no flags",
    "added time of a tiny op with shapes": "added per tiny op, record_shapes",
    "size of 20 ResNet-18 training steps": ".opscope of ResNet-18 steps with shapes, against its JSON",
}


def measured(row):
    """Best and median of opscope, and of the other side."""
    text = "".join(page.read_text() for page in (ROOT / "docs" / "reference").glob("benchmarks_*.md"))
    cells = re.search(rf"^\| {re.escape(row)}(?: \[\d\])? \| [^|]*\| ([^|]*) \| ([^|]*) \|", text, re.MULTILINE)
    return [[float(number) for number in re.findall(r"[\d.]+", cell)] for cell in cells.groups()]


@pytest.mark.parametrize("words", ROWS)
def test_three_numbers_are_of_rows_that_were_measured(words):
    line = next(line for line in README.splitlines() if line.startswith(f"| {words}"))
    for cell, values in zip(line.split("|")[-3:-1], measured(ROWS[words]), strict=True):
        shown = float(re.search(r"[\d.]+", cell).group())
        assert any(shown == pytest.approx(value, rel=0.02) for value in values), (cell, values)


def test_picture_is_what_the_command_draws_and_small():
    picture = (ROOT / "docs" / "pictures" / "flame.svg").read_text()
    assert len(picture) < 200_000
    for name in ("model_inference", "nn.Module: ResNet18_0", "aten::conv2d"):
        assert f'data-name="{name}"' in picture
