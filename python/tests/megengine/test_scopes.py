# SPDX-License-Identifier: Apache-2.0
"""Scopes: of the program, of modules and functions on request, and after exceptions."""

import megengine.functional as F
import megengine.module as M
import pytest
from conftest import Timeline
from megengine.core._imperative_rt import core2

from opscope.megengine import Profiler, scope


@pytest.fixture
def timeline(tmp_path):
    """Of what a function does."""

    def timeline_of(work, **options):
        profiler = Profiler(str(tmp_path), **options)
        with profiler:
            work()
        profiler.dump()
        return Timeline(profiler.path)

    return timeline_of


def test_a_scope_stands_on_the_tracks_of_interpreter_and_worker(timeline, tensor):
    def work():
        with scope("outer"):
            F.add(tensor, tensor)

    made = timeline(work)
    assert made.begins("interpreter")["outer"] == made.begins("worker")["outer"] == 1
    assert made.ends("outer") == 2


def test_scopes_are_closed_when_an_exception_leaves_them(timeline, tensor):
    def work():
        with pytest.raises(KeyError), scope("outer"), scope("inner"):
            raise KeyError
        with scope("next"):
            F.add(tensor, tensor)

    made = timeline(work)
    assert [made.begins()[name] for name in ("outer", "inner", "next")] == [2, 2, 2]
    assert [made.ends(name) for name in ("outer", "inner", "next")] == [2, 2, 2]


class Net(M.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = M.Linear(2, 3), M.Sequential(M.Linear(3, 2), M.ReLU())

    def forward(self, data):
        return self.second(self.first(data)).reshape(-1)


@pytest.fixture
def net():
    return Net()


def test_with_scopes_shows_modules_functions_and_methods(timeline, tensor, net):
    begins = timeline(lambda: net(tensor), with_scopes=True).begins("interpreter")
    assert (begins["Linear"], begins["ReLU"], begins["linear"], begins["relu"]) == (2, 1, 2, 1)
    assert begins["tensor.reshape"] == 1
    assert (begins["first"], begins["second"]) == (1, 1)  # MegEngine's own, by the attributes' names
    assert begins["Net"] == 0  # a class of the program


def test_without_it_modules_are_known_by_their_names_alone(timeline, tensor, net):
    begins = timeline(lambda: net(tensor)).begins("interpreter")
    assert (begins["first"], begins["Linear"], begins["linear"]) == (1, 0, 0)


def test_everything_is_as_it_was_after_a_block_with_scopes(tensor, net):
    before = F.add, M.Module.__call__, type(tensor).__add__
    profiler = Profiler(with_scopes=True)
    with pytest.raises(KeyError), profiler:
        assert M.Module.__call__ is not before[1]
        raise KeyError
    assert (F.add, M.Module.__call__, type(tensor).__add__) == before
    profiler._forget_results()


def test_an_exception_in_a_wrapped_function_leaves_no_scope_open(tensor, net):
    profiler = Profiler(with_scopes=True)
    with profiler, scope("outer"):
        with pytest.raises((RuntimeError, AssertionError, TypeError)):
            F.concat([tensor, None])
        core2.push_scope("probe")
        core2.pop_scope("probe")
    profiler._forget_results()


def test_text_of_any_kind_is_a_scope(timeline, tensor):
    name = 'a<b>&"q"\\ \n 中文'

    def work():
        with scope(name):
            F.add(tensor, tensor)

    assert timeline(work).begins("worker")[name] == 1
