# SPDX-License-Identifier: Apache-2.0
"""The profiling programs of ``megengine.tools``: ``python -m opscope.megengine.tools.NAME``."""
