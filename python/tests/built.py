# SPDX-License-Identifier: Apache-2.0
"""Where the build's own libraries for tests lie, whichever opscope is tested: that of the build or an installed one."""

from pathlib import Path

from opscope import _core


def built(name: str) -> Path:
    """The file `name` of the build that `_core` is of, or else of this tree's."""
    of_core = Path(_core.__file__).resolve().parents[2] / name
    return of_core if of_core.exists() else Path(__file__).resolve().parents[2] / "build/dev" / name
