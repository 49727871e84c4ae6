# SPDX-License-Identifier: Apache-2.0
"""The programs of ``megengine.tools`` that are about profiles: ``python -m opscope.megengine.tools.NAME``."""
