# SPDX-License-Identifier: Apache-2.0
"""``pytest --opscope``: what is recorded of a test, what it is compared with, and how it fails.

Each run of pytest is a process of its own, most of them forked from one that has imported torch.
"""

import textwrap
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

pytest_plugins = "pytester"
pytestmark = pytest.mark.framework("torch")
# By its module: an opscope that is installed may be another one, which pytest would load by its entry point.
PLUGIN = ("-p", "no:opscope", "-p", "opscope.integrations.pytest_plugin", "-p", "no:randomly")
CALLS = "op_count:aten::linear"

TESTS = """
import os, unittest
import pytest, torch

model, batch = torch.nn.Linear(4, 4), torch.ones(2, 4)
calls = int(os.environ.get("CALLS", "3"))

@pytest.fixture
def around():
    model(batch).neg()
    yield
    model(batch).neg()

@pytest.mark.opscope(max_increase={"op_count:aten::linear": "5%"}, max={"op_count:aten::neg": 0})
def test_whole(around):
    for _ in range(calls):
        model(batch)

@pytest.mark.opscope(max_increase={"op_count:aten::linear": 0}, memory=True, min={"peak_memory_bytes": 1})
def test_part(opscope_profile):
    model(batch)
    with opscope_profile(shapes=True):
        for _ in range(calls):
            model(batch)
            opscope_profile.step()
        batch.neg()
    model(batch)
    trace = opscope_profile.trace
    assert (trace is None) == ("UNRECORDED" in os.environ)
    if trace is not None:
        assert [row["step"] for row in trace.steps_summary()] == list(range(calls))
        assert "aten::neg" not in set(trace.spans["name"])
        assert opscope_profile.profiler.record_shapes and opscope_profile.profiler.profile_memory

@pytest.mark.opscope(max_increase={"step_p50_ns": "1000000%", "spans": "5%"})
class TestClass:
    @pytest.mark.parametrize("kind", ["a/b", "a b"], ids=["a/b", "a b"])
    def test_kinds(self, kind):
        for _ in range(calls * (1 + len(kind.split(" ")))):
            model(batch)

    def test_fails(self):
        assert calls < 0, "its own failure"

    def test_skips(self):
        pytest.skip("its own reason")

@pytest.mark.opscope(max={"op_count:aten::linear": 3})
class TestOfUnittest(unittest.TestCase):
    def test_case(self):
        for _ in range(calls):
            model(batch)

def test_unmarked():
    model(batch)
"""


def run(programs, folder, *arguments, **environment):
    """Runs pytest in `folder`; returns what it printed and, by the name of a test, its outcome, message, properties."""
    options = [*PLUGIN, "--junitxml", "out.xml", "-o", "junit_family=xunit1", "test_speed.py", *arguments]
    code = f"import os, pytest\nos.environ.update({environment})\nraise SystemExit(pytest.main({options}))"
    printed = programs.start(code, folder).wait().stdout
    cases = {}
    for case in ElementTree.parse(folder / "out.xml").iter("testcase"):
        ends = [end for end in case if end.tag in ("failure", "error", "skipped")]
        properties = {each.get("name"): each.get("value") for each in case.iter("property")}
        outcome = ends[0].tag if ends else "passed"
        cases[case.get("name")] = (outcome, (ends[0].text or "") if ends else "", properties)
    return printed, cases


def baselines(folder):
    return sorted(path.name for path in (folder / ".opscope-baselines").glob("*"))


