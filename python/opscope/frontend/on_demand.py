# SPDX-License-Identifier: Apache-2.0
"""Makes the process recordable by ``opscope record`` when a front end is imported.

With ``OPSCOPE_CONTROL`` set, opscope.launch starts to wait for requests. Without the variable nothing is imported.
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
        # Imported by its name, because opscope.launch is a layer above the front ends and imports them.
        importlib.import_module("opscope.launch.process").front_end_is_imported(framework)
    except Exception as error:
        warn_user(f"OPSCOPE_CONTROL: the process cannot be recorded on demand: {error}")
