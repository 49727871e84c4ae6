# SPDX-License-Identifier: Apache-2.0
"""The merge of 64 ranks of 200,000 spans each: opening them, aligning their clocks, and writing one .opscope file.

The other side is the same program reading and writing each of the files by itself: what is more is the merge.
"""

import shutil
from pathlib import Path

import native

import measure


def main():
    options = measure.parse_options(__doc__, ops=200_000, quick_ops=3_000, ranks=64)
    ranks = 8 if options.quick else options.ranks
    folder = Path("merge").resolve()
    folder.mkdir(exist_ok=True)
    try:
        native.results_of("merge_speed", "--make", folder, ranks, options.ops)
        runs = {"--merge": [], "--apart": []}
        for _ in range(options.repetitions):
            for mode, found in runs.items():
                found += native.results_of("merge_speed", mode, folder, ranks)
    finally:
        shutil.rmtree(folder)
    spans = runs["--merge"][0]["spans"]
    apart = runs["--apart"][0]["spans"]
    if not spans == apart >= ranks * options.ops:
        raise SystemExit(f"bench: {spans} spans are merged of {apart}")

    def figures(mode, kind, scale):
        return measure.figures_of(runs[mode], kind, scale)

    cpu = {
        word: figures(mode, "cpu", 1e6 / spans)["median"] for word, mode in (("ours", "--merge"), ("theirs", "--apart"))
    }
    sides = [figures(mode, "wall", 1e6 / spans) for mode in runs]
    title = f"Merge of {ranks} files of {options.ops:,} spans, beside reading and writing each alone"
    more = {"repetitions": options.repetitions, "note": f"{spans:,} spans"}
    measure.print_row("merge_time", title, "s per million spans", *sides, cpu=cpu, **more)
    title = "Peak memory of that merge"  # src/job/open_job.cc computes with it
    measure.print_row("merge_ram", title, "bytes per span", figures("--merge", "peak_bytes", 1 / spans), **more)


if __name__ == "__main__":
    main()
