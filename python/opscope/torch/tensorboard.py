# SPDX-License-Identifier: Apache-2.0
"""``SummaryWriter`` under the name ``torch.profiler.tensorboard``, which older documents use.

torch has it in ``torch.utils.tensorboard``; it needs the package tensorboard, so it is imported at the first access.
Recordings come to TensorBoard by ``tensorboard_trace_handler``.
"""

from __future__ import annotations

__all__ = ["SummaryWriter"]  # noqa: F822 - by __getattr__


def __getattr__(name: str):
    if name != "SummaryWriter":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "SummaryWriter is torch.utils.tensorboard.SummaryWriter and needs the package tensorboard "
            "(`pip install tensorboard`); recordings come to TensorBoard by "
            "opscope.torch.tensorboard_trace_handler and torch-tb-profiler, without it",
            name=error.name,
        ) from error
    return SummaryWriter
