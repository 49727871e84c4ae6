# SPDX-License-Identifier: Apache-2.0
"""``python -m opscope.megengine.tools.profiler``: the same as ``python -m opscope.megengine.profiler``."""

from ..runner import main

if __name__ == "__main__":
    main()
