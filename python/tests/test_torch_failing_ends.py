# SPDX-License-Identifier: Apache-2.0
"""A window ends whatever fails at its end: the exception goes to the program, and nothing stays switched on."""

import warnings

import pytest

pytestmark = pytest.mark.framework("torch")


class Observer:
    """An execution trace observer that fails."""

    def start(self):
        pass

    def stop(self):
        raise KeyError("observer")

    def cleanup(self):
        pass


def assert_ended(prof):
    import torch

    assert not prof.profiler.is_running
    assert prof.profiler.is_finished
    assert not torch.autograd.profiler._is_profiler_enabled
    assert [row.key for row in prof.key_averages()] == ["aten::ones", "aten::empty", "aten::fill_"]


def test_an_observer_that_fails_at_the_end():
    import torch

    import opscope.torch

    prof = opscope.torch.profile(execution_trace_observer=Observer())
    with pytest.raises(KeyError, match="observer"), prof:
        torch.ones(2)
    assert_ended(prof)


def test_facts_that_fail_at_the_end(monkeypatch):
    import torch

    import opscope.torch
    from opscope.torch import recording

    def fail(*_):
        raise RuntimeError("facts")

    prof = opscope.torch.profile()
    with pytest.raises(RuntimeError, match="facts"), prof:
        torch.ones(2)
        monkeypatch.setattr(recording.Recording, "_add_facts_of_end", fail)
    assert_ended(prof)


def test_warnings_that_are_errors_at_the_end(tmp_path):
    """The dump of an exception fails, which is a warning, and that is an error."""
    import torch

    import opscope.torch

    prof = opscope.torch.profile(dump_to=tmp_path / "no folder" / "x.opscope", dump_on_exception=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="dump"), prof:
            torch.ones(2)
            raise ValueError
    assert_ended(prof)


def test_a_session_that_fails_at_the_end(monkeypatch):
    import torch

    import opscope.torch

    def fail():
        raise UserWarning("a dump was not written")

    prof = opscope.torch.profile()
    with pytest.raises(UserWarning, match="not written"), prof:
        torch.ones(2)
        monkeypatch.setattr(prof._session, "_warn", fail)
    assert_ended(prof)
