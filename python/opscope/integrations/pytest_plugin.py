# SPDX-License-Identifier: Apache-2.0
"""The plug-in of pytest: ``pytest --opscope`` records tests and compares them with stored baselines.

pytest imports this module in every run, wherever opscope is installed. It imports neither the engine nor a framework;
the hooks that a test passes through are registered under ``--opscope`` alone.
"""

from __future__ import annotations

import pytest

_MARKER = (
    "opscope(max={}, min={}, max_increase={}, max_decrease={}, shapes=False, memory=False, stack=False, "
    "framework=None): with --opscope the call of the test is recorded, and its metrics are compared with these limits"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("opscope", "recording tests with opscope")
    group.addoption(
        "--opscope",
        action="store_true",
        help="record tests that are marked `opscope` or use opscope_profile, and fail those that cross their limits",
    )
    group.addoption(
        "--opscope-update",
        action="store_true",
        help="as --opscope, and store the recordings as the baselines of later runs",
    )
    group.addoption(
        "--opscope-baselines",
        metavar="DIR",
        help="folder of the baselines (default: .opscope-baselines in the rootdir); write it with =",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)
    if _is_on(config):
        try:
            from opscope.integrations.pytest_recorder import Recorder
        except (AttributeError, TypeError) as error:  # pytest.StashKey, pytest.hookimpl(wrapper=True)
            raise pytest.UsageError("--opscope needs pytest 7.0 and pluggy 1.2, or newer") from error
        config.pluginmanager.register(Recorder(config), "opscope-test-recorder")


@pytest.fixture
def opscope_profile(request: pytest.FixtureRequest):
    """Records a part of the test: ``with opscope_profile(memory=True):``. Without ``--opscope`` it records nothing.

    ``step()`` ends a step, ``trace`` has what was recorded (None without ``--opscope``), ``profiler`` is the front
    end's profile. A test that uses this fixture is recorded in that block alone, any other marked test as a whole.
    """
    from opscope.integrations.pytest_fixture import RecordedTest

    recorded = RecordedTest(_is_on(request.config))
    if _is_on(request.config):
        from opscope.integrations.pytest_recorder import RECORDED

        request.node.stash[RECORDED] = recorded
    return recorded


def _is_on(config: pytest.Config) -> bool:
    return config.getoption("opscope") or config.getoption("opscope_update")
