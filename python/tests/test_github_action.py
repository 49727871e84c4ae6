# SPDX-License-Identifier: Apache-2.0
"""action.yml, step by step in a bare shell with the environment that GitHub Actions sets: exit code, log, summary."""

import html.parser
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import chrome_json, complete_event

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
HOSTILE = (
    "`touch pwned`|$(touch pwned)\n::error::forged\n| <img src=x> **b** [a](javascript:1) &amp; \u202e ~~s~~ @all _i_"
)


def steps_of(inputs):
    """The steps that Actions would run, with their environment, after its substitution of ``${{ inputs.NAME }}``."""
    unknown = set(inputs) - set(ACTION["inputs"])
    assert not unknown
    values = {name: inputs.get(name, given.get("default", "")) for name, given in ACTION["inputs"].items()}

    def fill(found):
        return values[found.group(1)]

    for step in ACTION["runs"]["steps"]:
        if step.get("if") == "inputs.package != ''" and not values["package"]:
            continue
        assert step["shell"] == "bash" and "${{" not in step["run"]  # else an input is code of the shell
        yield (
            step["run"],
            {name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", fill, text) for name, text in step["env"].items()},
        )


def run_action(folder, **inputs):
    """The exit code, the log and the summary of the job."""
    import opscope

    summary = folder / "summary.md"
    runner = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": str(folder),
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_WORKSPACE": str(folder),
        "GITHUB_STEP_SUMMARY": str(summary),
        "PIP_TARGET": str(folder / "site"),  # what pip installs stays in the folder, and comes from no index
        "PIP_NO_INDEX": "1",
        "PYTHONPATH": str(Path(opscope.__file__).parent.parent),  # the package under test, in place of an installed one
    }
    summary.write_text("# of an earlier step\n")
    log = ""
    for script, variables in steps_of(inputs):
        (folder / "script.sh").write_text(script)
        environment = [f"{name}={value}" for name, value in (runner | variables).items()]
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "script.sh"]
        done = subprocess.run(["env", "-i", *environment, *shell], cwd=folder, capture_output=True, text=True)
        log += done.stdout + done.stderr
        if done.returncode:
            break
    text = summary.read_text()
    assert text.startswith("# of an earlier step\n")
    return done.returncode, log, text.removeprefix("# of an earlier step\n")


class Cells(html.parser.HTMLParser):
    """The texts of the cells of all tables, row by row, and every tag."""

    def __init__(self, page):
        super().__init__()
        self.rows, self.tags, self._in_cell = [], set(), False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag):
        self._in_cell = self._in_cell and tag not in ("td", "th")

    def handle_data(self, data):
        if self._in_cell:
            self.rows[-1][-1] += data


def rendered(markdown):
    markdown_it = pytest.importorskip("markdown_it")
    return Cells(
        markdown_it.MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(markdown)
    )


def steps(*durations_us, name="aten::mm"):
    events, now = [], 0
    for at, duration in enumerate(durations_us):
        events.append(complete_event(f"ProfilerStep#{at}", now, duration, cat="user_annotation"))
        events.append(complete_event(name, now + 1, duration - 2))
        now += duration + 5
    return chrome_json(*events)


@pytest.fixture
def files(tmp_path):
    """base: three steps of 1 ms; head: of 2 ms."""
    (tmp_path / "base.json").write_bytes(steps(1000, 1000, 1000))
    (tmp_path / "head.json").write_bytes(steps(2000, 2000, 2000))
    return tmp_path


def test_kept_limits_pass_with_a_table(files):
    limits = "max-increase step_p50_ns=150%\n\n  max op_count:aten::mm=3\n"
    code, log, summary = run_action(files, head="head.json", base="base.json", limits=limits)
    assert (code, log) == (0, "opscope check ended with 0\n")
    page = rendered(summary)
    assert "### opscope check: 2 limits kept\n" in summary and "### opscope diff: base to head\n" in summary
    assert page.rows[1] == ["step_p50_ns", "max increase", "2.000 ms", "1.000 ms", "2.500 ms", ""]
    assert page.rows[2] == ["op_count aten::mm", "max", "3", "-", "3", ""]
    assert ["aten::mm", "slower", "1.000 ms", "2.994 ms", "5.994 ms", "3", "3"] in [row[:-1] for row in page.rows]
    assert "Mean step: 1.000 ms to 2.000 ms (of 3 and 3 steps" in summary