@pytest.fixture(scope="module")
def runs(programs, tmp_path_factory):
    """The folder of TESTS, and the runs of it by name, one after the other."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "test_speed.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\n")
    return folder, {
        "without": run(programs, folder, UNRECORDED="1"),
        "first": (*run(programs, folder, "--opscope"), baselines(folder)),
        "update": (*run(programs, folder, "--opscope-update"), baselines(folder)),
        "same": run(programs, folder, "--opscope"),
        "more": run(programs, folder, "--opscope", CALLS="4"),
    }


RECORDED = ["test_whole", "test_part", "test_kinds[a/b]", "test_kinds[a b]", "test_case"]
RELATIVE = RECORDED[:-1]


def outcomes(cases):
    return {name: outcome for name, (outcome, _, _) in cases.items()}


USUAL = {**dict.fromkeys([*RECORDED, "test_unmarked"], "passed"), "test_fails": "failure", "test_skips": "skipped"}


def test_without_the_option_tests_run_unrecorded(runs):
    printed, cases = runs[1]["without"]
    assert outcomes(cases) == USUAL
    assert "opscope: " not in printed and "opscope_recording" not in str(cases)


def test_without_the_option_neither_engine_nor_framework_is_imported(pytester):
    pytester.makepyfile(
        """
        import sys
        import pytest

        @pytest.mark.opscope(max={"spans": 1})
        def test_marked(opscope_profile):
            with opscope_profile(memory=True) as same:
                opscope_profile.step()
            assert same is opscope_profile and same.trace is None and same.profiler is None
            assert [name for name in ("opscope._core", "torch", "paddle", "numpy") if name in sys.modules] == []
        """
    )
    pytester.runpytest_subprocess(*PLUGIN, "--strict-markers").assert_outcomes(passed=1)


def test_missing_baseline_is_a_warning_that_names_the_option(runs):
    printed, cases, files = runs[1]["first"]
    assert outcomes(cases) == USUAL and files == []
    assert printed.count("MissingBaselineWarning: no baseline .opscope-baselines/test_speed.py_") == len(RELATIVE)
    assert printed.count("pytest --opscope-update writes it") == len(RELATIVE)
    assert "opscope: 5 tests recorded, 4 without a baseline (--opscope-update)\n" in printed


def test_update_stores_a_file_for_each_test_with_a_relative_limit(runs):
    printed, cases, files = runs[1]["update"]
    assert outcomes(cases) == USUAL
    assert "opscope: 5 tests recorded, 4 baselines written to .opscope-baselines\n" in printed
    assert len(files) == len(RELATIVE)
    names = [name.rpartition("-")[0].removeprefix("test_speed.py_") for name in files]
    assert sorted(names) == ["TestClass_test_kinds_a_b", "TestClass_test_kinds_a_b", "test_part", "test_whole"]


def test_unchanged_tests_pass(runs):
    printed, cases = runs[1]["same"]
    assert outcomes(cases) == USUAL
    assert "opscope: 5 tests recorded\n" in printed and "Warning" not in printed


def test_recording_is_the_call_of_the_test_or_the_block_of_the_fixture(runs):
    import opscope

    folder, found = runs
    for name in ("test_whole", "test_part"):  # neither has the calls of setup and teardown, or those around the block
        (stored,) = (folder / ".opscope-baselines").glob(f"test_speed.py_{name}-*")
        assert list(opscope.open(stored).spans["name"]).count("aten::linear") == 3
    assert "opscope_recording" not in found["same"][1]["test_unmarked"][2]


def test_crossed_limit_fails_with_the_text_of_check(runs):
    _, cases = runs[1]["more"]
    expected = dict.fromkeys(RECORDED, "failure")
    assert outcomes(cases) == USUAL | expected
    lines = cases["test_whole"][1].splitlines()
    assert lines[0] == "opscope: op_count of aten::linear is 4, more than 3.15 (baseline 3 + 5%)"
    assert lines[1].startswith("baseline: .opscope-baselines/test_speed.py_test_whole-")
    assert lines[2].startswith("recording: .pytest_cache/d/opscope/test_speed.py_test_whole-")
    assert len(lines) == 3
    assert cases["test_case"][1].splitlines()[0] == "opscope: op_count of aten::linear is 4, more than 3"


def test_a_parameter_is_compared_with_its_own_baseline(runs):
    _, cases = runs[1]["more"]
    baselines = {cases[f"test_kinds[{kind}]"][1].partition("(baseline ")[2].split()[0] for kind in ("a/b", "a b")}
    assert len(baselines) == 2


def test_failing_and_skipped_tests_keep_their_own_outcome(runs):
    for name in ("first", "update", "same", "more"):
        cases = runs[1][name][1]
        assert "its own failure" in cases["test_fails"][1] and "opscope: " not in cases["test_fails"][1]
        assert "its own reason" in cases["test_skips"][1]


def test_missing_baselines_fail_if_their_warning_is_an_error(programs, runs, tmp_path):
    folder, _ = runs
    category = "error::opscope.integrations.pytest_recorder.MissingBaselineWarning"
    _, cases = run(
        programs, folder, "--opscope", f"--opscope-baselines={tmp_path}", "-W", category, "-k", "whole or case"
    )
    assert outcomes(cases) == {"test_whole": "failure", "test_case": "passed"}
    assert "MissingBaselineWarning: no baseline" in cases["test_whole"][1]


WRONG = {
    'max={"step_p5_ns": 1}': "opscope: step_p5_ns: max: there is no metric 'step_p5_ns'; known: step_mean_ns, ",
    'max_increase={"step_p5_ns": "5%"}': "opscope: step_p5_ns: max_increase: there is no metric 'step_p5_ns'; known: ",
    'max_increase={"spans": "5 per cent"}': "opscope: spans: max_increase: '5 per cent' is not a number or per cent",
    'max={"spans": None}': "opscope: spans: max is a number or a text such as ",
    "max=5": 'opscope: max is a dict such as {"step_p50_ns": 5}, not 5',
    'maximum={"spans": 1}': "opscope: the marker has no argument maximum; known: max, min, max_increase, ",
    '{"spans": 1}': "opscope: the marker takes names, such as max_increase=..., not {'spans': 1}",
    'memory="yes"': "opscope: memory should be True or False, not 'yes'",
    'framework="jax"': "opscope cannot record this test: framework should be one of torch, paddle, megengine, not ",
}


def test_wrong_limit_is_one_clear_line(programs, tmp_path):
    marked = (f"@pytest.mark.opscope({wrong})\ndef test_{at}():\n    torch.ones(2)\n" for at, wrong in enumerate(WRONG))
    last = "@pytest.mark.opscope(max={'spans': 1})\ndef test_last(opscope_profile):\n    pass\n"
    (tmp_path / "test_speed.py").write_text("\n".join(["import pytest, torch", *marked, last]))
    printed, cases = run(programs, tmp_path, "--opscope", "-p", "no:cacheprovider")
    assert "Traceback" not in printed and "internal" not in printed.lower()
    for at, why in enumerate(WRONG.values()):
        outcome, message, _ = cases[f"test_{at}"]
        assert outcome == "failure" and message.startswith(why) and message.count("\n") == 0, message
    assert cases["test_last"][1] == "opscope: the test has limits, and it entered no `with opscope_profile:`"
    assert not list(tmp_path.glob(".*"))  # neither a cache nor baselines


def test_markers_of_class_and_test_add_up_and_the_closer_limit_holds(programs, tmp_path):
    text = """
        import pytest, torch

        @pytest.mark.opscope(max={"op_count:aten::neg": 0})
        @pytest.mark.opscope(max={"op_count:aten::ones": 1})
        class TestMarked:
            def test_one(self):
                torch.ones(2).neg()

            @pytest.mark.opscope(memory=True, max={"op_count:aten::ones": 2})
            def test_more(self):
                torch.ones(2) + torch.ones(2) + torch.ones(2)
                torch.ones(2).neg()

            @pytest.mark.opscope(max={"op_count:aten::ones": 2})
            def test_allowed(self):
                torch.ones(2) + torch.ones(2)
    """
    (tmp_path / "test_speed.py").write_text(textwrap.dedent(text))
    _, cases = run(programs, tmp_path, "--opscope", "-p", "no:cacheprovider")
    more_neg = "opscope: op_count of aten::neg is 1, more than 0"
    more_ones = "opscope: op_count of aten::ones is 4, more than 2"
    assert cases["test_one"][1] == more_neg
    assert sorted(cases["test_more"][1].split("\n")) == [more_neg, more_ones]
    assert cases["test_allowed"][0] == "passed"


def test_a_baseline_that_cannot_be_read_is_named(programs, runs, tmp_path):
    folder, found = runs
    for name in found["update"][2]:
        (tmp_path / name).write_bytes(b"damaged")
    _, cases = run(programs, folder, "--opscope", f"--opscope-baselines={tmp_path}", "-k", "whole")
    assert cases["test_whole"][0] == "failure"
    assert str(tmp_path) in cases["test_whole"][1] and "Traceback" not in cases["test_whole"][1]


def test_a_baseline_that_cannot_be_written_is_one_line_with_its_path(programs, runs, tmp_path):
    folder, _ = runs
    chosen = tmp_path / "file"
    chosen.write_text("")
    printed, cases = run(programs, folder, "--opscope-update", f"--opscope-baselines={chosen}", "-k", "whole or case")
    assert outcomes(cases) == {"test_whole": "failure", "test_case": "passed"}
    message = cases["test_whole"][1]
    assert message.startswith("opscope: the baseline cannot be written: ") and str(chosen) in message
    assert message.count("\n") == 0 and "Traceback" not in printed and "pathlib" not in printed


def test_a_cache_folder_that_cannot_be_written_costs_the_recording_alone(programs, runs):
    folder, _ = runs
    _, cases = run(programs, folder, "--opscope", "-o", "cache_dir=/proc/opscope", "-k", "case", CALLS="4")
    assert cases["test_case"][1] == "opscope: op_count of aten::linear is 4, more than 3"
    assert cases["test_case"][2]["opscope_recording"] == "not kept"


def test_a_pytest_that_is_too_old_is_named(pytester):
    pytester.makeconftest("import pytest\ndel pytest.StashKey")
    pytester.makepyfile("def test_one():\n    pass\n")
    pytester.runpytest_subprocess(*PLUGIN).assert_outcomes(passed=1)
    result = pytester.runpytest_subprocess(*PLUGIN, "--opscope")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.errlines == ["ERROR: --opscope needs pytest 7.0 and pluggy 1.2, or newer", ""]


def test_relative_folder_of_baselines_is_that_of_the_call_after_a_test_has_changed_the_directory(programs, tmp_path):
    text = """
        import os, pytest, torch

        @pytest.mark.opscope(max_increase={"op_count:aten::ones": 0})
        def test_elsewhere(tmp_path):
            torch.ones(2)
            os.chdir(tmp_path)
    """
    (tmp_path / "test_speed.py").write_text(textwrap.dedent(text))
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    printed, cases = run(programs, tmp_path, "--opscope-update", "--opscope-baselines=stored")
    assert outcomes(cases) == {"test_elsewhere": "passed"}
    assert "1 baselines written to stored\n" in printed
    assert [path.name.startswith("test_speed.py_") for path in (tmp_path / "stored").iterdir()] == [True]


def test_workers_of_xdist_use_the_names_of_a_run_without(programs, runs, tmp_path):
    pytest.importorskip("xdist")
    folder, found = runs
    text = (folder / "test_speed.py").read_text()
    (tmp_path / "test_speed.py").write_text(
        text.replace("class TestClass", '@pytest.mark.xdist_group("g")\nclass TestClass')
    )
    printed, cases = run(programs, tmp_path, "--opscope-update", "-n", "2", "--dist", "loadgroup")
    assert sum(outcome == "passed" for outcome, _, _ in cases.values()) == 6
    assert "opscope: 5 tests recorded, 4 baselines written to .opscope-baselines\n" in printed
    assert baselines(tmp_path) == found["update"][2]


def test_a_test_that_runs_a_profiler_of_torch_is_recorded_beside_it(programs, tmp_path):
    (tmp_path / "test_speed.py").write_text(
        """
