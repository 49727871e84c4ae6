# SPDX-License-Identifier: Apache-2.0
"""What torch's Python layer does for a profiler only: fast ranges, and numbers among a custom function's arguments."""

import threading

import pytest
from torch_oracle import both_modules

pytestmark = pytest.mark.framework("torch")

KEYWORDS = {"stream": 3, "grid": "(1, 1)", "names": ["a", "b"]}


def fast(*arguments):
    import torch

    return torch._C._profiler._RecordFunctionFast(*arguments)


def ranges_of(module, **options):
    import torch

    x = torch.ones(2, 3)
    kept = fast("kept", [x, "text"], KEYWORDS)
    with module.profile(activities=[module.ProfilerActivity.CPU], **options) as prof:
        for _ in range(2):
            with kept, fast("inner"):
                x.neg()
        with pytest.raises(ValueError), fast("left", (x,)):
            raise ValueError
        with fast("user", [], {"scope": "user_scope"}):
            pass
    return prof


@pytest.mark.torch_has("FunctionEvent.kwinputs")
@pytest.mark.parametrize("options", [{}, {"record_shapes": True}], ids=["plain", "shapes"])
def test_fast_ranges_are_torchs(options):
    from opscope.torch import features

    seen = []
    for module in both_modules():
        events = ranges_of(module, **options).events()
        seen.append([(e.name, e.input_shapes, e.kwinputs, e.is_user_annotation) for e in events])
    if not features.behaves("keeps_string_lists"):  # they are NULL there
        for row in seen[0] + seen[1]:
            row[2].pop("names", None)
    assert seen[1] == seen[0]
    assert [row[0] for row in seen[1]].count("kept") == 2
    if options and features.behaves("keeps_string_lists"):
        assert ("kept", [[2, 3], []], KEYWORDS, False) in seen[1]


def test_fast_ranges_end_with_the_recording():
    _, ours = both_modules()
    for _ in range(3):
        prof = ranges_of(ours)
        with fast("outside"):
            pass
        assert "outside" not in {e.name for e in prof.events()}


@pytest.mark.torch_has("FunctionEvent.kwinputs", "_ExperimentalConfig(profile_all_threads)")
def test_a_thread_that_is_not_recorded_has_no_fast_ranges():
    import torch

    _, ours = both_modules()
    inside, over = threading.Event(), threading.Event()
    errors = []

    def other():
        try:
            with fast("elsewhere"):
                inside.set()
                assert over.wait(60)
                torch.ones(1)
        except BaseException as error:  # noqa: BLE001 - told to the test
            errors.append(error)

    thread = threading.Thread(target=other)
    thread.start()
    assert inside.wait(60)
    # It is in its range when these begin, and leaves it while the second, of all threads, runs.
    with ours.profile():
        pass
    config = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
    with ours.profile(experimental_config=config) as prof:
        over.set()
        thread.join()
    assert errors == []
    assert "elsewhere" not in {e.name for e in prof.events()}


def test_fast_ranges_are_recorded_by_both_profilers_at_once():
    theirs, ours = both_modules()
    with theirs.profile(record_shapes=True) as outer, ours.profile() as inner, fast("shared", [1.5]):
        pass
    for prof in (outer, inner):
        assert [e.name for e in prof.events()].count("shared") == 1


def test_numbers_among_the_arguments_of_a_custom_function_have_a_place():
    import torch

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, scale, y):
            return x + y * scale

    x, y = torch.ones(2, 3), torch.ones(3)
    shapes = []
    for module in both_modules():
        with module.profile(record_shapes=True) as prof:
            Scaled.apply(x, 2.0, y)
        shapes.append([e.input_shapes for e in prof.events() if e.name == "Scaled"])
    assert shapes == [[[[2, 3], [], [3]]]] * 2
