# SPDX-License-Identifier: Apache-2.0
"""Recording of Python calls, C calls and modules beside torch's operators: ``with_stack`` and ``with_modules``."""

from __future__ import annotations

import inspect
import os
import site
import sys
import types

import torch

from .. import _core
from ..adapters.python_calls import calls_library
from ..frontend.call_costs import measured_call_costs


def calls_source(*, all_calls: bool, hold: int = 0) -> _core.Source:
    """The source of Python calls, which knows torch's modules and optimizers, and the cost of its events on this
    machine.

    ``all_calls``: record all calls, not modules alone. ``hold``: TorchSource.hold, to record the tensors of modules and
    optimizers. The first call measures the costs with a recording of its own.
    """
    library = calls_library()
    library.report_overhead(measured_call_costs(_source_of_modules, all_calls=all_calls), all_calls)
    module_call, module_inner = _module_functions()
    return _core.source_of(
        library.source(
            path_prefixes=_path_prefixes(),
            module_code=torch.nn.Module.__call__.__code__,
            optimizer_code=torch.optim.Optimizer._optimizer_step_code.__code__,
            tensor_types=(torch.Tensor, torch.nn.Parameter),
            hold=hold,
            module_call=module_call,
            module_inner=module_inner,
            method_owner=getattr(torch._C, "TensorBase", None) or getattr(torch._C, "_TensorBase", None),
        )
    )


def _source_of_modules(module_call) -> _core.Source:
    library = calls_library()
    return _core.source_of(library.source(module_code=module_call.__code__, module_call=module_call))


def _module_functions() -> tuple:
    """The function that calls modules, and the one that it calls with ``*args, **kwargs``; None if torch's code
    differs.
    """
    call, inner = torch.nn.Module.__call__, getattr(torch.nn.Module, "_call_impl", None)
    if not (isinstance(call, types.FunctionType) and isinstance(inner, types.FunctionType)):
        return None, None
    hands_on = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    is_known = call.__code__.co_flags & hands_on == hands_on and "_call_impl" in call.__code__.co_names
    return (call, inner) if is_known else (None, None)


def _path_prefixes() -> tuple[str, ...]:
    """Folders that are removed from file names, longer ones before those that contain them."""
    folders = [*site.getsitepackages(), *sys.path, site.getuserbase(), site.getusersitepackages()]
    folders.append(os.path.dirname(os.path.dirname(torch.__file__)))
    return tuple(folder + os.sep for folder in sorted({os.path.abspath(folder) for folder in folders}, reverse=True))
