# SPDX-License-Identifier: Apache-2.0
"""Every argument beside every kind of value: opscope.torch takes what torch.profiler takes, and refuses the rest with
an exception of the same class, in torch's words where they are torch's own. What differs on purpose is listed here,
and in docs/reference/torch_differences.md.

Wrong values that mean something to one argument alone: test_torch_wrong_values.py.
"""

import fnmatch
import inspect
import os
import pickle
import warnings

import pytest

pytestmark = pytest.mark.framework("torch")

VALUES = {
    "None": None, "5": 5, "0": 0, "-1": -1, "1.5": 1.5, "nan": float("nan"), "10**30": 10**30, "True": True,
    "'text'": "text", "''": "", "b'x'": b"x", "[]": [], "[1]": [1], "{}": {}, "a class": object,
    "a function": lambda: 1,
}  # fmt: skip
# As a path torch takes such a number for an open file, and closes that of this process.
FILE_NUMBERS = {"5", "0", "-1", "True"}

# Case (a pattern) -> what torch.profiler takes, or fails at later, and opscope refuses at once; and what it takes.
REFUSED_HERE = {
    "schedule(*)": {"1.5", "nan"},
    "schedule's step": {"1.5", "nan", "10**30"},
    "*table(max_*_width)": set(VALUES) - {"None", "5", "0", "-1", "True"},
    "*export_*(path)": {"''"},
    "*metadata*(key)": {"b'x'"},
    "*metadata_json(value)": {"'text'", "''", "b'x'"},
}
TAKEN_HERE = {
    "*table(max_*_width)": {"True"},
    "*export_*(path)": {"b'x'"},
}


def is_listed(table, case, value):
    return any(fnmatch.fnmatchcase(case, pattern) and value in values for pattern, values in table.items())


def recorded(module, **arguments):
    import torch

    with module.profile(**{"activities": [module.ProfilerActivity.CPU]} | arguments) as prof:
        with module.record_function("range"):
            torch.ones(2).add(1.0)
    return prof


def looked_at(module, **arguments):
    prof = recorded(module, **arguments)
    prof.events()
    prof.key_averages().table()


def autograd_profiler(module):
    import torch

    import opscope.torch.autograd_profiler

    return torch.autograd.profiler if module is torch.profiler else opscope.torch.autograd_profiler


def run_block(module, **arguments):
    import torch

    with autograd_profiler(module).profile(**arguments) as prof:
        torch.ones(2).add(1.0)
    prof.key_averages().table()


def run_schedule(module, **arguments):
    plan = module.schedule(**{"wait": 1, "warmup": 1, "active": 1} | arguments)
    return [plan(step).name for step in range(8)]


def with_metadata(module, method, *arguments):
    prof = module.profile(activities=[module.ProfilerActivity.CPU])
    if method == "preset_metadata_json":
        getattr(prof, method)(*arguments)
    prof.start()
    try:
        if method != "preset_metadata_json":
            getattr(prof, method)(*arguments)
    finally:
        prof.stop()


def toggled(module, *arguments):
    prof = module.profile(activities=[module.ProfilerActivity.CPU])
    prof.start()
    try:
        prof.toggle_collection_dynamic(*arguments)
    finally:
        prof.stop()


def in_range(module, *arguments):
    with module.record_function(*arguments):
        pass


def of_memory(module, *arguments):
    flags = dict.fromkeys(("record_shapes", "profile_memory", "with_stack"), True)
    recorded(module, **flags).export_memory_timeline(*arguments)


def parameters(function):
    return [name for name in inspect.signature(function).parameters if name != "self"]


