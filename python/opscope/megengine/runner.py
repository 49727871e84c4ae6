# SPDX-License-Identifier: Apache-2.0
"""The program ``python -m opscope.megengine.profiler``: runs a script, or with -m a module, under the Profiler."""

import argparse
import os
import runpy
import sys

from megengine.logger import get_logger

from .profiler import Profiler, merge_trace_events


def main() -> None:
    """Runs the script and exits with its status; 1 if there is no such script."""
    parser = _parser()
    options = parser.parse_args()
    if options.script is None and not options.merge_trace_events:
        parser.print_usage()
        sys.exit(1)
    directory = options.output or "profile"
    if options.script is None:
        merge_trace_events(directory)
        return
    profiler = _prepare(options, directory)
    try:
        with profiler:
            if options.module:
                runpy.run_module(sys.argv[0], None, "__main__", True)
            else:
                runpy.run_path(sys.argv[0], None, "__main__")
    finally:  # also if the script calls sys.exit
        profiler.dump()
        if options.merge_trace_events:
            merge_trace_events(directory)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="opscope.megengine.tools.profiler",
        description="Profiling megengine program",
        epilog="What stands behind the script is the script's.",
    )
    parser.add_argument("-m", "--module", action="store_true", help="whether launch program as module")
    parser.add_argument("-o", "--output", type=str, help="folder of the files (profile)")
    known = sorted(Profiler.valid_formats)
    parser.add_argument("-f", "--format", action="append", help="output file format; may be repeated", choices=known)
    parser.add_argument("--merge_trace_events", action="store_true", help="join the timelines in the folder afterwards")
    parser.add_argument("--clean", action="store_true", help="remove the files in the folder first")
    for name, default in Profiler.valid_options.items():
        parser.add_argument(f"--{name}", type=int, help=f"as of Profiler ({default})")
    parser.add_argument("--with_backtrace", action="store_true", help="note from where each operator was called")
    parser.add_argument("--with_scopes", action="store_true", help="scopes of modules, functionals, tensors' methods")
    parser.add_argument("--record_to", metavar="FILE", help="an .opscope file that is there however the script ends")
    parser.add_argument("script", nargs="?", help="file, with -m name of a module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of the script")
    return parser


def _prepare(options: argparse.Namespace, directory: str) -> Profiler:
    """Sets ``sys.argv`` and ``sys.path`` as the script expects them."""
    script = options.script
    if not options.module:
        if not os.path.exists(script):
            get_logger().fatal(f"cannot find file {script}")
            sys.exit(1)
        script = os.path.realpath(script)
        sys.path[0] = os.path.dirname(script)  # as the interpreter does for its own arguments
    sys.argv[:] = [script, *options.arguments]
    given = {name: getattr(options, name) for name in Profiler.valid_options}
    profiler = Profiler(
        path=directory,
        formats=options.format,
        with_backtrace=options.with_backtrace,
        with_scopes=options.with_scopes,
        **{name: value for name, value in given.items() if value is not None},
        **({} if options.record_to is None else {"record_to": options.record_to}),
    )
    if options.clean:
        _remove_files(directory)
    return profiler


def _remove_files(directory: str) -> None:
    """Deletes the files in a folder that may not exist; keeps its subfolders."""
    for entry in os.scandir(directory) if os.path.isdir(directory) else ():
        if not entry.is_dir(follow_symlinks=False):
            os.remove(entry.path)
