# SPDX-License-Identifier: Apache-2.0
"""A recording without operators, because a thread pool ran them, says so and names profile_all_threads."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

pytestmark = pytest.mark.framework("torch")


def in_a_pool():
    import torch

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: torch.ones(200, 200).mm(torch.ones(200, 200)), range(20)))


def profiled(work, **options):
    """The profile of the work, and the warnings."""
    import opscope.torch

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with opscope.torch.profile(**options) as prof:
            work()
    return prof, [str(warning.message) for warning in told]


def kinds(prof):
    return list(prof.trace.problems.text("kind"))


def test_an_empty_profile_of_a_pool_says_where_the_operators_are():
    prof, told = profiled(in_a_pool)
    assert len(told) == 1 and "profile_all_threads=True" in told[0]
    assert kinds(prof) == ["operators_elsewhere"]
    table = prof.key_averages().table()
    assert len(table.splitlines()) == 1 and "profile_all_threads" in table
    assert str(prof.events().table()) == table


def test_a_profile_that_has_ranges_alone_says_it_below_them():
    import opscope.torch

    def work():
        with opscope.torch.record_function("the pool"):
            in_a_pool()

    prof, told = profiled(work)
    assert told == []
    assert kinds(prof) == ["operators_elsewhere"]
    table = prof.key_averages().table()
    assert "the pool" in table and "profile_all_threads" in table.splitlines()[-1]


def test_torchs_table_says_nothing_of_it():
    import opscope.torch

    with opscope.torch.compat():
        prof, _ = profiled(in_a_pool)
        assert prof.key_averages().table() == ""


def test_a_profile_that_has_operators_says_nothing():
    import torch

    def work():
        torch.ones(2)
        in_a_pool()

    prof, told = profiled(work)
    assert (told, kinds(prof)) == ([], [])
    assert "profile_all_threads" not in prof.key_averages().table()


def test_an_empty_profile_of_a_program_whose_other_threads_rested_says_nothing(monkeypatch):
    import threading

    from opscope.torch import recording

    monkeypatch.setattr(recording, "_cpu_of_other_threads", lambda: (threading.get_ident(), 5))
    prof, told = profiled(lambda: None)
    assert (told, kinds(prof), prof.key_averages().table()) == ([], [], "")


@pytest.mark.torch_has("_ExperimentalConfig(profile_all_threads)")
def test_a_profile_of_all_threads_has_the_operators():
    import opscope.torch

    config = opscope.torch._ExperimentalConfig(profile_all_threads=True)
    prof, told = profiled(in_a_pool, experimental_config=config)
    assert (told, kinds(prof)) == ([], [])
    assert {row.key: row.count for row in prof.key_averages()}["aten::mm"] == 20
