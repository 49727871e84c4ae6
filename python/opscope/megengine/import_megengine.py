# SPDX-License-Identifier: Apache-2.0
"""Imports MegEngine, or says what to do where it is not installed."""

from ..frontend.framework import require

require(
    "megengine",
    "opscope.megengine records MegEngine, and the package megengine is not installed here: on a Python up to 3.10 "
    "`pip install megengine 'numpy<2' 'opencv-python<4.12'`",
)
