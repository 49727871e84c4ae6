# SPDX-License-Identifier: Apache-2.0
"""Imports a program of tools/ that has no ending in its name."""

import importlib.machinery
import importlib.util
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"


def load_tool(name):
    """The program as a module. Without the folder, the tests of the calling module are skipped."""
    path = TOOLS / name
    if not path.exists():
        pytest.skip("the tools are not here", allow_module_level=True)
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module
