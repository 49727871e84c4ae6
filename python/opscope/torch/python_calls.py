# SPDX-License-Identifier: Apache-2.0
"""Calls of Python, C functions and modules beside torch's operators: ``with_stack`` and ``with_modules``."""

from __future__ import annotations

import os
import site
import sys

import torch

from ..adapters.python_calls import calls_library
from ..frontend.call_costs import measured_call_costs

# call_flags of src/sources/python/thread_calls.h.
ALL_CALLS, GARBAGE, _ONE_THREAD = 1, 2, 4


def start_calls(session, flags: int, *, hold: int = 0):
    """Records into the running session, until the returned object's stop() or end.

    ``hold``: TorchSource.hold, where somebody wants to know which tensors modules and optimizers hold.
    """
    return calls_library().start(
        session.slot,
        session.generation,
        flags,
        _path_prefixes(),
        torch.nn.Module.__call__.__code__,
        torch.optim.Optimizer._optimizer_step_code.__code__,
        (torch.Tensor, torch.nn.Parameter),
        hold,
    )


def call_costs() -> str:
    """What one call costs, for ``session.add_own_cost``. REQUIRES: no recording of calls runs."""
    return measured_call_costs(_start_on_this_thread)


def _start_on_this_thread(session, module_code):
    flags = ALL_CALLS | _ONE_THREAD
    return calls_library().start(session.slot, session.generation, flags, (), module_code, None, (), 0)


def _path_prefixes() -> tuple[str, ...]:
    """Folders that are left out of the names of files, longer ones before those that contain them."""
    folders = [*site.getsitepackages(), *sys.path, site.getuserbase(), site.getusersitepackages()]
    folders.append(os.path.dirname(os.path.dirname(torch.__file__)))
    return tuple(folder + os.sep for folder in sorted({os.path.abspath(folder) for folder in folders}, reverse=True))
