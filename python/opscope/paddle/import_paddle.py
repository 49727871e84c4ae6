# SPDX-License-Identifier: Apache-2.0
"""Imports Paddle, or says what to do where it is not installed."""

from ..frontend.framework import require

require(
    "paddle",
    "opscope.paddle records PaddlePaddle, and the package paddle is not installed here: "
    "`pip install paddlepaddle`, or paddlepaddle-gpu",
)
