# SPDX-License-Identifier: Apache-2.0
"""Imports torch, or says what to do where it is not installed."""

try:
    import torch  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise  # torch is there and misses something
    raise ModuleNotFoundError(
        "opscope.torch records PyTorch, and the package torch is not installed here: `pip install torch`, then "
        "install opscope again in that environment (`pip install --no-build-isolation .`) so that it finds it",
        name="torch",
    ) from None
