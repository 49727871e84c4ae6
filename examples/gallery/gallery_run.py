# SPDX-License-Identifier: Apache-2.0
"""What the programs of the gallery share: their arguments, and a recording with its report.

    from gallery_run import Run

    run = Run("slow_data_loader", __doc__)  # reads --mended, --steps N, -o FOLDER
    run.record(step)                        # calls step(), writes FOLDER/slow_data_loader.opscope and .html

The files of the mended program are called `slow_data_loader_mended`.
"""

import argparse
from pathlib import Path

import torch

import opscope
from opscope.torch import ProfilerActivity, profile, schedule


class Run:
    """One run of a program: how it was called, and where its files go."""

    def __init__(self, name, description, *, steps=10, warmup=2, threads=1):
        parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--mended", action="store_true", help="without the fault")
        parser.add_argument("--steps", type=int, default=steps, metavar="N", help="recorded steps (%(default)s)")
        parser.add_argument("-o", "--output", type=Path, default=Path("gallery"), metavar="FOLDER")
        options = parser.parse_args()
        self.mended, self.steps, self.warmup = options.mended, options.steps, warmup
        self.stem = options.output / (f"{name}_mended" if self.mended else name)
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        options.output.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(0)
        torch.set_num_threads(threads)

    def record(self, step, rank=None, **options):
        """Calls step() for each step and saves what opscope recorded of it; rank: of a job of several processes."""
        activities = [ProfilerActivity.CPU]
        if self.device == "cuda":
            activities.append(ProfilerActivity.CUDA)
        recorded = schedule(wait=0, warmup=self.warmup, active=self.steps, repeat=1)
        with profile(activities=activities, schedule=recorded, **options) as prof:
            for _ in range(self.warmup + self.steps):
                step()
                prof.step()
        path = self.stem.with_name(self.stem.name + ("" if rank is None else f"_rank{rank}") + ".opscope")
        prof.save(path)
        if rank is None:
            self.report(path)

    def report(self, *recordings):
        """Writes the page of these recordings, and prints what `opscope advise` says of them."""
        trace = opscope.open(recordings[0]) if len(recordings) == 1 else opscope.merge(recordings)
        page = self.stem.with_name(self.stem.name + ".html")
        trace.report(page, title=self.stem.name)
        print(*(f"{row['kind']}: {row['message']}" for row in trace.advise()), f"report: {page}", sep="\n")
