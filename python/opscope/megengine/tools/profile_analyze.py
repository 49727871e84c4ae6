# SPDX-License-Identifier: Apache-2.0
"""``python -m opscope.megengine.tools.profile_analyze``: opscope.megengine.profile_analyze under MegEngine's name."""

import runpy
import sys

if __name__ == "__main__":
    runpy.run_module("opscope.megengine.profile_analyze", run_name="__main__", alter_sys=True)
else:
    from opscope.megengine import profile_analyze

    sys.modules[__name__] = profile_analyze  # one module under two names
