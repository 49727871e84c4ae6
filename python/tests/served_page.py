# SPDX-License-Identifier: Apache-2.0
"""The page of ``opscope view`` in Chromium, driven by a script of web/tests."""

import contextlib
import json
import subprocess

from test_report_page import NODE, WEB, chromium, need_browser
from test_view import Server


@contextlib.contextmanager
def served_page(script, *files):
    """The JSON that the script prints about the page of these files, and the server, which ends with the block."""
    need_browser()
    server = Server(*files)
    try:
        command = [NODE, WEB / "tests" / script, chromium(), server.address]
        done = subprocess.run(command, capture_output=True, timeout=200, check=False)
        assert done.returncode == 0, done.stderr.decode()
        yield json.loads(done.stdout), server
    finally:
        server.process.kill()
        server.process.communicate()