def cases():
    """name -> act(module, value)."""
    import torch.profiler

    theirs = torch.profiler
    found = {}
    for name in parameters(theirs.profile):
        found[f"profile({name})"] = lambda m, x, name=name: looked_at(m, **{name: x})
    for name in parameters(torch.autograd.profiler.profile):
        found[f"autograd profile({name})"] = lambda m, x, name=name: run_block(m, **{name: x})
    for name in parameters(theirs.schedule):
        found[f"schedule({name})"] = lambda m, x, name=name: run_schedule(m, **{name: x})
    found["schedule's step"] = lambda m, x: m.schedule(wait=1, warmup=1, active=1)(x)
    for name in parameters(theirs.profile.key_averages):
        found[f"key_averages({name})"] = lambda m, x, name=name: len(recorded(m).key_averages(**{name: x}))
    for name in parameters(torch.autograd.profiler_util.EventList.table):
        found[f"averages.table({name})"] = lambda m, x, name=name: recorded(m).key_averages().table(**{name: x})
        found[f"events.table({name})"] = lambda m, x, name=name: recorded(m).events().table(**{name: x})
    found["averages.add"] = lambda m, x: recorded(m).key_averages()[0].add(x)
    found["events[]"] = lambda m, x: recorded(m).events()[x]
    found["export_chrome_trace(path)"] = lambda m, x: recorded(m).export_chrome_trace(x)
    found["events.export_chrome_trace(path)"] = lambda m, x: recorded(m).events().export_chrome_trace(x)
    found["export_stacks(path)"] = lambda m, x: recorded(m, with_stack=True).export_stacks(x)
    found["export_stacks(metric)"] = lambda m, x: recorded(m, with_stack=True).export_stacks("x", x)
    found["export_memory_timeline(path)"] = of_memory
    found["export_memory_timeline(device)"] = lambda m, x: of_memory(m, "x.json", x)
    for name in parameters(theirs.tensorboard_trace_handler):
        found[f"tensorboard_trace_handler({name})"] = lambda m, x, name=name: m.tensorboard_trace_handler(
            **{"dir_name": "folder"} | {name: x}
        )(recorded(m))
    for method in ("add_metadata", "add_metadata_json", "preset_metadata_json"):
        found[f"{method}(key)"] = lambda m, x, method=method: with_metadata(m, method, x, "1")
        found[f"{method}(value)"] = lambda m, x, method=method: with_metadata(m, method, "key", x)
    if hasattr(theirs.profile, "toggle_collection_dynamic"):
        found["toggle(enable)"] = lambda m, x: toggled(m, x, [m.ProfilerActivity.CPU])
        found["toggle(activities)"] = lambda m, x: toggled(m, False, x)
    found["record_function(name)"] = in_range
    found["record_function(args)"] = lambda m, x: in_range(m, "name", x)
    found["record_function: a decorated value"] = lambda m, x: m.record_function("name")(x)()
    found["ExecutionTraceObserver.register_callback"] = registered
    return found


def registered(module, value):
    """In a child: torch keeps one whose file cannot be opened as that of the process, and later ones write nothing."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            module.ExecutionTraceObserver().register_callback(value)
            raised = None
        except Exception as error:  # noqa: BLE001 - the class is what is compared
            raised = error
        os.write(writing, pickle.dumps(raised))
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        raised = pickle.load(pipe)
    os.waitpid(child, 0)
    if raised is not None:
        raise raised


def raised_by(act, module, value):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            act(module, value)
        except Exception as error:  # noqa: BLE001 - the class is what is compared
            return error
    return None


def difference(theirs, ours, case, value):
    """What is wrong with how a value was answered; None: nothing."""
    if theirs is None or ours is None:
        listed = REFUSED_HERE if theirs is None else TAKEN_HERE
        return None if theirs is ours or is_listed(listed, case, value) else f"{theirs!r} and here {ours!r}"
    if not isinstance(ours, type(theirs)):
        return f"{theirs!r} and here {ours!r}"
    # The other classes are Python's, or those of the library that binds C++.
    has_words = type(theirs) in (AssertionError, RuntimeError, ValueError)
    words = str(theirs).partition("\n")[0]
    return f"{words!r} and here {str(ours)!r}" if has_words and words not in str(ours) else None


def names_of_cases():
    try:
        return list(cases())
    except ImportError:
        return ["torch is not there"]


@pytest.mark.parametrize("case", names_of_cases())
def test_a_value_is_taken_or_refused_as_by_torch(case, tmp_path, monkeypatch):
    import torch.profiler

    import opscope.torch

    act = cases()[case]
    wrong = {}
    for side in ("theirs", "ours"):
        (tmp_path / side).mkdir()
    for value, given in VALUES.items():
        if case.endswith("(path)") and value in FILE_NUMBERS:
            assert isinstance(raised_by(act, opscope.torch, given), (TypeError, AttributeError))
            continue
        answers = []
        for side, module in (("theirs", torch.profiler), ("ours", opscope.torch)):
            monkeypatch.chdir(tmp_path / side)
            answers.append(raised_by(act, module, given))
        found = difference(*answers, case, value)
        if found is not None:
            wrong[value] = found
    assert wrong == {}


def test_the_lists_of_differences_name_cases_and_values():
    for table in (REFUSED_HERE, TAKEN_HERE):
        for pattern, values in table.items():
            assert any(fnmatch.fnmatchcase(case, pattern) for case in cases())
            assert values <= set(VALUES)
