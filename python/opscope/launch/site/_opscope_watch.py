# SPDX-License-Identifier: Apache-2.0
"""Waits until a program imports a framework, and then loads the part of opscope that records it.

Programs without a framework must start as fast as without opscope, so this module imports only modules that every
Python has loaded at its start. It is a finder on ``sys.meta_path``: it calls the other finders, and wraps the method of
the returned loader that executes the module. Programs often search for a module without importing it; then nothing
happens. This module also runs in a Python that is too old for opscope, to report that; hence the old syntax.
"""

import _thread
import atexit
import os
import sys

FRAMEWORKS = ("torch", "paddle", "megengine")
OLDEST = (3, 10)


class Watcher(object):
    """The finder, and the line of run.jsonl of a process that records nothing."""

    def __init__(self, package, settings):
        self._package, self._settings = package, settings  # opscope's folder, the text of OPSCOPE_RUN
        self._waits_for = set(FRAMEWORKS)
        self._searches = set()  # searches in progress: (name, thread)
        self._reports_itself = True  # False: launch/process.py writes the line of this process
        self._why_not = "it imported none of " + ", ".join(FRAMEWORKS)

    # ---- the finder -------------------------------------------------------------------------

    def find_spec(self, name, path=None, target=None):
        search = (name, _thread.get_ident())
        if name not in self._waits_for or search in self._searches:
            return None
        self._searches.add(search)  # another finder may call this one again
        try:
            for finder in list(sys.meta_path):
                find = None if finder is self else getattr(finder, "find_spec", None)
                spec = None if find is None else find(name, path, target)
                if spec is not None:
                    self._hook(name, spec.loader)
                    return spec
        except Exception:  # Python calls that finder next, which raises it again
            pass
        finally:
            self._searches.discard(search)
        return None

    def _hook(self, name, loader):
        execute = loader.exec_module

        def exec_module(module):
            vars(loader).pop("exec_module", None)
            execute(module)
            if name in self._waits_for:
                self._waits_for.discard(name)
                self._imported(name)

        try:
            loader.exec_module = exec_module
        except Exception as error:
            self._why_not = "the import of %s cannot be seen: %s" % (name, error)

    def _imported(self, name):
        try:
            process = self._load()
        except Exception as error:
            self._why_not = "opscope does not load in this Python (%s): %s: %s" % (
                sys.version.split()[0],
                type(error).__name__,
                error,
            )
            return
        try:
            self._reports_itself = False
            process.framework_is_imported(name, self._settings)
        except Exception:
            pass

    def _load(self):
        """The module opscope.launch.process: of the opscope that the program itself would import, else of ours."""
        from importlib import util

        found = util.find_spec("opscope")
        if found is None or found.origin is None:  # a folder without __init__.py, such as a clone beside the program
            if util.find_spec("nanobind_backend") is None:
                self._load_package("nanobind_backend", os.path.join(self._backend_folder(), "nanobind_backend"))
            self._load_package("opscope", self._package)
        elif not os.path.isfile(os.path.join(found.submodule_search_locations[0], "launch", "process.py")):
            raise ImportError("the opscope in " + found.submodule_search_locations[0] + " is too old for `opscope run`")
        from opscope.launch import process

        return process

    def _load_package(self, name, folder):
        from importlib import util

        spec = util.spec_from_file_location(
            name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
        )
        module = util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            for known in list(sys.modules):
                if known == name or known.startswith(name + "."):
                    del sys.modules[known]
            raise

    def _backend_folder(self):
        import json

        return json.loads(self._settings)["backend"]

    # ---- the line of a process without a recording ------------------------------------------

    def report(self):
        try:
            if self._reports_itself:
                self._write_line()
        except Exception:
            pass

    def _write_line(self):
        if sys.version_info < OLDEST and any(name in sys.modules for name in FRAMEWORKS):
            self._why_not = "Python %s: opscope records Python %d.%d or newer" % ((sys.version.split()[0],) + OLDEST)
        # These are the functions behind the package json, whose import takes longer than all else here.
        from _json import encode_basestring_ascii, scanstring

        rank, attempt = self._rank()
        line = '{"pid":%d,"rank":%d,"attempt":%d,"host":%s,"framework":null,"files":[],"why_not":%s}\n' % (
            os.getpid(),
            rank,
            attempt,
            encode_basestring_ascii(os.uname()[1]),
            encode_basestring_ascii(self._why_not),
        )
        begin = '{"dir":"'  # src/cli/run.cc writes the folder first
        folder = scanstring(self._settings, len(begin))[0]
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | getattr(os, "O_CLOEXEC", 0)
        file = os.open(os.path.join(folder, "run.jsonl"), flags, 0o600)
        try:
            os.write(file, line.encode("ascii"))
        finally:
            os.close(file)

    def _rank(self):
        """Rank and attempt of a process of a job. The table of variables is in opscope's engine, which is loaded only
        if there is any such variable.
        """
        if not any("RANK" in name or "PROCID" in name or "TRAINER_ID" in name for name in os.environ):
            return -1, 0
        self._load()
        from opscope import _core

        facts = _core.process_identity()
        return facts["rank"], facts["attempt"]


def start(site_folder):
    """Watches this process, if `opscope run` has started it and it has no more rights than its user."""
    settings = os.environ.get("OPSCOPE_RUN")
    if not settings or os.getuid() != os.geteuid() or os.getgid() != os.getegid() or _is_secure():
        return
    watcher = Watcher(os.path.dirname(os.path.dirname(site_folder)), settings)
    atexit.register(watcher.report)
    if sys.version_info >= OLDEST:
        sys.meta_path.insert(0, watcher)


def _is_secure():
    """AT_SECURE of the auxiliary vector: a setuid program, or one with file capabilities."""
    number = 23
    try:
        with open("/proc/self/auxv", "rb") as file:
            words = file.read()
    except (IOError, OSError) as error:
        return error.errno in (1, 13)  # the file of a program with more rights cannot be read
    size = 8 if sys.maxsize > 2**32 else 4
    for at in range(0, len(words) - 2 * size + 1, 2 * size):
        if words[at : at + size].rstrip(b"\0") == chr(number).encode("latin-1"):
            return bool(words[at + size : at + 2 * size].strip(b"\0"))
    return False
