# SPDX-License-Identifier: Apache-2.0
"""Importing this lets a test import the programs of examples/."""

import pathlib
import sys

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
if str(EXAMPLES) not in sys.path:
    sys.path.insert(0, str(EXAMPLES))
