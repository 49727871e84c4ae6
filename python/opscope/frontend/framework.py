# SPDX-License-Identifier: Apache-2.0
"""The framework that a front end stands beside."""

from __future__ import annotations

import importlib


def require(name: str, otherwise: str) -> None:
    """Imports it; ModuleNotFoundError with this sentence where it is not installed."""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise  # it is there and misses something
        raise ModuleNotFoundError(otherwise, name=name) from None
