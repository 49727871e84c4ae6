# SPDX-License-Identifier: Apache-2.0
"""Which adapter fits which build of torch, told from files; needs no torch."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from opscope.adapters import adapter, cache, compiler, torch_adapter
from opscope.adapters.errors import AdapterMissing, CacheUnusable, CompilerMissing
from opscope.adapters.torch_build import TorchBuild, read_torch

BUILD = TorchBuild(Path("/none"), "2.13.0+cpu", "cf30153c", 1, "headers")


@pytest.fixture
def carried(tmp_path, monkeypatch):
    """A package that carries an adapter for BUILD: a function from a build to whether that one fits."""
    note = {"version": BUILD.version, "git": BUILD.git, "cxx11_abi": BUILD.cxx11_abi}
    (tmp_path / "libopscope_torch_2_13.json").write_text(json.dumps(note))
    (tmp_path / "libopscope_torch_2_13.so").touch()
    monkeypatch.setattr(torch_adapter, "LIBRARIES", tmp_path)
    return lambda **changes: torch_adapter.carried(replace(BUILD, **changes)) is not None


def test_a_release_fits_its_builds_for_every_device(carried):
    assert carried()
    assert carried(version="2.13.0+cu130", git="0")
    assert carried(version="2.13.0")


def test_another_release_or_another_string_abi_does_not_fit(carried):
    assert not carried(version="2.13.1+cpu")
    assert not carried(version="2.12.0+cpu")
    assert not carried(cxx11_abi=0)


def test_a_state_in_between_fits_only_as_the_same_commit(carried, tmp_path):
    assert not carried(version="2.13.0a0+git1234")
    note = {"version": "2.14.0a0+gitabcd", "git": "abcd", "cxx11_abi": 1}
    (tmp_path / "libopscope_torch_2_14.json").write_text(json.dumps(note))
    (tmp_path / "libopscope_torch_2_14.so").touch()
    assert carried(version="2.14.0a0+gitabcd", git="abcd")
    assert not carried(version="2.14.0a0+gitabce", git="abce")
    assert not carried(version="2.14.0a0", git="")


def write_torch(folder, version="2.5.1+cu121", abi=None):
    (folder / "version.py").write_text(
        f"from typing import Optional\n__version__ = '{version}'\ngit_version = 'aa11'\n"
    )
    (folder / "include/ATen").mkdir(parents=True, exist_ok=True)
    (folder / "include/ATen/record_function.h").write_text("struct RecordFunction;")
    if abi is not None:
        (folder / "share/cmake/Torch").mkdir(parents=True)
        (folder / "share/cmake/Torch/TorchConfig.cmake").write_text(
            f'set(TORCH_CXX_FLAGS "-D_GLIBCXX_USE_CXX11_ABI={abi}")'
        )
    return folder


def test_a_build_is_read_from_its_files(tmp_path):
    build = read_torch(write_torch(tmp_path, abi=0))
    assert (build.version, build.release, build.git, build.cxx11_abi) == ("2.5.1+cu121", "2.5.1", "aa11", 0)
    assert build.headers


def test_what_is_no_torch_is_none(tmp_path):
    assert read_torch(tmp_path) is None
    (tmp_path / "version.py").write_text("nothing = 1")
    assert read_torch(tmp_path) is None


def test_the_entry_changes_with_all_that_the_code_depends_on(tmp_path, monkeypatch):
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    changes = [{}, {"version": "2.13.1"}, {"git": "0"}, {"cxx11_abi": 0}, {"headers": "other"}]
    folders = {torch_adapter.adapter_for(replace(BUILD, **change)).entry_folder() for change in changes}
    assert len(folders) == len(changes)
    monkeypatch.setattr(adapter, "source_hash", lambda folders: "another opscope")
    assert torch_adapter.adapter_for(BUILD).entry_folder() not in folders


def test_a_version_cannot_lead_out_of_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    assert torch_adapter.adapter_for(replace(BUILD, version="2.1/../../x")).entry_folder().parent == tmp_path


def test_the_folder_is_the_variables_or_xdgs_or_the_homes(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv(cache.VARIABLE, raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache.cache_folder() == tmp_path / "home/.cache/opscope"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    assert cache.cache_folder() == tmp_path / "home/.cache/opscope"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.cache_folder() == tmp_path / "xdg/opscope"
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "own"))
    assert cache.cache_folder() == tmp_path / "own"


def test_a_folder_is_made_private_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        made = cache.make_private(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert made.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_others_may_write_is_refused(tmp_path):
    for mode in (0o720, 0o702, 0o777):
        (tmp_path / "c").mkdir(exist_ok=True)
        (tmp_path / "c").chmod(mode)
        with pytest.raises(CacheUnusable, match="OPSCOPE_CACHE"):
            cache.make_private(tmp_path / "c")


def test_an_entry_of_which_others_may_write_the_library_is_not_valid(tmp_path):
    folder = cache.make_private(tmp_path / "cache")
    entry = cache.Entry(folder, "key")
    (folder / "new").write_bytes(b"library")
    entry.publish(folder / "new", {"torch": "2.13.0"})
    assert entry.is_valid()
    assert cache.entries(folder) == [entry]
    entry.library.chmod(0o666)
    assert not entry.is_valid()


def test_the_lock_keeps_others_out_until_it_is_given_back(tmp_path):
    with cache.lock(tmp_path, limit_s=1, waiting_for="a test") as is_locked:
        assert is_locked
        with pytest.raises(CacheUnusable, match=f"process {os.getpid()} on "):
            with cache.lock(tmp_path, limit_s=0.1, waiting_for="a test"):
                pass
    with cache.lock(tmp_path, limit_s=0.1, waiting_for="a test") as is_locked:
        assert is_locked


def test_the_compiler_is_cxx_with_its_arguments_or_the_first_on_path(tmp_path, monkeypatch):
    for name in ("clang++", "c++"):
        (tmp_path / name).write_text("#!/bin/sh\necho $0 1.0\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    found = compiler.find_compiler()
    assert found.command == (str(tmp_path / "c++"),)
    monkeypatch.setenv("CXX", "clang++ -m64")
    assert compiler.find_compiler().command == (str(tmp_path / "clang++"), "-m64")
    assert compiler.find_compiler().identity != found.identity
    monkeypatch.setenv("CXX", "clang++ '-m64")  # the end of the quotation is missing
    assert compiler.find_compiler() is None
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(CompilerMissing, match="CXX=no-such-compiler.* install one: "):
        compiler.require_compiler("it")


@pytest.fixture
def refusal(tmp_path, monkeypatch):
    """What an adapter for some torch is refused with, by the folder of the cache."""
    build = read_torch(write_torch(tmp_path))
    monkeypatch.setenv("CXX", "true")

    def refuse(folder):
        monkeypatch.setenv(cache.VARIABLE, str(folder))
        with pytest.raises(CacheUnusable) as refused:
            torch_adapter.adapter_for(build).compiled()
        assert str(folder) in str(refused.value)
        assert "set OPSCOPE_CACHE to a folder of your own" in str(refused.value)
        return str(refused.value)

    return refuse


def test_a_cache_of_another_user_is_refused(refusal, tmp_path):
    folder = tmp_path / "cache"
    if os.geteuid() == 0:
        folder.mkdir(mode=0o700)
        os.chown(folder, 65534, 65534)
    else:
        folder = Path("/usr")
    assert "belongs to another user" in refusal(folder)


def test_a_cache_that_cannot_be_written_is_refused(refusal, tmp_path):
    (tmp_path / "file").touch()
    assert "is not a folder" in refusal(tmp_path / "file")
    assert "cannot be used: " in refusal(tmp_path / "file" / "cache")
    assert "cannot be used: " in refusal("/sys/opscope-cache")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o770)
    assert "may be written by others" in refusal(tmp_path / "open")


def test_a_torch_without_headers_is_refused_before_anything_is_made(tmp_path, monkeypatch):
    (tmp_path / "version.py").write_text("__version__ = '2.13.0'")
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    with pytest.raises(AdapterMissing, match="has no headers"):
        torch_adapter.adapter_for(read_torch(tmp_path)).compiled()
    assert not (tmp_path / "cache").exists()
