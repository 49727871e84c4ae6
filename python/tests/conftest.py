# SPDX-License-Identifier: Apache-2.0
"""What all tests share: the rule for absent frameworks, and small traces.

A test that needs a framework says ``pytestmark = pytest.mark.framework("torch")`` and imports it inside
the test. Where the framework is absent the test is skipped with that reason, unless
``OPSCOPE_REQUIRE_FRAMEWORKS`` names it: then the skip is a failure.

A test about an argument, a method or an attribute that not every torch has says so, by its name in the table of
opscope.torch.features: ``@pytest.mark.torch_has("FunctionEvent.flow_id")``; what no name tells by a behaviour of that
table, ``@pytest.mark.torch_does("asserts_with_message")``. With a torch that lacks it the test is skipped.

Tests run side by side, a file on one process (``pytest -n 2 --dist loadfile -m "not measures"``); one that compares
times says ``@pytest.mark.measures`` and runs alone afterwards (``pytest -m measures``).
"""

import importlib.util
import json
import os
import shutil

import pytest


def is_installed(name):
    """A package, or Java. A folder of tests that has the name of a package is none."""
    if name == "java":
        return shutil.which(name) is not None
    spec = importlib.util.find_spec(name)
    return spec is not None and spec.origin is not None


# It needs a Python of its own (tools/setup megengine), under which tools/run_tests.py runs that folder.
collect_ignore = [] if is_installed("megengine") else ["megengine"]

# Of the tests and all programs that they start: a second thread inside one operator, where there is not a core for
# each, mostly waits for its turn in a loop.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_configure(config):
    config.addinivalue_line("markers", "framework(name): needs this framework to be installed")
    config.addinivalue_line("markers", "torch_has(feature, ...): is about something that not every torch has")
    config.addinivalue_line("markers", "torch_does(behaviour): is about something that not every torch does")
    config.addinivalue_line("markers", "measures: compares times, so nothing else may run beside it")
    config.addinivalue_line("markers", "soak: of a module that has a full size, asked for by OPSCOPE_SOAK=1")


def pytest_collection_modifyitems(items):
    for item in items:
        if "OPSCOPE_SOAK" in item.path.read_text(encoding="utf-8"):
            item.add_marker(pytest.mark.soak)


def _lacking(item):
    """What the installed torch lacks of what a test is about."""
    if not any(mark.args == ("torch",) for mark in item.iter_markers("framework")):
        return []
    from opscope.torch.features import behaves, has

    marked = [feature for mark in item.iter_markers("torch_has") for feature in mark.args]
    done = [what for mark in item.iter_markers("torch_does") for what in mark.args]
    return [feature for feature in marked if not has(feature)] + [what for what in done if not behaves(what)]


def pytest_runtest_setup(item):
    for mark in item.iter_markers("framework"):
        (name,) = mark.args
        if is_installed(name):
            continue
        reason = f"{name} is not installed"
        if name in os.environ.get("OPSCOPE_REQUIRE_FRAMEWORKS", "").split(","):
            pytest.fail(f"{reason}, and OPSCOPE_REQUIRE_FRAMEWORKS asks for it", pytrace=False)
        pytest.skip(reason)
    if lacking := _lacking(item):
        pytest.skip(f"this torch lacks: {', '.join(lacking)}")


def complete_event(name, ts, dur, *, tid=1, cat="cpu_op", **args):
    """A complete event of Chrome's JSON, times in microseconds."""
    return {"ph": "X", "pid": 1, "tid": tid, "ts": ts, "dur": dur, "name": name, "cat": cat, "args": args}


def chrome_json(*events):
    """A Chrome trace as bytes."""
    return json.dumps({"traceEvents": events}).encode()


@pytest.fixture(scope="session")
def programs():
    """Runs small programs with torch, each in a process of its own (program_server.py)."""
    from program_server import ProgramServer

    server = ProgramServer()
    yield server
    server.close()


@pytest.fixture(scope="module")
def one_kernel_thread():
    """Kernels that wait for each other on a busy machine would be most of some tests' time."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the package, which has no adapter of its own."""
    import bare_package

    return bare_package.make(tmp_path_factory.mktemp("site"))


@pytest.fixture
def trace():
    """One thread: aten::linear [0, 100) us around aten::mm [10, 40), then aten::mm [200, 210)."""
    import opscope

    return opscope.read(
        chrome_json(
            complete_event("aten::linear", 0, 100),
            complete_event("aten::mm", 10, 30),
            complete_event("aten::mm", 200, 10),
        )
    )


@pytest.fixture
def doctest_trace():
    """The trace of the examples in opscope.trace."""
    import opscope

    return opscope.read(
        chrome_json(complete_event("aten::mm", 10, 5), complete_event("aten::add", 20, 7)),
    )
