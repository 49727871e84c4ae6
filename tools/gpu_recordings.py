#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the programs of tests/recorded_on_gpu on a real GPU, and prints what the answers are.

    python tools/gpu_recordings.py FOLDER

FOLDER gets a .opscope file per program. Printed are the findings of each, the roofline of the training step, and how
long operators of it take when `opscope reproduce` runs them alone. Takes a minute; needs torch with CUDA and opscope.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn

import opscope
from opscope.torch import ProfilerActivity, profile, schedule

STEPS, WARM_UP = 6, 3
REPRODUCED = (
    "aten::mm",
    "aten::cudnn_convolution",
    "aten::convolution",
    "aten::convolution_backward",
    "aten::addmm",
    "aten::gelu",
    "aten::gelu_backward",
    "aten::cudnn_batch_norm",
)

Step = Callable[[], None]


class SlowSamples(torch.utils.data.Dataset):
    def __len__(self) -> int:
        return 1000

    def __getitem__(self, index: int) -> torch.Tensor:
        time.sleep(0.02)
        return torch.zeros(8)


def programs() -> dict[str, Step]:
    """The planted faults, named after the finding that they should be, and programs without one."""
    big = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    middle, small = torch.randn(1024, 1024, device="cuda"), torch.randn(64, 64, device="cuda")
    vector = torch.randn(20_000_000, device="cuda")
    pageable = torch.ones(16 << 20)
    pinned, side = pageable.pin_memory(), torch.cuda.Stream()
    batches = iter(torch.utils.data.DataLoader(SlowSamples(), batch_size=1))

    def clean() -> None:
        for _ in range(4):
            torch.mm(big, big)

    def overlapped() -> None:
        with torch.cuda.stream(side):
            pinned.to("cuda", non_blocking=True)
        clean()

    def sync_points() -> None:
        for _ in range(20):
            torch.mm(middle, middle).sum().item()

    def host_device_copies() -> None:
        pageable.cuda()
        torch.mm(big, big)

    def launch_bound() -> None:
        for _ in range(500):
            torch.mm(small, small)

    def input_starvation() -> None:
        next(batches)
        torch.mm(big, big)

    def device_allocations() -> None:
        torch.cuda.empty_cache()
        torch.empty(1 << 28, device="cuda").zero_()
        torch.mm(big, big)

    def pointwise_behind() -> None:
        torch.mm(middle, middle)
        vector.mul(2).add(1).exp().sigmoid().tanh()

    model = nn.Sequential(
        nn.Conv2d(64, 128, 3, padding=1), nn.BatchNorm2d(128), nn.GELU(), nn.Flatten(1), nn.Linear(128 * 56 * 56, 64)
    ).cuda()
    images = torch.randn(64, 64, 56, 56, device="cuda")

    def training() -> None:
        model.zero_grad()
        model(images).square().mean().backward()
        torch.mm(big, big)

    steps = (
        *(clean, overlapped, sync_points, host_device_copies, launch_bound, input_starvation, device_allocations),
        *(pointwise_behind, training),
    )
    return {step.__name__: step for step in steps}


def record(path: Path, step: Step, **options: bool) -> None:
    for _ in range(WARM_UP):
        step()
    torch.cuda.synchronize()
    both = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    recorded = schedule(wait=0, warmup=1, active=STEPS, repeat=1)
    with profile(activities=both, schedule=recorded, **options) as prof:
        for _ in range(1 + STEPS):
            step()
            prof.step()
    prof.save(str(path))


def reproduce(path: Path, name: str) -> str:
    """What the script of `opscope reproduce` prints."""
    script = path.with_name("reproduced.py")
    opscope.open(str(path)).reproduce(where=f"name = {name}", path=str(script))
    done = subprocess.run(
        [sys.executable, str(script), "--number", "50"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    script.unlink()
    return " / ".join(done.stdout.strip().splitlines())


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/gpu_recordings.py FOLDER")
    if not torch.cuda.is_available():
        sys.exit(f"gpu_recordings: torch {torch.__version__} sees no GPU")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, step in programs().items():
        details = {"record_shapes": True, "profile_memory": True, "with_stack": True} if name == "training" else {}
        path = folder / f"{name}.opscope"
        record(path, step, **details)
        findings = [(finding["kind"], finding["saving_ns"]) for finding in opscope.open(str(path)).advise()]
        print(f"{name}: {findings}", flush=True)
    for row in list(opscope.open(str(path)).roofline())[:12]:
        print(f"  {row['name']} ({row['dtype']}): {row['time_ns']} ns, {row['peak_share']} of its peak")
    for name in REPRODUCED:
        print(f"  {reproduce(path, name)}", flush=True)


if __name__ == "__main__":
    main()
