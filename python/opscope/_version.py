# SPDX-License-Identifier: Apache-2.0
"""Version of the package: the one that its C++ engine was built with."""

from opscope._core import __version__

__all__ = ["__version__"]
