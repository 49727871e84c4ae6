# SPDX-License-Identifier: Apache-2.0
"""The ``opscope`` command; ``python -m opscope`` is the same."""

import os
import sys

from opscope import _core
from opscope.default_signals import use_default_signals


class Host:
    """Functions that the engine, which runs the command, calls. Each one imports what it needs."""

    def host_facts(self) -> dict:
        """For ``doctor``."""
        from opscope import doctor

        return doctor.host_facts()

    def find_duckdb(self) -> str:
        """For verbs that use SQL: the file of DuckDB; "": it is not installed."""
        from opscope import sql

        return sql.find_duckdb()

    def find_launcher(self) -> tuple[str, str]:
        """For ``run``: the folder of sitecustomize.py, and the folder that contains the package nanobind_backend."""
        _forget_coerced_locale()
        backend = sys.modules["nanobind_backend"]  # the engine has imported it
        launch = os.path.join(os.path.dirname(os.path.abspath(__file__)), "launch", "site")
        return launch, os.path.dirname(os.path.dirname(os.path.abspath(backend.__file__)))

    def open_spark(self, job: str, master: str):
        """For ``--engine spark``: an engine as ``_core.job_answer`` takes it."""
        from opscope import spark

        return spark.open_engine(job, master)

    def serve_mcp(self, files: list[str]) -> int:
        """For ``mcp``: serves until the input ends, and returns the exit code."""
        from opscope.integrations import mcp_server

        return mcp_server.serve(files)


def _forget_coerced_locale() -> None:
    """Removes the LC_CTYPE that Python itself has set in the C locale (PEP 538), which the command must not see."""
    try:
        with open("/proc/self/environ", "rb") as file:
            was_set = any(entry.startswith(b"LC_CTYPE=") for entry in file.read().split(b"\0"))
    except OSError:
        return
    if not was_set:
        os.environ.pop("LC_CTYPE", None)


def main() -> int:
    """Runs the command line of this process and returns its exit code."""
    use_default_signals()
    arguments = [os.fsencode(argument) for argument in ["opscope", *sys.argv[1:]]]
    return _core.run_command_line(arguments, Host())


if __name__ == "__main__":
    sys.exit(main())
