# SPDX-License-Identifier: Apache-2.0
"""``python -m opscope.megengine.profile_analyze DUMP``: MegEngine's command of that name, without MegEngine.

The options are the original's, abbreviations too; ``opscope analyze-megengine`` does the work.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from opscope import _core
from opscope.default_signals import use_default_signals

_COLUMNS = ("time", "computation", "memory", "flops", "bandwidth", "opr_id", "in_shapes", "out_shapes")
_FLAGS = ("copy_time", "show_host", "dump_only_opr", "confluence")
_VALUES = (
    "top",
    "aggregate_by",
    "opr_name",
    "input_dtype",
    "top_end_key",
    "aggregate",
    "order_by",
    "min_time",
    "max_time",
)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="profile_analyze.py",
        description="analyze analyzer result",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("dump", help="the output of get_profile(), also in gzip or zstd; - is standard input")
    add("-t", "--top", type=int, default=3, help="number of most time-consuming operators to print; 0: all")
    add("--type", action="append", help="filter oprs in the top list by type")
    add("--aggregate-by", default=None, choices=["type"], help="aggregate profiling result by; needs --aggregate")
    add("--opr-name", help="filter oprs in the top list by regex of name")
    add("--input-dtype", type=str, help="filter oprs in the top list by input dtype")
    add(
        "--top-end-key",
        default="end",
        choices=["end", "kern"],
        help="how time in top is calculated; end: total device time, kern: only wait time",
    )
    add("--aggregate", default=None, help="aggregate operations", choices=["max", "min", "sum", "mean"])
    add(
        "--order-by",
        default="time",
        help="column to sort by, one of " + ", ".join(_COLUMNS) + "; with + before it ascending",
    )
    add("--copy-time", action="store_true", help="show copy time related result")
    add("--min-time", type=float, default=float("-inf"), help="minimal time of a result to be printed, in seconds")
    add("--max-time", type=float, default=float("inf"), help="maximal time of a result to be printed, in seconds")
    add("--show-host", action="store_true", help="show host profiling info")
    add(
        "--dump-only-opr",
        action="store_true",
        help="only dump operator info as plaintext; useful for diff between two filtered profile results",
    )
    add("--confluence", "--wiki", action="store_true", help="output confluence-markdown-compatible table")
    add("--print-only", choices=["summary", "device", "host"], help="print only chosen info")
    return parser


def main(passed_args: Sequence[str] | None = None) -> int:
    """Prints the analysis and returns the exit code of ``opscope``.

    ``passed_args``: the arguments, those of the process if None. Raises SystemExit(2) for wrong ones.
    """
    args = _parser().parse_args(passed_args)
    words = [f"--{name.replace('_', '-')}" for name in _FLAGS if getattr(args, name)]
    for name in (*_VALUES, "print_only"):
        if getattr(args, name) is not None:
            words.append(f"--{name.replace('_', '-')}={getattr(args, name)}")
    words += [f"--type={name}" for name in args.type or ()]
    sys.stdout.flush()
    arguments = ["opscope", "analyze-megengine", *words, "--", args.dump]
    return _core.run_command_line([os.fsencode(word) for word in arguments])


if __name__ == "__main__":
    use_default_signals()
    sys.exit(main())
