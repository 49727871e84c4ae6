# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin for PyTorch's own profiler tests: opscope in the place of torch.profiler before they are imported.

OPSCOPE_UPSTREAM_SIDE=opscope python -m pytest -p upstream_plugin --junitxml=FILE test_profiler.py
"""

import os


def pytest_configure(config):
    if os.environ.get("OPSCOPE_UPSTREAM_SIDE") != "opscope":
        return
    import torch.autograd.profiler
    import torch.profiler

    import opscope.torch
    from opscope.torch import autograd_profiler

    opscope.torch.patch()
    # patch() leaves what torch uses itself; tests ask for these by name.
    torch.autograd.profiler.record_function = autograd_profiler.record_function
    torch.autograd.profiler.EventList = autograd_profiler.EventList
    torch.autograd.profiler.FunctionEvent = autograd_profiler.FunctionEvent
