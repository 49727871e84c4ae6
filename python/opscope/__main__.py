# SPDX-License-Identifier: Apache-2.0
"""The ``opscope`` command; ``python -m opscope`` is the same."""

import os
import signal
import sys

from opscope import _core


def _host_facts() -> dict:
    from opscope import doctor

    return doctor.host_facts()


def _find_duckdb() -> str:
    from opscope import sql

    return sql.find_duckdb()


def main() -> int:
    """Runs the command line of this process and returns its exit code."""
    # Default signal handlers, as in a native program: Ctrl-C and a closed pipe end it at once. Python's handlers would
    # run only after the engine returns.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    arguments = [os.fsencode(argument) for argument in ["opscope", *sys.argv[1:]]]
    return _core.run_command_line(arguments, _host_facts, _find_duckdb)


if __name__ == "__main__":
    sys.exit(main())
