# SPDX-License-Identifier: Apache-2.0
"""Names, signatures and refusals of opscope.torch beside those of torch.profiler."""

import inspect
import warnings

import pytest
from torch_oracle import both_modules

pytestmark = pytest.mark.framework("torch")

ADDED = {"record_to", "max_bytes", "at_cap", "corrected", "style"}
ADDED |= {"dump_to", "dump_on_signal", "dump_on_exception", "dump_if_no_step_for"}


def test_every_public_name_of_torch_profiler_is_there():
    theirs, ours = both_modules()
    assert set(theirs.__all__) - set(dir(ours)) == set()


@pytest.mark.parametrize(
    "name",
    [
        "profile",
        "_KinetoProfile",
        "schedule",
        "supported_activities",
        "tensorboard_trace_handler",
        "profile.export_chrome_trace",
        "profile.export_stacks",
        "profile.export_memory_timeline",
        "profile.key_averages",
        "profile.events",
        "profile.add_metadata",
        "profile.add_metadata_json",
        "profile.preset_metadata_json",
        pytest.param(
            "profile.toggle_collection_dynamic", marks=pytest.mark.torch_has("_KinetoProfile.toggle_collection_dynamic")
        ),
        pytest.param(
            "profile.set_custom_trace_id_callback", marks=pytest.mark.torch_has("profile.set_custom_trace_id_callback")
        ),
        pytest.param("profile.get_trace_id", marks=pytest.mark.torch_has("profile.get_trace_id")),
        "profile.start",
        "profile.stop",
        "profile.step",
        "profile.prepare_trace",
        "profile.start_trace",
        "profile.stop_trace",
    ],
)
def test_parameters_are_torchs(name):
    def parameters(module):
        found = module
        for part in name.split("."):
            found = getattr(found, part)
        return [(p.name, p.kind, p.default) for p in inspect.signature(found).parameters.values()]

    theirs, ours = (parameters(module) for module in both_modules())
    assert [p for p in ours if p[0] not in ADDED] == theirs


def test_type_errors_name_methods_as_torch_does():
    import torch

    def recorded(module):
        with module.profile(activities=[module.ProfilerActivity.CPU]) as prof:
            torch.ones(2)
        events, averages = prof.events(), prof.key_averages()
        return {"profile": prof, "inner": prof.profiler, "list": events, "event": events[0], "average": averages[0]}

    def complaint(function):
        with pytest.raises(TypeError) as raised:
            function(no_such_argument=1)
        return str(raised.value)

    own = {"record_function", "schedule"}  # one is written in C, the other is a function of any name
    theirs, ours = (recorded(module) for module in both_modules())
    compared = 0
    for kind, of_torch in theirs.items():
        for name in dir(of_torch):
            is_method = inspect.isfunction(inspect.getattr_static(of_torch, name, None))
            if name.startswith("_") or name in own or not is_method:
                continue
            assert complaint(getattr(ours[kind], name)) == complaint(getattr(of_torch, name)), (kind, name)
            compared += 1
    assert compared > 20


def test_event_list_parameters_are_torchs():
    from torch.autograd.profiler_util import EventList

    import opscope.torch

    for name in ("table", "key_averages", "export_chrome_trace", "export_stacks", "total_average"):
        theirs = inspect.signature(getattr(EventList, name)).parameters
        ours = inspect.signature(getattr(opscope.torch.EventList, name)).parameters
        assert [(p.name, p.kind, p.default) for p in ours.values() if p.name not in ADDED] == [
            (p.name, p.kind, p.default) for p in theirs.values()
        ]


def test_actions_are_torchs():
    theirs, ours = both_modules()
    assert [(a.name, a.value) for a in ours.ProfilerAction] == [(a.name, a.value) for a in theirs.ProfilerAction]
    assert ours.ProfilerActivity is theirs.ProfilerActivity
    assert ours.supported_activities() == theirs.supported_activities()


