# SPDX-License-Identifier: Apache-2.0
"""What `opscope doctor` says of this Python: frameworks, their adapters, the compiler, the cache. Needs no torch."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import bare_package
import pytest
from built import built
from load_tool import load_tool

from opscope import _core, extras

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def places(tmp_path):
    """A folder with a torch that consists of what doctor reads, and one with a compiler."""
    torch = tmp_path / "installed" / "torch"
    (torch / "include/ATen").mkdir(parents=True)
    (torch / "include/ATen/record_function.h").write_text("struct RecordFunction;")
    (torch / "__init__.py").write_text("raise SystemExit('doctor must not import torch')")
    (torch / "version.py").write_text("__version__ = '2.99.0+cpu'\ngit_version = 'aa11'\n")
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "g++").write_text("#!/bin/sh\necho g++ of a test 1.0\n")
    (bin_folder / "g++").chmod(0o755)
    return tmp_path


def ask(places, site, *arguments, path=None, cache=None):
    environment = bare_package.environment(site, cache or places / "cache", PATH=str(path or places / "bin"))
    environment["PYTHONPATH"] = os.pathsep.join([str(places / "installed"), environment["PYTHONPATH"]])
    command = [sys.executable, "-m", "opscope", "doctor", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, cwd=places)
    assert done.stderr == ""
    return done


def facts(*arguments, **options):
    done = ask(*arguments, "--json", **options)
    document = json.loads(done.stdout)
    assert document["schema"] == "opscope.doctor/1"
    assert done.returncode == (0 if document["can_profile_everything"] else 3)
    (torch,) = [framework for framework in document["frameworks"] if framework["name"] == "torch"]
    return document, torch


def test_it_names_the_interpreter_and_the_package(places, site):
    document, _ = facts(places, site)
    assert document["python"]["executable"] == sys.executable
    assert document["python"]["version"].endswith(".".join(map(str, sys.version_info[:3])))
    assert document["python"]["package"] == str(site / "opscope")
    assert document["opscope"]["version"] == _core.__version__


def test_a_torch_without_an_adapter_will_get_one_at_its_first_use(places, site):
    document, torch = facts(places, site)
    assert (torch["version"], torch["adapter"], torch["can_be_profiled"]) == ("2.99.0+cpu", "compile", None)
    assert document["compiler"]["version"] == "g++ of a test 1.0"
    assert document["cache"] == {
        "folder": str(places / "cache"),
        "state": "not there yet",
        "adapters": 0,
        "bytes": 0,
    }
    assert not (places / "cache").exists(), "doctor changed something"


def test_without_a_compiler_it_says_which_line_installs_one(places, site):
    document, torch = facts(places, site, path="/none")
    assert not document["compiler"]["found"]
    assert (torch["adapter"], torch["can_be_profiled"]) == ("none", False)
    assert torch["install"] == document["compiler"]["install"] != ""
    page = ask(places, site, path="/none")
    assert page.returncode == 3
    assert f"compiler        none; to install one: {torch['install']}\n" in page.stdout
    assert page.stdout.endswith("Not all that is installed can be profiled.\n")


def test_a_cache_that_others_may_write_is_refused_with_its_rights(places, site):
    (places / "cache").mkdir()
    (places / "cache").chmod(0o770)
    document, torch = facts(places, site)
    assert document["cache"]["state"].startswith("refused: may be written by others (mode 0770")
    assert torch["adapter"] == "none"
    assert str(places / "cache") in torch["detail"]
    assert "OPSCOPE_CACHE" in torch["install"]


CUPTI = built("tests/fake_cupti/libfake_cupti.so")


@pytest.mark.parametrize(
    "folder", ["torch/lib", "nvidia/cuda_cupti/lib", "nvidia/cu13/lib"], ids=["its own", "CUDA 12", "CUDA 13"]
)
def test_the_cupti_beside_torch_is_found_wherever_torch_is_installed(folder, places, site):
    """As `pip install --target FOLDER torch` leaves them; a process that imports torch has it mapped."""
    if not CUPTI.exists():
        pytest.skip(f"the simulated CUPTI was not built: {CUPTI}")
    place = places / "installed" / folder
    place.mkdir(parents=True)
    shutil.copy(CUPTI, place / "libcupti.so.13")
    document, _ = facts(places, site)
    assert document["machine"]["cupti"] == str(place / "libcupti.so.13")
    assert document["machine"]["cupti_version"] > 0
    assert document["machine"]["cuda_can_be_recorded"]


def test_of_several_cuptis_that_of_torchs_cuda_is_taken(places, site):
    if not CUPTI.exists():
        pytest.skip(f"the simulated CUPTI was not built: {CUPTI}")
    for folder, name in (("nvidia/cu13/lib", "libcupti.so.13"), ("nvidia/cuda_cupti/lib", "libcupti.so.12")):
        (places / "installed" / folder).mkdir(parents=True)
        shutil.copy(CUPTI, places / "installed" / folder / name)
    for cuda, expected in (("13.0", "cu13/lib/libcupti.so.13"), ("12.6", "cuda_cupti/lib/libcupti.so.12")):
        (places / "installed/torch/version.py").write_text(f"__version__ = '2.99.0'\ncuda: Optional[str] = '{cuda}'\n")
        document, _ = facts(places, site)
        assert document["machine"]["cupti"] == str(places / "installed/nvidia" / expected)


def in_the_cache(places, site, *, act):
    """Runs `act`, which knows `folder` and `entry`, where an adapter of the cache belongs; what it prints."""
    code = (
        "from pathlib import Path\n"
        "from opscope.adapters import cache\n"
        "from opscope.adapters.installed import package_folder\n"
        "from opscope.adapters.torch_adapter import adapter_for\n"
        "from opscope.adapters.torch_build import read_torch\n"
        "from opscope.adapters.compiler import find_compiler\n"
        "build = read_torch(package_folder('torch'))\n"
        "folder = adapter_for(build).entry_folder()\n"
        "cache.make_private(folder.parent); cache.make_private(folder)\n"
        "entry = adapter_for(build).entry(find_compiler())\n" + act
    )
    environment = bare_package.environment(site, places / "cache", PATH=str(places / "bin"))
    environment["PYTHONPATH"] = os.pathsep.join([str(places / "installed"), environment["PYTHONPATH"]])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


PUBLISH = """
(folder / 'new').write_bytes(b'x' * 3000)
entry.publish(folder / 'new', {facts})
print(entry.library)
"""


@pytest.mark.parametrize(
    ("noted", "can_be_profiled", "left_out"),
    [
        ({}, None, {}),
        ({"parts": {"operators": "", "memory": ""}}, True, {}),
        ({"parts": {"operators": "", "memory": "no slots"}}, True, {"memory": "no slots"}),
    ],
)
def test_it_says_what_the_self_test_has_shown_and_no_more(noted, can_be_profiled, left_out, places, site):
    in_the_cache(places, site, act=PUBLISH.format(facts=noted))
    _, torch = facts(places, site)
    assert (torch["can_be_profiled"], torch["left_out"]) == (can_be_profiled, left_out)


def test_an_adapter_that_could_not_be_made_is_no_promise(places, site):
    in_the_cache(places, site, act="entry.fail('x.cc:7: error: planted')\n")
    document, torch = facts(places, site)
    assert (torch["adapter"], torch["can_be_profiled"]) == ("none", False)
    assert "x.cc:7: error: planted" in torch["detail"]
    assert not document["can_profile_everything"]


def test_the_free_threaded_python_is_refused_in_words(tmp_path):
    code = (
        "import sysconfig\n"
        "asked = sysconfig.get_config_var\n"
        "sysconfig.get_config_var = lambda name: 1 if name == 'Py_GIL_DISABLED' else asked(name)\n"
        "import opscope\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("ImportError: opscope does not support the free-threaded build")


def test_a_cached_adapter_is_named_and_counted(places, site):
    library = in_the_cache(places, site, act=PUBLISH.format(facts={}))
    document, torch = facts(places, site)
    assert (torch["adapter"], torch["detail"]) == ("cached", library)
    assert document["cache"] == {
        "folder": str(places / "cache"),
        "state": "private",
        "adapters": 1,
        "bytes": 3000,
    }


def test_a_torch_without_headers_cannot_be_profiled(places, site):
    (places / "installed/torch/include/ATen/record_function.h").unlink()
    _, torch = facts(places, site)
    assert torch["adapter"] == "none"
    assert "has no headers" in torch["detail"]


def test_every_extra_of_the_package_is_known():
    tomllib = pytest.importorskip("tomllib")  # of Python 3.11
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    del declared["test"]
    assert {extra.name: list(extra.packages) for extra in extras.EXTRAS} == declared


def test_make_wheel_tries_every_extra():
    names = {extra.name for extra in extras.EXTRAS}
    assert {*load_tool("build_wheel.py").EXTRAS} == names
    assert {*load_tool("try_extras.py").TRIES} == names | {"none"}


def install(folder, name, version):
    package = folder / f"{name}-{version}.dist-info"
    package.mkdir()
    (package / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def test_an_extra_is_there_if_all_its_packages_are(monkeypatch, tmp_path):
    install(tmp_path, "duckdb", "9.8.7")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = {extra["name"]: extra for extra in extras.facts()}
    assert (found["sql"]["installed"], found["sql"]["missing"], found["sql"]["install"]) == (
        {"duckdb": "9.8.7"},
        [],
        "",
    )
    assert found["spark"]["missing"] == ["pyspark>=4.1", "pyarrow", "java"]
    assert found["spark"]["install"] == "pip install 'opscope[spark]' && apt-get install default-jre-headless"
    assert found["mcp"]["install"] == "pip install 'opscope[mcp]'"


@pytest.mark.parametrize(
    ("name", "version", "missing"),
    [
        ("mcp", "1.28.4", ["mcp>=2.0"]),
        ("mcp", "2.0rc1", []),
        ("duckdb", "1.10.0", []),
        ("duckdb", "1.3.2", ["duckdb>=1.4"]),
        ("ipython", "7.20.0", ["ipython>=7.21"]),
        ("ipython", "7.21.0", []),
    ],
)
def test_a_package_that_is_too_old_is_missing(monkeypatch, tmp_path, name, version, missing):
    install(tmp_path, name, version)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    found = {extra["name"]: extra for extra in extras.facts()}
    extra = found[{"duckdb": "sql", "ipython": "notebook"}.get(name, name)]
    assert (extra["installed"], extra["missing"], bool(extra["install"])) == ({name: version}, missing, bool(missing))


def test_what_fails_in_python_is_a_fact_and_no_traceback(capfd):
    class Host:
        def host_facts(self):
            raise RuntimeError("planted")

    assert _core.run_command_line([b"opscope", b"doctor", b"--json"], Host()) == 3
    (framework,) = json.loads(capfd.readouterr().out)["frameworks"]
    assert framework["adapter"] == "none"
    assert "planted" in framework["detail"]


@pytest.mark.framework("torch")
def test_the_adapter_that_the_package_carries_is_found():
    from opscope.adapters.installed import package_folder
    from opscope.adapters.torch_adapter import carried
    from opscope.adapters.torch_build import read_torch

    build = read_torch(package_folder("torch"))
    path = carried(build)
    if path is None:
        pytest.skip("this package carries no adapter for this torch")
    command = [sys.executable, "-m", "opscope", "doctor", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    (torch,) = [row for row in json.loads(done.stdout)["frameworks"] if row["name"] == "torch"]
    assert (torch["version"], torch["adapter"], torch["detail"]) == (build.version, "prebuilt", str(path))
