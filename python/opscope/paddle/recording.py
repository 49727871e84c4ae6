# SPDX-License-Identifier: Apache-2.0
"""A period of recording: Paddle's events and, through CUPTI, GPU activity, with Paddle's names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import paddle
from paddle.profiler import ProfilerTarget

from .. import _core
from ..frontend import recording
from ..frontend.metadata import process_metadata
from ..frontend.session import Session


def paddle_metadata(options: Mapping[str, object]) -> dict[str, str]:
    """``process_metadata`` of a program with Paddle."""
    cuda = paddle.version.cuda()  # "False": built without
    return process_metadata(paddle, options, None if cuda == "False" else cuda)


class Recording(recording.Recording):
    """Records the targets of a Profiler."""

    def __init__(
        self,
        session: Session,
        targets: Iterable[ProfilerTarget],
        source: _core.paddle.PaddleSource,
        flags: list[str],
        **options,
    ) -> None:
        """``flags``: for the Paddle source. ``options``: those of ``_core.Session.prepare``."""
        super().__init__(
            session,
            native_threads="attached",
            sources=[(source, flags)] if ProfilerTarget.CPU in targets else [],
            cuda_flags=[] if ProfilerTarget.GPU in targets else None,
            **options,
        )
        self.add_metadata("opscope.paddle_devices", "1")  # kPaddleDevicesKey of include/opscope/window_facts.h

    def _synchronize_device(self) -> None:
        if paddle.is_compiled_with_cuda() and paddle.device.get_device().startswith("gpu"):
            paddle.device.synchronize()
