# SPDX-License-Identifier: Apache-2.0
"""Reports of real traces, of a million spans and of odd ones in Chromium: each is walked through as a reader does
(web/tests/walk.mjs), and what it shows equals the other commands and the trace (walked_pages.py).

The traces are those of ../shared/samples; in a clone without them those of tests/golden and tests/recorded_on_gpu.
"""

import subprocess
import sys
from pathlib import Path

import pytest
import walked_pages
from conftest import chrome_json, complete_event, is_installed
from test_report_page import chromium, need_browser
from walked_pages import PROGRAM, Expected, asked

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT.parent / "shared" / "samples"
RECORDED = ROOT / "tests" / "recorded_on_gpu"
SECONDS = 90  # more than this no developer waits for
# As examples/demo.py does.
DEMO = """
import sys
sys.path.insert(0, sys.argv[1])
import torch
from opscope.torch import ProfilerActivity, profile, record_function
from resnet18 import ResNet18
model, inputs = ResNet18().eval(), torch.rand(1, 3, 64, 64)
with torch.no_grad(), profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
    with record_function("model_inference"):
        model(inputs)
prof.save(sys.argv[2])
"""


def sample_files():
    if SAMPLES.exists():
        return sorted(path for path in SAMPLES.rglob("*") if path.name.endswith((".json.gz", ".pb")))
    golden = sorted((ROOT / "tests" / "golden").rglob("*"))
    # All of the goldens that differ in more than their syntax would take minutes.
    return [*RECORDED.glob("*.opscope"), *[path for path in golden if path.name == "trace.json.gz"]]


def million_line(tid, at, length, name, category):
    return f'{{"ph":"X","pid":1,"tid":{tid},"ts":{at},"dur":{length},"name":"{name}","cat":"{category}"}},\n'


def write_million(path):
    """Steps of operators with two levels, on two threads."""
    with open(path, "w") as file:
        file.write('{"traceEvents":[\n')
        for step in range(500):
            at = step * 10_000
            file.write(million_line(1, at, 9990, f"ProfilerStep#{step}", "user_annotation"))
            file.writelines(
                million_line(tid, at + 9 * i + 1, 4 + i % 5, f"aten::op{i % 31}", "cpu_op")
                + million_line(tid, at + 9 * i + 2, 1 + i % 3, "aten::inner", "cpu_op")
                for tid in (1, 2)
                for i in range(500)
            )
        file.write('{"ph":"M","pid":1,"name":"process_name","args":{"name":"python"}}]}')


def odd_traces(folder):
    """{name: file}, each of which a report must survive."""
    events = [complete_event(f"aten::op{i % 7}", 10 * i, 9, tid=1 + i % 2) for i in range(100)]
    texts = {
        "none": chrome_json(),
        "zero": chrome_json(*[complete_event(name, 5, 0) for name in ("a", "b", "a")]),
        "cut": chrome_json(*events)[:-200],
        "crossing": chrome_json(*[complete_event(f"n{i % 5}", 3 * i, 1 + 7 * i % 40, tid=i % 3) for i in range(60)]),
    }
    for name, text in texts.items():
        (folder / f"{name}.json").write_bytes(text)
    write_million(folder / "million.json")
    files = {name: folder / f"{name}.json" for name in texts}
    subprocess.run([PROGRAM, "convert", folder / "million.json", "-o", folder / "million.opscope"], check=True)
    files["million"] = folder / "million.opscope"
    if is_installed("torch"):
        command = [sys.executable, "-c", DEMO, ROOT / "examples", folder / "demo.opscope"]
        subprocess.run(command, check=True, capture_output=True, timeout=200)
        files["demo"] = folder / "demo.opscope"
    return files


def expected_of(name, path):
    if path.name == "diff_test.json.gz":
        return Expected(path, baseline=path.with_name("diff_control.json.gz"))
    if path.name == "launch_bound.opscope" or name == "cut":
        return Expected(path, baseline=RECORDED / "clean.opscope")
    return Expected(path)


def is_trace(path):
    return subprocess.run([PROGRAM, "info", path], capture_output=True, timeout=60, check=False).returncode in (0, 3)


NAMES = [str(path.relative_to(ROOT.parent)) for path in sample_files() if is_trace(path)]
ODD = ["none", "zero", "cut", "crossing", "million", "demo"]


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    """{name: (what the browser saw, what it should have seen)}."""
    need_browser()
    folder = tmp_path_factory.mktemp("reports")
    files = odd_traces(folder) | {name: ROOT.parent / name for name in NAMES}
    expected, pages = {}, []
    for number, (name, path) in enumerate(files.items()):
        page = folder / f"{number}.html"
        expected[name] = each = expected_of(name, path)
        baseline = ["--baseline", each.baseline] if each.baseline else []
        command = [PROGRAM, "report", path, "-o", page, *baseline]
        done = subprocess.run(command, capture_output=True, timeout=100, check=False)
        is_doubtful = each.info["quality"]["verdict"] == "doubtful"
        assert done.returncode in ((0, 3) if is_doubtful or baseline else (0,)), done.stderr.decode()
        pages.append(asked(name, page, each, axe=name in ("cut", "demo")))
    seen = walked_pages.walk(folder, chromium(), pages)
    return {name: (seen[name], expected[name]) for name in files}


@pytest.mark.parametrize("name", [*ODD, *NAMES])
def test_the_page_shows_what_the_other_commands_say(walked, name):
    if name not in walked:
        pytest.skip("torch is not installed")
    assert list(walked_pages.differences(*walked[name])) == []


def test_the_page_of_no_spans_says_so(walked):
    seen, _ = walked["none"]
    assert all(panel["empty"] for tab, panel in seen["panels"].items() if tab not in ("About",))


def test_a_cut_file_is_doubtful(walked):
    seen, _ = walked["cut"]
    assert seen["verdict"] == "doubtful" and "Problems" in seen["copied"] and "Compare" in seen["copied"]


def test_a_million_spans_have_a_page(walked):
    seen, expected = walked["million"]
    assert len(expected.name) > 1_000_000
    assert int(seen["folded"]) < len(expected.name) and seen["milliseconds"] < 1000 * SECONDS
