# SPDX-License-Identifier: Apache-2.0
"""patch(): a program that imports torch.profiler itself runs on opscope."""

import sys
import types

import pytest

pytestmark = pytest.mark.framework("torch")

# A trainer as libraries write it: the profiler's names by both kinds of import, a subclass, a schedule.
TRAINER = """
import torch
import torch.profiler
from torch.profiler import ProfilerActivity, profile, record_function, schedule, tensorboard_trace_handler


class Callback:
    def on_train_begin(self, folder, seen):
        self.prof = profile(
            activities=[ProfilerActivity.CPU],
            schedule=torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1),
            on_trace_ready=tensorboard_trace_handler(folder) if folder else seen.append,
            record_shapes=True,
        )
        self.prof.start()

    def on_step_end(self):
        self.prof.step()

    def on_train_end(self):
        self.prof.stop()


def train(folder=None, seen=None):
    callback = Callback()
    callback.on_train_begin(folder, seen)
    model = torch.nn.Linear(4, 2)
    for _ in range(5):
        with record_function("train_step"):
            model(torch.ones(3, 4)).sum().backward()
        callback.on_step_end()
    callback.on_train_end()
    return callback.prof
"""


@pytest.fixture
def trainer():
    """The trainer as an imported module, made anew for each test."""
    made = []

    def make():
        module = types.ModuleType("some_trainer")
        sys.modules["some_trainer"] = module
        exec(compile(TRAINER, "some_trainer.py", "exec"), module.__dict__)
        made.append(module)
        return module

    yield make
    sys.modules.pop("some_trainer", None)


@pytest.mark.parametrize("imported", ["before", "after"])
def test_a_trainer_records_with_opscope_whenever_it_was_imported(trainer, imported):
    import opscope.torch

    module = trainer() if imported == "before" else None
    with opscope.torch.patch() as patch:
        module = module or trainer()
        seen = []
        prof = module.train(seen=seen)
        assert ("some_trainer" in patch.modules) == (imported == "before")
    assert type(prof) is opscope.torch.profile
    assert seen == [prof]
    names = [e.name for e in prof.events()]
    assert names.count("train_step") == 2 and names.count("aten::linear") == 2


def test_the_trainer_writes_what_tensorboard_reads(trainer, tmp_path):
    import opscope
    import opscope.torch

    with opscope.torch.patch():
        trainer().train(folder=str(tmp_path))
    (trace,) = tmp_path.glob("*.pt.trace.json")
    assert {"train_step", "aten::linear"} <= set(opscope.open(str(trace)).spans.text("name"))


def test_undo_puts_everything_back(trainer):
    import torch.profiler

    import opscope.torch

    module = trainer()
    holders = (torch.profiler, torch.profiler.profiler, module)
    before = [dict(holder.__dict__) for holder in holders]
    patch = opscope.torch.patch()
    assert torch.profiler.profile is module.profile is opscope.torch.profile
    assert torch.profiler.schedule is opscope.torch.schedule
    assert torch.autograd.profiler.record_function is not opscope.torch.record_function  # torch's own ranges
    patch.undo()
    patch.undo()
    for holder, names in zip(holders, before, strict=True):
        assert {k: holder.__dict__[k] for k in names} == names
    assert type(module.train(seen=[])) is torch.profiler.profile


def test_a_patch_is_undone_by_its_block_by_its_result_and_by_undo():
    import torch.profiler

    import opscope.torch

    original = torch.profiler.profile
    with opscope.torch.patch():
        assert torch.profiler.profile is opscope.torch.profile
    assert torch.profiler.profile is original
    undo = opscope.torch.patch()
    assert undo() is None and torch.profiler.profile is original
    undo()  # a second call changes nothing
    undo = opscope.torch.patch()
    assert undo.undo() is None and torch.profiler.profile is original


def test_undo_leaves_what_somebody_changed_since(trainer):
    import torch.profiler

    import opscope.torch

    original = torch.profiler.schedule
    patch = opscope.torch.patch()
    torch.profiler.schedule = "somebody's"
    try:
        patch.undo()
        assert torch.profiler.schedule == "somebody's"
    finally:
        torch.profiler.schedule = original


def test_a_second_patch_is_refused_until_the_first_is_undone():
    import opscope.torch

    with opscope.torch.patch():
        with pytest.raises(RuntimeError, match="undo"):
            opscope.torch.patch()
    opscope.torch.patch().undo()


def test_schedules_may_return_the_originals_actions():
    import torch.profiler

    import opscope.torch

    theirs = torch.profiler.ProfilerAction

    def schedule(step):
        return theirs.RECORD_AND_SAVE if step == 1 else theirs.NONE

    seen = []
    with opscope.torch.profile(schedule=schedule, on_trace_ready=lambda p: seen.append(len(p.events()))) as prof:
        for _ in range(3):
            torch.ones(2)
            prof.step()
    assert len(seen) == 1 and seen[0] > 0


def test_a_schedule_that_returns_something_else_is_told_so():
    import opscope.torch

    with pytest.raises(TypeError, match=r"returned 2 for step 0, which is not a ProfilerAction"):
        opscope.torch.profile(schedule=lambda _step: 2)


def test_the_legacy_profile_and_the_names_of_documents_are_there_while_it_stands():
    import torch

    import opscope.torch

    before = torch.autograd.profiler.profile, torch.autograd.profiler.record_function
    with opscope.torch.patch() as made:
        assert torch.autograd.profiler.profile is opscope.torch.autograd_profiler.profile
        assert torch.autograd.profiler.record_function is before[1]
        assert torch.profiler.Profiler is opscope.torch.profile is opscope.torch.Profiler
        assert "torch.autograd.profiler" in made.modules
        import torch.profiler.tensorboard as named

        assert named is opscope.torch.tensorboard
        with torch.autograd.profiler.profile() as legacy:
            torch.ones(2)
    assert torch.autograd.profiler.profile is before[0]
    assert not hasattr(torch.profiler, "Profiler") and not hasattr(torch.profiler, "tensorboard")
    assert "torch.profiler.tensorboard" not in sys.modules
    assert [e.name for e in legacy.function_events] == ["aten::ones", "aten::empty", "aten::fill_"]


def test_modules_without_a_name_are_patched_and_those_that_refuse_undo_it_all():
    import torch

    import opscope.torch

    class Refusing(types.ModuleType):
        def __setattr__(self, name, value):
            raise AttributeError("this module cannot be changed")

    theirs = torch.profiler.profile
    nameless, refusing = types.ModuleType("nameless"), Refusing("refusing")
    nameless.profile = theirs
    del nameless.__name__
    sys.modules["nameless"] = nameless
    try:
        with opscope.torch.patch() as made:
            assert nameless.profile is opscope.torch.profile
            assert "" in made.modules
        refusing.__dict__["profile"] = theirs
        sys.modules["refusing"] = refusing
        with pytest.raises(AttributeError, match="cannot be changed"):
            opscope.torch.patch()
        assert nameless.profile is torch.profiler.profile is theirs
        del sys.modules["refusing"]
        with opscope.torch.patch():  # no earlier patch stands
            pass
    finally:
        for name in ("nameless", "refusing"):
            sys.modules.pop(name, None)