def test_crossed_limit_fails_with_the_exit_code_of_check_and_an_annotation(files):
    code, log, summary = run_action(files, head="head.json", base="base.json", limits="max-increase step_p50_ns=5%")
    assert code == 4
    message = "step_p50_ns is 2000000, more than 1050000 (baseline 1000000 + 5%25)"
    assert log == f"::error title=opscope check::{message}\nopscope check ended with 4\n"
    assert "### opscope check: 1 of 1 limits crossed\n" in summary
    assert rendered(summary).rows[1][-1] == "crossed"


def test_absolute_limits_and_rules_need_no_base(files):
    (files / "rules.toml").write_text('[[rule]]\nmetric = "op_count"\nname = "aten::mm"\nmax = 2\n')
    code, _, summary = run_action(files, head="head.json", rules="rules.toml", limits="min spans=1")
    assert code == 4 and "1 of 2 limits crossed" in summary and "opscope diff" not in summary


def test_rows_limits_the_comparison(files):
    for name, length in (("base", 10), ("head", 20)):
        spans = [complete_event(f"aten::op{at}", at * 100, length) for at in range(30)]
        (files / f"{name}.json").write_bytes(chrome_json(*spans))
    for rows in (3, 20):
        _, _, summary = run_action(files, head="head.json", base="base.json", limits="min spans=1", rows=str(rows))
        assert summary.count("aten&#58;&#58;op") == rows


@pytest.mark.parametrize(
    ("inputs", "code", "why"),
    [
        ({"head": "none.json", "limits": "min spans=1"}, 1, "none.json: "),
        ({"head": "head.json"}, 2, "opscope: check: "),
        ({"head": "head.json", "limits": "max-increase spans=1"}, 2, "needs a --baseline"),
        ({"head": "head.json", "limits": "max step_p5_ns=1"}, 2, "there is no metric 'step_p5_ns'"),
        ({"head": "head.json", "limits": "--max spans=1"}, 2, "limits: a line is one of max, min, "),
        ({"head": "head.json", "limits": "max"}, 2, "limits: a line is one of max, min, "),
        ({"head": "\n"}, 2, "head is a file, or one a line"),
        ({"head": "head.json\nnone.json", "limits": "min spans=1"}, 1, "none.json: "),
        ({"head": "head.json", "base": "none.json\nbase.json", "limits": "min spans=1"}, 1, "none.json: "),
        ({"head": "head.json", "rows": "all"}, 2, "rows is a number from 1 on, not 'all'"),
    ],
)
def test_wrong_input_is_one_annotation(files, inputs, code, why):
    status, log, summary = run_action(files, **inputs)
    assert status == code
    (line, end) = log.splitlines()
    assert line.startswith("::error title=opscope check::") and why in line
    assert end == f"opscope check ended with {code}"
    assert summary.startswith("### opscope check could not be done\n")


def test_names_of_spans_are_text_in_the_summary_and_absent_from_the_log(files):
    (files / "base.json").write_bytes(steps(1000, 1000, name=HOSTILE))
    (files / "head.json").write_bytes(steps(2000, 2000, name=HOSTILE))
    code, log, summary = run_action(files, head="head.json", base="base.json", limits="max spans=1")
    assert code == 4 and not (files / "pwned").exists()
    assert [line for line in log.splitlines() if line.startswith("::")] == [
        "::error title=opscope check::spans is 4, more than 1"
    ]
    page = rendered(summary)
    assert page.tags <= {"h3", "table", "thead", "tbody", "tr", "th", "td", "p", "strong"}
    shown = HOSTILE.replace("\n", "\\n").replace("\u202e", "\\u202e")
    (row,) = [row for row in page.rows if row[0] == shown]
    assert row[1] == "matched" and len(row) == 8


def test_inputs_are_never_code(files):
    limits = f"max op_count:{HOSTILE.splitlines()[0]}=0\nmax spans=1; touch pwned"
    for inputs in (
        {"limits": limits},
        {"base": "$(touch pwned)"},
        {"head": "--junit=pwned"},
        {"rules": "`touch pwned`"},
    ):
        code, _, summary = run_action(files, **{"head": "head.json", "limits": "max spans=100"} | inputs)
        assert code in (1, 2) and not (files / "pwned").exists()
        assert rendered(summary).tags == {"h3", "p"}


