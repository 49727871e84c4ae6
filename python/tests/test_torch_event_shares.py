# SPDX-License-Identifier: Apache-2.0
"""The shares of the total time that a table leaves in the events it prints, beside torch's."""

import random

import pytest

pytestmark = pytest.mark.framework("torch")

SHARES = ("self_cpu_percent", "total_cpu_percent", "total_device_percent")
NONE = "not set"


def made(seed, event_list, event_of):
    from torch.autograd import DeviceType

    chance = random.Random(seed)
    use_device = chance.choice([None, "cuda"])
    events = []
    for number in range(chance.randrange(1, 8)):
        start = chance.randrange(4)
        events.append(
            event_of(
                id=number,
                name=chance.choice("abc"),
                thread=chance.choice([1, 1, 2]),
                start_us=float(start),
                end_us=float(start + chance.choice([1, 2, 5, 100])),
                device_type=chance.choice([DeviceType.CPU] * 4 + [DeviceType.CUDA]),
                use_device=use_device,
                is_async=chance.random() < 0.1,
                is_user_annotation=chance.random() < 0.2,
                stack=[],
                input_shapes=[],
                fwd_thread=0,
                overload_name="",
            )
        )
    made = event_list(events, use_device=use_device)
    made._build_tree()
    return made


@pytest.mark.torch_has("FunctionEvent.overload_name")
@pytest.mark.parametrize("arguments", [{}, {"row_limit": 2}, {"top_level_events_only": True}, {"sort_by": "count"}])
def test_a_table_leaves_torchs_shares(arguments):
    import torch.autograd.profiler_util as theirs

    import opscope.torch as ours

    def outcome(module, seed, averages):
        rows = made(seed, module.EventList, module.FunctionEvent)
        rows = rows.key_averages() if averages else rows
        try:
            rows.table(**arguments)
        except AssertionError as error:  # times without a total
            return str(error).partition("but got")[0]
        return [[getattr(row, name, NONE) for name in SHARES] for row in rows]

    for seed in range(60):
        for averages in (False, True):
            assert outcome(ours, seed, averages) == outcome(theirs, seed, averages), (seed, averages)


def test_averages_of_a_recording_have_them():
    import torch

    import opscope.torch

    with opscope.torch.profile() as prof:
        torch.ones(2)
    averages = prof.key_averages()
    averages.table(row_limit=1)
    assert averages[0].self_cpu_percent.endswith("%")
    assert averages[0].total_cpu_percent.endswith("%")
    assert not hasattr(averages[1], "self_cpu_percent")