import opscope.torch, pytest, torch

@pytest.mark.opscope(max={"op_count:aten::neg": 0})
@pytest.mark.parametrize("module", [torch.profiler, opscope.torch], ids=["torch", "opscope"])
def test_own(module):
    with module.profile() as prof:
        torch.ones(2).neg()
    assert sum(event.name == "aten::neg" for event in prof.events()) == 1
"""
    )
    _, cases = run(programs, tmp_path, "--opscope")
    messages = [cases[f"test_own[{name}]"][1].splitlines()[0] for name in ("torch", "opscope")]
    assert messages == ["opscope: op_count of aten::neg is 1, more than 0"] * 2


@pytest.mark.framework("paddle")
def test_a_program_with_paddle_is_recorded_with_paddle(programs, tmp_path):
    (tmp_path / "test_speed.py").write_text(
        """
import contextlib, opscope.paddle, paddle, paddle.profiler, pytest

@pytest.mark.opscope(framework="paddle", max={"op_count:sum dygraph": 2})
def test_steps(opscope_profile):
    value = paddle.ones([2])
    with opscope_profile:
        for _ in range(3):
            value.sum()
            opscope_profile.step()
    assert [row["step"] for row in opscope_profile.trace.steps_summary()] == [0, 1, 2]

def test_next(opscope_profile):
    with opscope_profile(framework="paddle"):
        paddle.ones([2]).sum()
    assert list(opscope_profile.trace.spans["name"]).count("sum dygraph") == 1