def test_name_of_an_operator_in_a_limit_stays_in_its_cell_and_its_line(files):
    name = HOSTILE.splitlines()[0]
    (files / "head.json").write_bytes(steps(2000, name=name))
    code, log, summary = run_action(files, head="head.json", limits=f"max op_count:{name}=0")
    assert code == 4 and log.count("\n") == 2
    assert rendered(summary).rows[1][0] == f"op_count {name}"


def test_files_of_several_ranks_are_one_job_on_both_sides(files):
    lists = {}
    for side, duration in (("base", 1000), ("head", 2000)):
        for rank in range(2):
            content = steps(duration)[:-1] + b', "distributedInfo": {"rank": %d, "world_size": 2}}' % rank
            (files / f"{side}{rank}.json").write_bytes(content)
        lists[side] = f"{side}0.json\n{side}1.json"
    code, _, summary = run_action(files, **lists, limits="max spans=4\nmin spans=4\nmax-increase step_p50_ns=150%")
    assert code == 0 and "3 limits kept" in summary
    page = rendered(summary)
    assert ["step_p50_ns", "max increase", "2.000 ms", "1.000 ms", "2.500 ms", ""] in page.rows
    assert [row[2:-1] for row in page.rows if row[0] == "aten::mm"] == [["1.000 ms", "1.996 ms", "3.996 ms", "2", "2"]]
    # A job is compared with one rank, too.
    code, _, summary = run_action(files, head=lists["head"], base="base0.json", limits="max-increase spans=100%")
    assert code == 0 and "### opscope diff: base to head\n" in summary
    assert sorted(path.name for path in files.glob("*.opscope")) == []


def test_a_damaged_file_among_those_of_several_ranks_is_said(files):
    content = steps(1000)
    (files / "whole.json").write_bytes(content)
    (files / "cut.json").write_bytes(content[: len(content) * 2 // 3])
    code, _, summary = run_action(files, head="whole.json\ncut.json", limits="min spans=1")
    alone, _, summary_of_one = run_action(files, head="cut.json", limits="min spans=1")
    assert (code, alone) == (3, 3)
    assert "The recording is doubtful" in summary and "The recording is doubtful" in summary_of_one


def test_package_is_what_pip_installs(files):
    metadata = "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n"
    with zipfile.ZipFile(files / "tiny-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny.py", "")
        wheel.writestr("tiny-1.0.dist-info/METADATA", metadata)
        wheel.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("tiny-1.0.dist-info/RECORD", "")
    inputs = {"head": "head.json", "limits": "min spans=1"}
    code, _, _ = run_action(files, **inputs, package="./tiny-1.0-py3-none-any.whl")
    assert code == 0 and (files / "site" / "tiny.py").exists()
    code, log, summary = run_action(files, **inputs, package="--requirement=none.txt; touch pwned")
    assert code != 0 and not (files / "pwned").exists() and summary == ""
    assert "ERROR: " in log and "check ended" not in log


def test_missing_opscope_says_what_to_give(files):
    done = subprocess.run(
        [sys.executable, "-I", "-c", "import sys; sys.executable = '/none/python'; sys.argv = ['action_check.py']\n"
         f"import runpy; runpy.run_path({str(ROOT / 'tools' / 'action_check.py')!r}, run_name='__main__')"],
        env={"PATH": "/none", "OPSCOPE_HEAD": "head.json"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stdout.startswith("::error title=opscope check::opscope is not installed: give the input `package`")


def test_workflow_of_the_how_to_page_uses_the_action_as_it_is(files):
    workflow = yaml.safe_load((ROOT / "examples" / "speed_workflow.yml").read_text())
    step = workflow["jobs"]["speed"]["steps"][-1]
    assert step["uses"].startswith("OWNER/opscope@")
    for name in ("base", "head"):
        (files / f"{name}.json").rename(files / f"{name}.opscope")
    code, _, summary = run_action(files, **step["with"])
    assert code == 4 and "### opscope check: 1 of 2 limits crossed\n" in summary
