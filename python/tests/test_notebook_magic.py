# SPDX-License-Identifier: Apache-2.0
"""A notebook with ``%%opscope``, executed: what each cell records, shows and leaves."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from notebook_kernel import execute

pytestmark = pytest.mark.framework("torch")

LOAD = "%load_ext opscope\nimport sys\n[name for name in ('torch', 'paddle', 'megengine') if name in sys.modules]"
SETUP = """
import collections, json, torch
model = torch.nn.Linear(8, 8)
batch = torch.ones(4, 8)

class Slow(torch.utils.data.Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, index):
        return sum(torch.rand(300)[at] for at in range(300)).reshape(1)

def counts(*names):
    found = collections.Counter(_prof.trace.spans["name"])
    print(json.dumps([found[name] for name in names]))
"""
TRAIN = """%%opscope --memory --shapes
before = [name for name in ("model", "_prof") if name in globals()]
for _ in range(7):
    with torch.profiler.record_function("<b>bold</b>"):
        result = model(batch)
result.shape"""
OPTIONS = "_prof.record_shapes, _prof.profile_memory, _prof.with_stack"
AFTER = f"counts('aten::linear', 'aten::relu', '<b>bold</b>'); print(before, result.shape == (4, 8), {OPTIONS})"
SILENT = "%%opscope\nbatch.relu();"
LOADER = "%%opscope\nfor data in torch.utils.data.DataLoader(Slow()):\n    data.relu()"
RAISES = "%%opscope\nfor at in range(3):\n    batch.relu()\nraise KeyError('in the cell')\nbatch.neg()"
AFTER_RAISE = "counts('aten::relu', 'aten::neg')"
STACK = "%%opscope --stack\ndef step():\n    return model(batch)\nstep()\nNone"
AFTER_STACK = (
    "print(sum(name.endswith(': step') for name in _prof.trace.spans['name']), _prof.module_table().count('Linear'))"
)
REPORT = "%%opscope --report\nbatch.neg()\nNone"
UNKNOWN = "%%opscope --shaeps\nran = True"
NO_SUCH = "%%opscope --framework jax\nran = True"
AFTER_WRONG = "'ran' in globals()"
SYNTAX = "%%opscope\n1 +"
# The cell that the page shows, the model that it is about, and what was recorded.
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "how-to" / "profile_a_notebook_cell.md").read_text()
(QUOTED,), (SHOWN,) = (re.findall(pattern, PAGE, re.DOTALL) for pattern in (r"python\n(%%.*?)\n```", r"text\n(.*?)```"))
PAGE_MODEL = "model = torch.nn.Linear(64, 64)"
PAGE_ROWS = (
    "print(json.dumps([[row['name'], row['count'], row['self_memory_bytes']] for row in _prof.trace.summary()]))"
)
LISTED = "print(' '.join(get_ipython().run_line_magic('who_ls', '')))"
CELLS = (LOAD, SETUP, TRAIN, AFTER, SILENT, LOADER, RAISES, AFTER_RAISE, STACK, AFTER_STACK, REPORT)
CELLS += (UNKNOWN, NO_SUCH, AFTER_WRONG, SYNTAX, LISTED, PAGE_MODEL, QUOTED, PAGE_ROWS)


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    """Folder of the kernel, and source of a cell -> its outputs."""
    folder = tmp_path_factory.mktemp("magic")
    return folder, {cell.source: cell.outputs for cell in execute(CELLS, folder, allow_errors=True)}


@pytest.fixture(scope="module")
def outputs(notebook):
    return notebook[1]


def printed(outputs, cell):
    (output,) = outputs[cell]
    return output.text.splitlines()


def test_loading_imports_no_framework(outputs):
    (output,) = outputs[LOAD]
    assert output.data["text/plain"] == "[]"


def test_opscope_alone_imports_no_ipython():
    code = "import opscope, sys; opscope.load_ipython_extension; print('IPython' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_overview_has_the_operators_of_the_cell_and_its_value_follows(outputs):
    overview, value = outputs[TRAIN]
    rows = [line.split() for line in overview.data["text/plain"].splitlines()]
    assert rows[0][0] == "opscope.torch.profile:"
    assert rows[1] == ["count", "total", "self", "self_memory", "name"]
    (linear,) = [row for row in rows if row[-1] == "aten::addmm"]
    assert linear[0] == "7" and linear[-3:-1] == ["896", "B"]  # 7 results of 4 x 8 floats
    assert value.output_type == "execute_result" and value.data["text/plain"] == "torch.Size([4, 8])"


def test_overview_is_a_table_with_all_names_escaped(outputs):
    page = outputs[TRAIN][0].data["text/html"]
    assert page.count("<tr>") <= 11 and "<td>aten::addmm</td>" in page
    assert "<td>&lt;b&gt;bold&lt;/b&gt;</td>" in page and "<b>" not in page


def test_cell_runs_in_the_namespace_of_the_notebook_with_what_its_options_ask(outputs):
    assert printed(outputs, AFTER) == ["[7, 0, 7]", "['model', '_prof'] True True True False"]


def test_semicolon_hides_the_value(outputs):
    magic = pytest.importorskip("IPython.core.magic")
    if not hasattr(magic, "output_can_be_silenced"):
        pytest.skip("this IPython always shows the value of a magic")
    (overview,) = outputs[SILENT]
    assert "aten::relu" in overview.data["text/plain"]


def test_overview_says_what_slows_the_cell_down(outputs):
    (overview,) = outputs[LOADER]
    for shown in overview.data.values():
        assert "waits for input data in enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__" in shown


def test_exception_of_a_cell_shows_its_line_and_leaves_what_was_recorded(outputs):
    (error,) = outputs[RAISES]
    assert error.ename == "KeyError"
    text = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(error.traceback))
    assert "----> 3 raise KeyError('in the cell')" in text and "notebook.py" not in text
    assert printed(outputs, AFTER_RAISE) == ["[3, 0]"]


def test_stack_records_calls_of_python(outputs):
    calls, modules = map(int, printed(outputs, AFTER_STACK)[0].split())
    assert calls == 1 and modules >= 1


def test_report_is_the_page_in_a_sandbox(outputs):
    (output,) = outputs[REPORT]
    frame = output.data["text/html"]
    assert frame.startswith('<iframe sandbox="allow-scripts allow-downloads" title="') and "aten::neg" in frame
    assert "allow-same-origin" not in frame.partition(" srcdoc=")[0]


@pytest.mark.parametrize(("cell", "why"), [(UNKNOWN, "--shaeps"), (NO_SUCH, "'jax' (choose from")])
def test_wrong_argument_is_one_line_and_the_cell_does_not_run(outputs, cell, why):
    (line,) = printed(outputs, cell)
    assert line.startswith("UsageError: ") and why in line
    assert outputs[AFTER_WRONG][0].data["text/plain"] == "False"


def test_syntax_error_of_a_cell_is_shown_as_such(outputs):
    (error,) = outputs[SYNTAX]
    assert error.ename == "SyntaxError"


def test_profile_is_no_variable_of_the_user_and_nothing_is_written(notebook):
    folder, outputs = notebook
    assert "_prof" not in printed(outputs, LISTED)[0].split()
    assert all(path.name.startswith(("JUPYTER", "IPYTHON")) for path in folder.iterdir())


def test_page_shows_what_its_cell_shows(outputs):
    (overview,) = outputs[QUOTED]
    shown, lines = (text.splitlines() for text in (SHOWN, overview.data["text/plain"]))
    first, titles, *rows, more, finding, note = shown
    assert re.sub(r"\d+", "N", first) == re.sub(r"\d+", "N", lines[0]) and titles.split() == lines[1].split()
    # On a busy machine there may be other findings beside it.
    assert finding in outputs[LOADER][0].data["text/plain"].splitlines() and note == lines[-1]
    (line,) = printed(outputs, PAGE_ROWS)
    recorded = {name: (count, size) for name, count, size in json.loads(line)}
    assert int(re.fullmatch(r"\((\d+) more\)", more)[1]) + len(rows) == len(recorded)
    for count, _, _, size, unit, name in (row.split(maxsplit=5) for row in rows):
        assert recorded[name] == (int(count), float(size) * {"B": 1, "KB": 1024}[unit]), name


PADDLE = (
    "import paddle, json\n%load_ext opscope",
    "%%opscope\npaddle.ones([2, 3]).sum()\nNone",
    "kind = type(_prof).__mro__[1].__module__\n"
    "print(json.dumps([kind, sum(n == 'sum dygraph' for n in _prof.trace.spans['name'])]))",
    "first = _prof",
    "%%opscope\npaddle.ones([2, 3]).exp()\nNone",
    "print(json.dumps([sum(n == 'exp dygraph' for n in each.trace.spans['name']) for each in (first, _prof)]))",
    "%%opscope --stack\nNone",
)


@pytest.mark.framework("paddle")
def test_cell_is_recorded_with_the_framework_that_is_imported(tmp_path):
    _, overview, said, _, second, counts, refused = (
        cell.outputs for cell in execute(PADDLE, tmp_path, allow_errors=True)
    )
    assert "sum dygraph" in overview[-1].data["text/html"]
    assert json.loads(said[0].text) == ["opscope.paddle.profiler", 1]
    # Paddle has one recorder in a process: the profile of the first cell, which still exists, has given it back.
    assert "exp dygraph" in second[-1].data["text/html"] and json.loads(counts[0].text) == [0, 1]
    assert refused[0].text == "UsageError: calls of Python are recorded with torch and megengine, not with paddle\n"
    assert all(path.name.startswith(("JUPYTER", "IPYTHON")) for path in tmp_path.iterdir())
