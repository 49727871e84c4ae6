# SPDX-License-Identifier: Apache-2.0
"""What a front end does at its import so that ``opscope record`` can record the process.

With ``OPSCOPE_CONTROL`` set it starts the part that waits for requests, opscope.launch. Without the variable nothing is
imported and nothing exists.
"""

from __future__ import annotations

import importlib
import os

from ..user_warning import warn_user


def wait_for_requests(framework: str) -> None:
    """Called when the front end of a framework is complete. Warns if the folder cannot be used."""
    if not os.environ.get("OPSCOPE_CONTROL"):
        return
    try:
        # By its name: that part stands above the front ends and imports them.
        importlib.import_module("opscope.launch.process").front_end_is_imported(framework)
    except Exception as error:
        warn_user(f"OPSCOPE_CONTROL: the process cannot be recorded on demand: {error}")
