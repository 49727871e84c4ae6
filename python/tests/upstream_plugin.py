# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin for the originals' own profiler tests: opscope in the profiler's place before they are imported.

OPSCOPE_UPSTREAM_SIDE=opscope python -m pytest -p upstream_plugin --junitxml=FILE test_profiler.py
"""

import os
import sys


def pytest_configure(config):
    if os.environ.get("OPSCOPE_UPSTREAM_SIDE") != "opscope":
        return
    replace = {"torch": _replace_torchs, "paddle": _replace_paddles, "megengine": _replace_megengines}
    replace[os.environ.get("OPSCOPE_UPSTREAM_FRAMEWORK", "torch")]()


def _replace_megengines():
    import megengine.jit
    import megengine.utils.profiler

    import opscope.megengine.jit
    import opscope.megengine.profiler

    megengine.utils.profiler = sys.modules["megengine.utils.profiler"] = opscope.megengine.profiler
    megengine.jit.trace = megengine.jit.tracing.trace = opscope.megengine.trace


def _replace_paddles():
    import paddle.profiler

    import opscope.paddle

    for name in ("profiler", "utils", "profiler_statistic", "timer"):
        sys.modules[f"paddle.profiler.{name}"] = getattr(opscope.paddle, name)
    paddle.profiler = sys.modules["paddle.profiler"] = opscope.paddle


def _replace_torchs():
    import torch.autograd.profiler
    import torch.profiler

    import opscope.torch
    from opscope.torch import autograd_profiler

    opscope.torch.patch()
    # patch() leaves what torch uses itself; tests ask for these by name.
    torch.autograd.profiler.record_function = autograd_profiler.record_function
    torch.autograd.profiler.EventList = autograd_profiler.EventList
    torch.autograd.profiler.FunctionEvent = autograd_profiler.FunctionEvent
