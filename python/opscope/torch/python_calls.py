# SPDX-License-Identifier: Apache-2.0
"""Calls of Python, C functions and modules beside torch's operators: ``with_stack`` and ``with_modules``."""

from __future__ import annotations

import inspect
import os
import site
import sys
import types

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
        *_module_functions(),
    )


def call_costs(flags: int) -> str:
    """What one call costs, for ``session.add_own_cost``. REQUIRES: no recording of calls runs."""
    wanted = flags & ALL_CALLS

    def start_on_this_thread(session, module_call):
        functions = module_call.__code__, None, (), 0, module_call
        return calls_library().start(session.slot, session.generation, wanted | _ONE_THREAD, (), *functions)

    return measured_call_costs(start_on_this_thread, all_calls=bool(wanted))


def _module_functions() -> tuple:
    """What calls a module, and what that calls by ``*args, **kwargs``; () where torch's have another shape."""
    call, inner = torch.nn.Module.__call__, getattr(torch.nn.Module, "_call_impl", None)
    if not (isinstance(call, types.FunctionType) and isinstance(inner, types.FunctionType)):
        return ()
    hands_on = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    is_known = call.__code__.co_flags & hands_on == hands_on and "_call_impl" in call.__code__.co_names
    return (call, inner) if is_known else ()


def _path_prefixes() -> tuple[str, ...]:
    """Folders that are left out of the names of files, longer ones before those that contain them."""
    folders = [*site.getsitepackages(), *sys.path, site.getuserbase(), site.getusersitepackages()]
    folders.append(os.path.dirname(os.path.dirname(torch.__file__)))
    return tuple(folder + os.sep for folder in sorted({os.path.abspath(folder) for folder in folders}, reverse=True))