def raised_by(module, act):
    """The exception class and text, and the warnings, of one call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            act(module)
            error = None
        except Exception as raised:  # noqa: BLE001 - the class is what is compared
            error = (type(raised), str(raised))
    return error, [(w.category, str(w.message)) for w in caught if "clears events" not in str(w.message)]


def _start_with(**arguments):
    def act(module):
        prof = module.profile(**arguments(module) if callable(arguments) else arguments)
        prof.start()
        prof.stop()

    return act


WRONG = {
    "no activity": lambda m: m.profile(activities=[]),
    "no activity but cuda": lambda m: m.profile(activities=[], use_cuda=True),
    "only cuda, which is taken away": lambda m: m.profile(activities=[m.ProfilerActivity.CUDA], use_cuda=False),
    "the same activity twice": lambda m: m.profile(activities=[m.ProfilerActivity.CPU, m.ProfilerActivity.CPU]),
    "the same activity twice, once in a dict": lambda m: m.profile(
        activities=[m.ProfilerActivity.CPU, {m.ProfilerActivity.CPU: []}]
    ),
    "an activity that is none": lambda m: m.profile(activities=[m.ProfilerActivity.CPU, "CPU"]),
    "use_cuda": lambda m: m.profile(use_cuda=True),
    "a negative timeout": lambda m: m.profile(post_processing_timeout_s=-1).start(),
    "an unknown argument": lambda m: _without_class_name(m.profile, nonsense=1),
    "a positional argument": lambda m: _without_class_name(m.profile, 1),
    "a schedule that returns the internal action": lambda m: m.profile(
        schedule=lambda step: m.ProfilerAction.DEVICE_STOPPED
    ),
    "events before the start": lambda m: m.profile().events(),
    "averages before the start": lambda m: m.profile().key_averages(),
    "export before the start": lambda m: m.profile().export_chrome_trace("x.json"),
    "stacks before the start": lambda m: m.profile().export_stacks("x"),
    "stop before the start": lambda m: m.profile().stop(),
    "stacks without with_stack": lambda m: _finished(m).export_stacks("x"),
    "the memory timeline": lambda m: _finished(m).export_memory_timeline("x.json"),
    "metadata that is no text": lambda m: m.profile().add_metadata("k", 1),
    "cuda where there is none": lambda m: _finished(m, activities=[m.ProfilerActivity.CPU, m.ProfilerActivity.CUDA]),
    "only cuda where there is none": lambda m: _finished(m, activities=[m.ProfilerActivity.CUDA]),
    "xpu where there is none": lambda m: _finished(m, activities=[m.ProfilerActivity.CPU, m.ProfilerActivity.XPU]),
    "events of a trace_only recording": lambda m: _finished(
        m, experimental_config=m._ExperimentalConfig(trace_only=True)
    ).events(),
    "a bad folder of the trace handler": lambda m: m.tensorboard_trace_handler("/dev/null/x")(None),
    "an unnamed range": lambda m: m.record_function().__enter__(),
}


def _without_class_name(make, *arguments, **keywords):
    try:
        make(*arguments, **keywords)
    except TypeError as error:
        raise TypeError(str(error).partition("__init__()")[2][:20]) from None


def _finished(module, **arguments):
    prof = module.profile(**arguments)
    with prof:
        pass
    return prof


# Which an older torch lets pass, or answers without a word.
TOLD_LATER = {
    *(name for name in WRONG if "activity" in name or "before the start" in name),
    "the memory timeline",
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_use_raises_and_warns_what_torch_does(what):
    import torch

    from opscope.torch import features

    if torch.cuda.is_available() and "cuda" in what:
        pytest.skip("compares the words for a machine without CUDA")
    theirs, ours = (raised_by(module, WRONG[what]) for module in both_modules())
    if what in TOLD_LATER and not features.behaves("asserts_with_message"):
        pytest.skip("this torch does not look so early, and says less")
    if what == "an unnamed range":  # a C type says "function missing required argument"
        assert ours[0][0] is theirs[0][0] is TypeError
        return
    assert ours == theirs


def test_arguments_of_our_own_are_checked():
    import opscope.torch

    with pytest.raises(ValueError, match="at_cap must be 'stop' or 'keep_newest', not 'ring'"):
        opscope.torch.profile(at_cap="ring")
    for size in (0, -1, 1 << 63, 0.5, float("nan"), "", "64X", "-1M", "1e3", "M", "0K", "8388608T"):
        with pytest.raises(ValueError, match="max_bytes must be a positive number of bytes"):
            opscope.torch.profile(max_bytes=size)
    with pytest.raises(TypeError, match="max_bytes must be a number of bytes or a text such as '64M', not list"):
        opscope.torch.profile(max_bytes=[])
    with pytest.raises(ValueError, match="metadata 'k' is not valid JSON"):
        opscope.torch.profile().add_metadata_json("k", "{")


@pytest.mark.parametrize(
    ("size", "number"),
    [("64M", 64 << 20), (" 1.5 GiB ", 3 << 29), ("100kb", 100 << 10), ("70000", 70_000), (1e6, 10**6), ("2t", 2 << 40)],
)
def test_sizes_may_have_a_unit(size, number):
    import opscope.torch
    from opscope.torch.autograd_profiler import profile as legacy_profile

    assert opscope.torch.profile(max_bytes=size).max_bytes == number
    assert legacy_profile(max_bytes=size)._profile.max_bytes == number


def test_a_cap_with_a_unit_is_the_cap():
    import torch

    import opscope.torch

    dropped = []
    for size in (256 << 10, "256K"):
        with opscope.torch.profile(max_bytes=size) as prof:
            for _ in range(20_000):
                torch.ones(2)
        dropped.append(prof.trace.info["dropped"])
    assert dropped[0] > 0 and abs(dropped[0] - dropped[1]) < dropped[0] / 10


@pytest.mark.parametrize("name", ["a\0b.opscope", b"a\0b.opscope"])
def test_a_path_with_a_nul_is_refused_and_no_file_is_made(name, tmp_path, monkeypatch):
    import torch

    import opscope
    import opscope.torch

    monkeypatch.chdir(tmp_path)
    with opscope.torch.profile(record_shapes=True, with_stack=True) as prof:
        torch.ones(2)
    for ask in (
        lambda: prof.save(name),
        lambda: prof.export_chrome_trace(name),
        lambda: prof.export_flamegraph(name),
        lambda: prof.export_stacks(name),
        lambda: prof.trace.export(name),
        lambda: prof.events().export_chrome_trace(name),
        lambda: opscope.open(name),
        lambda: opscope.merge([name]),
        lambda: opscope.torch.profile(record_to=name),
        lambda: opscope.torch.profile(dump_to=name),
    ):
        with pytest.raises(ValueError, match="NUL|null byte"):
            ask()
    with opscope.torch.profile(dump_to="x.opscope") as prof, pytest.raises(ValueError, match="NUL"):
        prof.dump(name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("x.json", "export_chrome_trace('x.json')"),
        ("x.JSON.gz", "export_chrome_trace('x.JSON.gz')"),
        ("x.svg", "export_flamegraph('x.svg')"),
        ("x.pftrace", "trace.export('x.pftrace', to='perfetto')"),
        ("x.speedscope.json", "trace.export('x.speedscope.json', to='speedscope')"),
        ("x.folded.zst", "trace.export('x.folded.zst', to='collapsed')"),
        ("x.pb.gz", "trace.export('x.pb.gz', to='pprof')"),
        ("x.csv", "trace.export('x.csv', to='csv')"),
        ("x.html", "report('x.html')"),
        ("x.html.gz", "trace.export('x.html.gz', to='html')"),
    ],
)
@pytest.mark.filterwarnings("ignore::opscope.ExportWarning")
def test_save_refuses_names_of_other_formats_and_names_the_call(name, call, tmp_path, monkeypatch):
    import torch

    import opscope.torch

    monkeypatch.chdir(tmp_path)
    with opscope.torch.profile() as prof:
        torch.ones(2)
    with pytest.raises(ValueError, match=".opscope") as refused:
        prof.save(name)
    assert str(refused.value).endswith(f"call {call}")
    assert list(tmp_path.iterdir()) == []
    eval(f"prof.{call}")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    with pytest.raises(ValueError, match="says another format: call (export|report)") as refused:
        prof.trace.save(name)
    eval(f"prof.trace.{str(refused.value).partition(': call ')[2]}")


def test_arguments_that_torch_cannot_tell_are_a_problem_of_the_trace():
    import torch

    import opscope.torch

    class Mute(torch.Tensor):
        @staticmethod
        def __new__(cls):
            return torch.Tensor._make_wrapper_subclass(cls, (2,), dispatch_sizes_strides_policy="sizes")

        @classmethod
        def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
            if "size" in str(function):
                raise ValueError("no sizes today")
            return torch.ones(2)

    mute = Mute()
    with opscope.torch.profile(record_shapes=True) as prof:
        torch.ops.aten.neg(mute)
    with opscope.torch.profile(record_shapes=True) as following:
        torch.ones(2)
    problems = dict(zip(prof.trace.problems.text("kind"), prof.trace.problems["count"], strict=True))
    assert problems["source_failure"] >= 1
    assert "opscope.source_failures" not in prof.trace.metadata.text("key")
    assert [event.input_shapes for event in prof.events() if event.name == "aten::neg"] == [[]]
    assert len(following.trace.problems) == 0


@pytest.mark.parametrize("at_cap", ["stop", "keep_newest"])
def test_the_cap_holds_and_what_was_dropped_is_counted(at_cap):
    import torch

    import opscope.torch

    one = torch.ones(1)
    with opscope.torch.profile(max_bytes=1 << 20, at_cap=at_cap) as prof:
        for _ in range(200_000):
            one.neg_()
    counts = prof.profiler.counts()
    assert counts["recorded"] + counts["dropped"] == 200_000
    assert counts["dropped"] > 0
    assert len(prof.events()) == counts["recorded"]
    assert "dropped_at_cap" in list(prof.trace.problems.text("kind"))


def test_a_profile_can_be_copied_before_it_records():
    import copy
    import pickle

    import torch

    import opscope.torch

    prof = opscope.torch.profile(record_shapes=True, acc_events=True)
    for made in (copy.deepcopy(prof), pickle.loads(pickle.dumps(prof))):
        assert (made.record_shapes, made.acc_events, made.activities) == (True, True, prof.activities)
        with made:
            torch.ones(2)
        assert len(made.events()) == 3
    assert prof.profiler is None
