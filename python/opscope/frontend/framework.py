# SPDX-License-Identifier: Apache-2.0
"""Imports the framework of a front end."""

from __future__ import annotations

import importlib


def require(name: str, otherwise: str) -> None:
    """Imports a module; ModuleNotFoundError with the text `otherwise` if it is not installed."""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise  # it is installed, and one of its own imports failed
        raise ModuleNotFoundError(otherwise, name=name) from None
