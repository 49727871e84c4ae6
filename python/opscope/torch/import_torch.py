# SPDX-License-Identifier: Apache-2.0
"""Imports torch, or says what to do where it is not installed."""

from ..frontend.framework import require

require(
    "torch",
    "opscope.torch records PyTorch, and the package torch is not installed here: `pip install torch`, then "
    "install opscope again in that environment (`pip install --no-build-isolation .`) so that it finds it",
)