@pytest.mark.opscope(framework="paddle", max={"op_count:sum dygraph": 0})
@pytest.mark.parametrize("module", [None, paddle.profiler, opscope.paddle], ids=["none", "paddle", "opscope"])
def test_own(module):
    with module.Profiler(on_trace_ready=print) if module else contextlib.nullcontext():
        paddle.ones([2]).sum()
"""
    )
    _, cases = run(programs, tmp_path, "--opscope")
    assert cases["test_steps"][1].startswith("opscope: op_count of sum dygraph is 3, more than 2\n")
    assert cases["test_next"][0] == "passed"
    for own in ("none", "paddle"):
        assert cases[f"test_own[{own}]"][1].startswith("opscope: op_count of sum dygraph is 1, more than 0\n")
    assert "Paddle has one for each process" in cases["test_own[opscope]"][1]
    assert not Path(tmp_path / "profiler_log").exists()


def test_example_of_the_how_to_page_passes_against_its_own_baseline(programs, tmp_path):
    example = Path(__file__).resolve().parents[2] / "examples" / "test_training_speed.py"
    (tmp_path / "test_speed.py").write_text(example.read_text().replace('"50%"', '"100000%"'))  # beside other tests
    printed, _ = run(programs, tmp_path, "--opscope-update")
    assert "opscope: 2 tests recorded, 2 baselines written to .opscope-baselines\n" in printed
    printed, cases = run(programs, tmp_path, "--opscope")
    assert set(outcomes(cases).values()) == {"passed"} and "opscope: 2 tests recorded\n" in printed
