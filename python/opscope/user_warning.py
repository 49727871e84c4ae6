# SPDX-License-Identifier: Apache-2.0
"""Warnings that point at the line of the program which led to them, however deep in the package they arise."""

from __future__ import annotations

import contextlib
import sys
import warnings
from pathlib import Path

from .log import is_quiet

_PACKAGE = str(Path(__file__).parent) + "/"


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """`warnings.warn`, attributed to the innermost line that is neither the package's nor in a ``with`` statement's
    stack.
    """
    if is_quiet():
        return
    level = 1
    frame = sys._getframe()
    while frame.f_back is not None and _is_between(frame.f_code.co_filename):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


def _is_between(file: str) -> bool:
    return file.startswith(_PACKAGE) or file == contextlib.__file__
