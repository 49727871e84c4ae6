# SPDX-License-Identifier: Apache-2.0
"""Tables to be read: table(style="plain"), and the line about what a recording lacks, in both layouts."""

import re

import pytest

pytestmark = pytest.mark.framework("torch")

LONG = "a range whose name is a good deal longer than the fifty-five columns that torch's table gives it"


def recorded(ops=200, **options):
    import torch

    from opscope.torch import ProfilerActivity, profile, record_function

    value = torch.ones(8, 8)
    with profile(activities=[ProfilerActivity.CPU], **options) as prof:
        with record_function(LONG):
            for _ in range(ops):
                torch.mm(value, value).relu_()
    return prof


@pytest.fixture(scope="module")
def prof():
    return recorded(record_shapes=True, profile_memory=True)


def lines_of(table):
    """Rows between the titles and the total."""
    lines = table.splitlines()
    end = next(i for i, line in enumerate(lines) if line.startswith("Self CPU time total"))
    return lines[1:end]


@pytest.mark.parametrize("row_limit", [-1, 0, 1, 2, 100])
def test_shares_add_up_whatever_is_left_out(prof, row_limit):
    averages = prof.key_averages()
    rows = lines_of(averages.table(sort_by="self_cpu_time_total", row_limit=row_limit, style="plain"))
    assert round(sum(float(row.split()[0]) for row in rows), 2) == 100.0
    left_out = len(averages) - row_limit if 0 <= row_limit < len(averages) else 0
    assert bool(left_out) == any(re.search(rf"\({left_out} more\)$", row) for row in rows)
    assert len(rows) == (min(row_limit, len(averages)) if row_limit >= 0 else len(averages)) + bool(left_out)


def test_names_are_whole_in_the_plain_layout_and_in_torchs_when_asked(prof):
    averages = prof.key_averages()
    assert LONG in averages.table(style="plain")
    assert LONG not in averages.table() and LONG[:52] in averages.table()
    assert LONG in averages.table(max_name_column_width=None)


def test_calls_and_memory_of_all_rows_add_up_to_the_totals(prof):
    averages = prof.key_averages()
    titles, *rows = averages.table(row_limit=1, style="plain").splitlines()
    assert titles.split()[:2] == ["Self", "%"] and titles.endswith("Calls  Name")
    calls = sum(int(re.search(r"(\d+)  [a-zP(].*$", row).group(1)) for row in lines_of("\n".join([titles, *rows])))
    assert calls == sum(row.count for row in averages)


def test_rows_come_in_the_order_that_is_asked(prof):
    for key in ("self_cpu_time_total", "count", "cpu_time_total", "self_cpu_memory_usage", "self_cuda_time_total"):
        averages = prof.key_averages()
        attribute = key.replace("cuda", "device")
        expected = [row.key for row in sorted(averages, key=lambda row: getattr(row, attribute), reverse=True)]
        rows = lines_of(averages.table(sort_by=key, style="plain"))
        assert all(row.endswith(name) for row, name in zip(rows, expected, strict=True)), key
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        prof.key_averages().table(sort_by="nothing", style="plain")
    with pytest.raises(ValueError, match="style must be 'torch' or 'plain', not 'fancy'"):
        prof.key_averages().table(style="fancy")


def test_shapes_and_stacks_have_columns_in_the_plain_layout(prof):
    table = prof.key_averages(group_by_input_shape=True).table(style="plain")
    assert table.splitlines()[0].endswith("Name" + " " * (len(LONG) - 2) + "Input shapes")
    assert "[[8, 8], [8, 8]]" in table
    from opscope.torch import _ExperimentalConfig

    verbose = _ExperimentalConfig(verbose=True)
    stacked = recorded(ops=2, with_stack=True, experimental_config=verbose).key_averages(group_by_stack_n=2)
    titles = stacked.table(style="plain").splitlines()[0]
    assert titles.endswith("Called from")


def test_a_whole_recording_has_no_line_about_loss(prof):
    for style in ("torch", "plain"):
        assert "Incomplete" not in prof.key_averages().table(style=style)


@pytest.mark.parametrize("style", ["torch", "plain"])
def test_what_was_dropped_is_said_below_the_table(style):
    from opscope.torch import compat

    prof = recorded(ops=5000, max_bytes=1 << 17)
    info = prof.trace.info
    assert info["dropped"] > 0
    said = (
        f"Incomplete: {info['dropped']:,} of {info['recorded'] + info['dropped']:,} events were dropped at the cap "
        "of memory (max_bytes)"
    )
    for rows in (prof.key_averages(), prof.events(), prof.key_averages(corrected=True)):
        assert rows.table(style=style, row_limit=3).splitlines().count(said) == 1
    with compat():
        assert "Incomplete" not in prof.key_averages().table(style=style)
