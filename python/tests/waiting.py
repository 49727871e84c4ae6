# SPDX-License-Identifier: Apache-2.0
"""Waits in a test for something that another thread or process does."""

import time


def wait_for(condition, failure="it did not happen in time", limit_s=60):
    """The first true value that `condition()` returns; AssertionError with `failure` after `limit_s`."""
    end = time.monotonic() + limit_s
    while not (found := condition()):
        assert time.monotonic() < end, failure
        time.sleep(0.005)
    return found
