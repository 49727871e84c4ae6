# SPDX-License-Identifier: Apache-2.0
"""Imports Paddle, or says what to do where it is not installed."""

try:
    import paddle  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "paddle":
        raise  # Paddle is there and misses something
    raise ModuleNotFoundError(
        "opscope.paddle records PaddlePaddle, and the package paddle is not installed here: "
        "`pip install paddlepaddle`, or paddlepaddle-gpu",
        name="paddle",
    ) from None
