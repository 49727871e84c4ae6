# SPDX-License-Identifier: Apache-2.0
"""The package as it is installed: one wheel for every Python, stubs, version, what an import costs."""

import ast
import inspect
import pathlib
import re
import shutil
import subprocess
import sys
import types

import pytest

import opscope
from opscope import _core

PACKAGE = pathlib.Path(opscope.__file__).parent
ENGINE = pathlib.Path(_core.__file__).parent

# What the program below needs of each interpreter is all that the wheel promises for it.
PROGRAM = r"""
import gc, sys
import opscope
from opscope import _core
trace = opscope.read(b'[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"caf\xe9"}]')
start = trace.spans.start
name = trace.spans.text("name")[0]
stream = trace.spans.__arrow_c_stream__()
summary = trace.summary(group_by=["name", "category"])
del trace
gc.collect()
assert start.tolist() == [1000] and start.readonly
assert name == "caf\udce9"
assert type(stream).__name__ == "PyCapsule"
assert summary[0]["total_ns"] == 2000
try:
    opscope.open("/")
except IsADirectoryError as error:
    assert error.filename == "/"
recording = _core.Recording()
recording.start()
recording.stop()
assert recording.trace().info()["recorded"] == 0
print(opscope.__version__, "%d.%d" % sys.version_info[:2])
"""


def interpreters():
    """Python 3.10 and later on this machine: pyenv's and those on the path."""
    found = {}
    for python in sorted(pathlib.Path.home().glob(".pyenv/versions/3.*/bin/python3")):
        minor = int(python.parts[-3].split(".")[1])
        if minor >= 10:
            found[minor] = python
    for minor in range(10, 15):
        python = shutil.which(f"python3.{minor}")
        if python and minor not in found and subprocess.run([python, "-c", ""], capture_output=True).returncode == 0:
            found[minor] = pathlib.Path(python)
    return found


@pytest.mark.parametrize("minor", [10, 11, 12, 13])
def test_one_engine_runs_on_every_python(minor, tmp_path):
    python = interpreters().get(minor)
    if python is None:
        pytest.skip(f"no Python 3.{minor} on this machine")
    # Only nanobind's backend differs between interpreters.
    pip = [sys.executable, "-m", "pip", "install", "-q", "--target", tmp_path / "site", "--only-binary", ":all:"]
    fetched = subprocess.run([*pip, "--python-version", f"3.{minor}", "nanobind-backend"], capture_output=True)
    if fetched.returncode != 0:
        pytest.skip(f"nanobind-backend for 3.{minor} cannot be fetched: {fetched.stderr.decode()[-200:]}")
    package = tmp_path / "site" / "opscope"
    package.mkdir()
    for entry in [*PACKAGE.iterdir(), *ENGINE.iterdir()]:
        if entry.name != "__pycache__" and not (package / entry.name).exists():
            (package / entry.name).symlink_to(entry)
    done = subprocess.run(
        [python, "-B", "-c", PROGRAM], capture_output=True, text=True, env={"PYTHONPATH": str(tmp_path / "site")}
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [opscope.__version__, f"3.{minor}"]


def test_the_engine_is_built_for_the_stable_abi():
    assert pathlib.Path(_core.__file__).name == "_core.abi3.so"


def test_the_recorder_is_one_file_beside_the_engine():
    assert [path.name for path in (ENGINE / "lib").glob("libopscope_recorder*")] == ["libopscope_recorder.so.1"]


def test_the_engine_exports_only_its_entry():
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("no nm on this machine")
    listed = subprocess.run([nm, "-D", "--defined-only", _core.__file__], capture_output=True, text=True, check=True)
    ours = [line.split()[-1] for line in listed.stdout.splitlines() if "opscope" in line]
    assert ours == []
    assert "PyInit__core" in listed.stdout


def test_neither_engine_nor_recorder_needs_a_framework():
    readelf = shutil.which("readelf")
    if readelf is None:
        pytest.skip("no readelf on this machine")
    for library in (_core.__file__, ENGINE / "lib/libopscope_recorder.so.1"):
        listed = subprocess.run([readelf, "-d", library], capture_output=True, text=True, check=True).stdout
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", listed)
        assert any(name.startswith("libc.so") for name in needed)
        assert [name for name in needed if re.match(r"lib(torch|c10|python)", name)] == []


def test_each_source_that_it_carries_says_where_the_recorder_is():
    readelf = shutil.which("readelf")
    if readelf is None:
        pytest.skip("no readelf on this machine")
    carried = [path for path in (ENGINE / "lib").glob("libopscope_[pt]*.so") if not path.is_symlink()]
    if not carried:
        pytest.skip("this package is a build tree, or carries no source")
    for library in carried:
        listed = subprocess.run([readelf, "-d", library], capture_output=True, text=True, check=True).stdout
        assert "[libopscope_recorder.so.1]" in listed
        paths = re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", listed)
        assert paths and "$ORIGIN" in paths[0].split(":"), library.name


def test_importing_brings_no_framework_and_no_numpy():
    code = "import sys, opscope; print([m for m in ('numpy', 'torch', 'pandas', 'pyarrow') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_version_is_the_engines():
    assert re.fullmatch(r"\d+\.\d+\.\d+", opscope.__version__)
    assert opscope.__version__ == _core.__version__


def stub_names(body):
    names = {}
    for node in body:
        if isinstance(node, ast.ClassDef):
            names[node.name] = stub_names(node.body)
        elif isinstance(node, ast.FunctionDef):
            names[node.name] = {}
        elif isinstance(node, ast.AnnAssign):
            names[node.target.id] = {}
    return names


STUBS = {"__init__": _core}
STUBS |= {name: getattr(_core, name) for name in ("cuda", "megengine", "paddle", "torch")}


@pytest.mark.parametrize("name", STUBS)
def test_the_stub_lists_what_the_engine_has(name):
    module = STUBS[name]
    stub = stub_names(ast.parse((PACKAGE / "_core" / f"{name}.pyi").read_text()).body)
    submodules = {name for name, value in vars(module).items() if isinstance(value, types.ModuleType)}
    public = {name for name in vars(module) if not name.startswith("_")} - submodules
    assert {name for name in stub if not name.startswith("_")} == public
    for name in public:
        member = getattr(module, name)
        if isinstance(member, type) and member is not _core.Error:
            members = {m for m in vars(member) if not m.startswith("_")}
            listed = {m for m in stub[name] if not m.startswith("_")}
            # opscope.torch adds rare methods to the engine's event types when it is imported.
            added_to = ("FunctionEvent", "KinetoEvent")
            assert listed <= members if name in added_to else listed == members, name


@pytest.mark.parametrize("name", STUBS)
def test_the_stub_has_the_arguments_of_constructors_that_the_engine_states(name):
    """Else a type checker refuses `record_function("forward")`, whose constructor is the engine's."""
    body = ast.parse((PACKAGE / "_core" / f"{name}.pyi").read_text()).body
    for kind in (node for node in body if isinstance(node, ast.ClassDef)):
        if not getattr(getattr(STUBS[name], kind.name, None), "__text_signature__", None):
            continue
        made = next(node for node in kind.body if isinstance(node, ast.FunctionDef) and node.name == "__init__")
        arguments = [each.arg for each in made.args.args[1:]]
        assert arguments == list(inspect.signature(getattr(STUBS[name], kind.name)).parameters), kind.name


def test_the_package_says_that_it_is_typed():
    assert (PACKAGE / "py.typed").exists()
