# SPDX-License-Identifier: Apache-2.0
"""A notebook, executed: what stands below a cell whose last line is an object of opscope."""

import re

import pytest
from notebook_kernel import execute

pytestmark = pytest.mark.framework("torch")

EVENTS = 20_000
SETUP = f"""
import torch, opscope
from opscope.torch import ProfilerActivity, profile, record_function
from opscope.torch.autograd_profiler import profile as legacy_profile

def work():
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
    with record_function("<b>bold</b>"):
        model(torch.ones(2, 4))
    for _ in range({EVENTS // 2}):
        value.neg().abs()

value = torch.ones(2)
prof = profile(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True, with_modules=True)
with prof:
    work()
with legacy_profile() as legacy:
    work()
path = "run.opscope"
prof.save(path)
trace = opscope.open(path)
"""
# Whole recordings.
PAGES = ("prof", "prof.trace", "trace")
# Every list, old profile and table, with a text that each form must have.
SHOWN = {
    "prof.events()": "aten::neg",
    "prof.key_averages()": "aten::neg",
    "prof.key_averages(group_by_input_shape=True)": "[[4, 4]",
    "prof.key_averages().table()": "aten::neg",
    "prof.key_averages().table(style='plain')": "aten::neg",
    "prof.profiler": "aten::neg",
    "prof.profiler.kineto_results.events()": "aten::linear",
    "prof.profiler.kineto_results.experimental_event_tree()": "aten::neg",
    "prof.module_table()": "Linear",
    "prof.trace.summary()": "aten::neg",
    "prof.trace.modules()": "Linear",
    "legacy": "aten::linear",
    "legacy.function_events": "aten::linear",
    "trace.spans": "cpu_op",
    "trace.allocations": "address",
    "trace.summary()": "aten::neg",
    "trace.module_table()": "Linear",
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Cell -> the forms in which it was shown."""
    cells = execute((SETUP, *PAGES, *SHOWN), tmp_path_factory.mktemp("notebook"))
    return {cell.source: cell.outputs for cell in cells}


@pytest.mark.parametrize("cell", SHOWN)
def test_everything_is_shown_as_a_short_table(outputs, cell):
    (output,) = outputs[cell]
    text, page = output.data["text/plain"], output.data["text/html"]
    assert len(text.splitlines()) <= 33 and len(text) < 33 * 300  # a caption, titles, 30 rows, how many more
    assert page.count("<tr>") <= 33 and len(page) < 100_000
    assert re.search(r"</table>|</pre>", page)
    assert "\\n" not in text and " at 0x" not in text and "<b>bold" not in page
    assert SHOWN[cell] in page


@pytest.mark.parametrize("cell", PAGES)
def test_a_recording_is_shown_as_a_page_in_a_sandbox(outputs, cell):
    (output,) = outputs[cell]
    text, frame = output.data["text/plain"], output.data["text/html"]
    assert text.startswith("<opscope.") and len(text.splitlines()) == 1
    assert frame.startswith('<iframe sandbox="allow-scripts allow-downloads" title="') and len(frame) <= 2 << 20
    assert "allow-same-origin" not in frame.partition(" srcdoc=")[0] and frame.count("<iframe") == 1
    assert "aten::neg" in frame


def test_a_long_list_says_how_much_is_not_shown(outputs):
    (output,) = outputs["prof.events()"]
    total = int(re.search(r"([\d,]+) events", output.data["text/plain"]).group(1).replace(",", ""))
    assert total > EVENTS
    for shown in output.data.values():
        assert f"({total - 30:,} more)" in shown


def test_times_and_sizes_have_units(outputs):
    for cell in ("prof.key_averages()", "trace.summary()"):
        (output,) = outputs[cell]
        row = next(line for line in output.data["text/plain"].splitlines() if line.endswith("aten::neg"))
        assert re.search(r"\d\.\d{3}(us|ms|s)\b", row) and re.search(r"\d (b|KB|MB)\b", row, re.IGNORECASE)


def test_what_table_returns_is_a_text_for_programs():
    import copy
    import pickle

    import torch

    from opscope.torch import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU]) as prof:
        torch.ones(2)
    averages = prof.key_averages()
    table = averages.table()
    assert (
        isinstance(table, str) and table == str(averages) == f"{table}" and table.splitlines()[1].split()[0] == "Name"
    )
    assert type(str(table)) is type(pickle.loads(pickle.dumps(table))) is type(copy.deepcopy(table)) is str
    assert pickle.loads(pickle.dumps(table)) == table


def test_setting_up_prints_nothing(outputs):
    assert outputs[SETUP] == []
