# SPDX-License-Identifier: Apache-2.0
"""Wrong values for every argument that takes one: the exception is of torch's class, and says at least torch's words.

What is refused at construction, and what the profile's own life forbids: test_torch_arguments.py.
"""

import warnings

import pytest
from torch_oracle import both_modules

pytestmark = pytest.mark.framework("torch")


def recorded(module, **arguments):
    import torch

    with module.profile(activities=[module.ProfilerActivity.CPU], **arguments) as prof:
        torch.ones(2).add(1.0)
    return prof


SAME_WORDS = {
    "schedule: negative": lambda m: m.schedule(wait=-1, warmup=0, active=1),
    "schedule: nothing active": lambda m: m.schedule(wait=1, warmup=0, active=0),
    "schedule: too few": lambda m: m.schedule(wait=1),
    "schedule: positional": lambda m: m.schedule(1, 1, 1),
    "schedule: a step before the first": lambda m: m.schedule(wait=1, warmup=1, active=1)(-1),
    "schedule: a step that is a text": lambda m: m.schedule(wait=1, warmup=1, active=1)("x"),
    "profile: a schedule that is none": lambda m: m.profile(schedule=5),
    "profile: a schedule that raises": lambda m: m.profile(schedule=lambda step: step / 0),
    "profile: a handler that is none": lambda m: recorded(m, on_trace_ready=5),
    "table: an unknown key": lambda m: recorded(m).key_averages().table(sort_by="nonsense"),
    "table: a key that is a number": lambda m: recorded(m).key_averages().table(sort_by=5),
    "table: the header": lambda m: recorded(m).key_averages().table(header=5),
    "key_averages: an unknown argument": lambda m: recorded(m).key_averages(group_by_nothing=1),
    "export_stacks: an unknown metric": lambda m: recorded(m, with_stack=True).export_stacks("x", "nonsense"),
    "export_chrome_trace: a number": lambda m: recorded(m).export_chrome_trace(5),
    "export_chrome_trace: None": lambda m: recorded(m).export_chrome_trace(None),
    "export_memory_timeline: without its flags": lambda m: recorded(m).export_memory_timeline("x"),
    "tensorboard_trace_handler: no folder": lambda m: m.tensorboard_trace_handler(None)(recorded(m)),
    "events: beyond the end": lambda m: recorded(m).events()[10**6],
}
# A C type words the refusal of a type in its own way.
SAME_CLASS = {
    "schedule: a text": lambda m: m.schedule(wait="1", warmup=1, active=1),
    "table: a width": lambda m: recorded(m).key_averages().table(max_name_column_width="x"),
    "key_averages: the depth of the stack": lambda m: recorded(m).key_averages(group_by_stack_n="x"),
    "export_stacks: None": lambda m: recorded(m, with_stack=True).export_stacks(None),
    "add_metadata: the key": lambda m: recorded(m).add_metadata(5, "x"),
    "add_metadata_json: the value": lambda m: recorded(m).add_metadata_json("k", 5),
}


def raised_by(act, module):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            act(module)
        except Exception as error:  # noqa: BLE001 - the class is what is compared
            return error
    return None


@pytest.mark.parametrize("what", SAME_WORDS)
def test_the_class_and_the_words_are_torchs(what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    theirs, ours = (raised_by(SAME_WORDS[what], module) for module in both_modules())
    assert theirs is not None and type(ours) is type(theirs)
    assert str(theirs) in str(ours)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("what", SAME_CLASS)
def test_the_class_is_torchs(what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    theirs, ours = (raised_by(SAME_CLASS[what], module) for module in both_modules())
    assert theirs is not None and type(ours) is type(theirs)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("key", ["cuda_time_total", "self_cuda_time_total", "xpu_time_total", "self_cuda_memory_usage"])
def test_old_names_of_device_columns_still_sort(key):
    theirs, ours = (recorded(module).key_averages() for module in both_modules())
    rows = [[line.split("  ")[0:1] for line in table.table(sort_by=key).splitlines()] for table in (theirs, ours)]
    assert len(rows[0]) == len(rows[1])
    assert "aten::add" in ours.table(sort_by=key)
