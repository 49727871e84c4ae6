# SPDX-License-Identifier: Apache-2.0
"""The page of ``opscope report`` in Chromium: web/tests opens it from a file and checks what the interface promises.

One browser opens all pages, once for the module; a test is one check on every page. Without Node, the packages of
web/ or Chromium the tests are skipped, unless ``OPSCOPE_REQUIRE_FRAMEWORKS`` names ``node`` or ``chromium``.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import chrome_json, complete_event

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
NODE = ROOT / ".venv" / "bin" / "node"
OPSCOPE = [sys.executable, "-m", "opscope"]
CHECKS = re.findall(r'^  async "?([\w ]+)"?\(', (WEB / "tests" / "checks.mjs").read_text(), re.MULTILINE)
TABS = ["Overview", "Timeline", "Flame graph", "Operators", "Kernels", "Memory", "Modules", "About"]
HOSTILE = [
    *(
        "</script><script>window.hostile=1</script>",
        "<img src=x onerror=window.hostile=1>",
        "<svg onload=window.hostile=1>",
    ),
    *('" onmouseover="window.hostile=1', "' autofocus onfocus='window.hostile=1", "<!--", "-->", "<![CDATA[", "]]>"),
    *(
        "{{7*7}}",
        "${window.hostile=1}",
        "`${1}`",
        "<%= 1 %>",
        "javascript:window.hostile=1",
        "\u2028",
        "\u2029",
        "\u202e",
    ),
    *(
        "=SUM(A1)",
        "+1",
        "-1",
        "@x",
        "'x",
        "&lt;b&gt;",
        "<b>",
        "__proto__",
        "constructor",
        "",
        "\\",
        "\x00\x1b[31m",
        "%00",
    ),
]


def absent():
    """What is not here: a name for OPSCOPE_REQUIRE_FRAMEWORKS and a reason."""
    if not NODE.exists() or not (WEB / "node_modules" / "playwright-core").exists():
        return "node", "no Node in .venv, or no packages in web/node_modules (tools/setup web)"
    if chromium() is None:
        return "chromium", "no Chromium here (tools/setup browser)"
    return None


def chromium():
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def answer(*arguments):
    """What a verb prints with --json."""
    done = subprocess.run([*OPSCOPE, *map(str, arguments), "--json"], capture_output=True, timeout=60, check=False)
    assert done.returncode in (0, 3), done.stderr.decode()
    return json.loads(done.stdout)


def expected_tables(trace):
    steps, devices, memory = answer("steps", trace), answer("devices", trace), answer("memory", trace)
    return {
        "Steps": steps["rows"],
        "Devices": devices["rows"],
        "Findings": answer("advise", trace)["rows"],
        "Operators": answer("summary", trace)["rows"],
        "Memory": memory["devices"],
        "Memory by operator": memory["rows"],
        "Problems": answer("info", trace)["problems"],
    }


def hostile_names():
    """300 names; of each the marks of HOSTILE, in the beginning, in the middle or at the end."""
    shapes = ("{}", "x{}", "{}x", "x {} y", "{0}{0}", "a::{}", "{} ", "/{}/", "[{}]", "{}\n{}")
    return [shape.format(*(mark, mark)) for shape in shapes for mark in HOSTILE][:300]


def hostile_trace():
    names = hostile_names()
    assert len(names) == 300
    events = [
        complete_event(n, 10 * i, 5, tid=1 + i % 3, cat=n, **{n or "k": n, "Call stack": n})
        for i, n in enumerate(names)
    ]
    tracks = [{"ph": "M", "pid": 1, "tid": t, "name": "thread_name", "args": {"name": names[t]}} for t in (1, 2, 3)]
    return chrome_json(*events, *tracks)


def plain_trace():
    steps = [complete_event(f"ProfilerStep#{i}", 1000 * i, 900, cat="user_annotation") for i in range(5)]
    operators = [
        complete_event(name, 1000 * i + at, length)
        for i in range(5)
        for name, at, length in (("aten::linear", 10, 100 + i), ("aten::mm", 20, 30), ("aten::add_", 300, 7))
    ]
    return chrome_json(*steps, *operators)


TRACES = {
    "plain": (plain_trace, {"text": "aten::m", "count": 5}),
    "hostile": (hostile_trace, {"text": "<svg", "count": sum("<svg" in name for name in hostile_names())}),
}


def make_pages(folder):
    """The pages and what they must show: the manifest of web/tests/run.mjs."""
    pages = []
    for name, (make, search) in TRACES.items():
        trace, page = folder / f"{name}.json", folder / f"{name}.html"
        trace.write_bytes(make())
        done = subprocess.run([*OPSCOPE, "report", trace, "-o", page], capture_output=True, timeout=60, check=False)
        assert done.returncode in (0, 3), done.stderr.decode()
        verdict = answer("summary", trace)["quality"]["verdict"]
        pages.append({"name": name, "path": str(page), "title": trace.name, "verdict": verdict, "tabs": TABS})
        pages[-1] |= {"tables": expected_tables(trace), "search": search}
    return {"chromium": chromium(), "pages": pages}


def run_checks(folder, manifest):
    path = folder / "manifest.json"
    path.write_text(json.dumps(manifest))
    done = subprocess.run([NODE, WEB / "tests" / "run.mjs", path], capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def need_browser():
    """Skips the test, or fails where OPSCOPE_REQUIRE_FRAMEWORKS names what is not here."""
    if (lack := absent()) is None:
        return
    name, reason = lack
    if name in os.environ.get("OPSCOPE_REQUIRE_FRAMEWORKS", "").split(","):
        pytest.fail(f"{reason}, and OPSCOPE_REQUIRE_FRAMEWORKS asks for {name}", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    need_browser()
    folder = tmp_path_factory.mktemp("pages")
    return run_checks(folder, make_pages(folder))


@pytest.mark.parametrize("check", CHECKS)
def test_every_page_keeps_the_promise(results, check):
    of_check = [each for each in results if each["check"] == check]
    assert [each["page"] for each in of_check] == list(TRACES)
    failures = [f"{each['page']}: {each['failure']}" for each in of_check if each["failure"]]
    assert not failures, "\n".join(failures)


def test_every_tab_has_a_picture_in_the_documents():
    address = (WEB / "src" / "model" / "address.ts").read_text()
    tabs = re.findall(r'"(\w+)"', re.search(r"kTabs = \[(.*?)\]", address, re.DOTALL).group(1))
    pictures = {path.stem for path in (ROOT / "docs" / "pictures" / "report").glob("*.png")}
    assert len(tabs) == 10 and pictures == {*tabs, "overview_dark", "timeline_dark"}
