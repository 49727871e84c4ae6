# SPDX-License-Identifier: Apache-2.0
"""One small training, seen by both profilers at once: FOLDER/{opscope,torch}/rank-0.json."""

import sys
import warnings
from pathlib import Path

import torch
import torch.profiler

import opscope.torch

STEPS = 4


def main(folder):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = torch.utils.data.TensorDataset(torch.ones(8 * (STEPS + 1), 64))
    batches = list(torch.utils.data.DataLoader(data, batch_size=8))

    def step(number):
        with torch.profiler.record_function(f"ProfilerStep#{number}"):
            with opscope.torch.record_function("forward"):
                loss = model(batches[number][0]).sum()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()

    step(0)
    asked = {"activities": [torch.profiler.ProfilerActivity.CPU], "record_shapes": True, "profile_memory": True}
    with torch.profiler.profile(**asked) as theirs, opscope.torch.profile(**asked) as ours:
        for number in range(1, STEPS + 1):
            step(number)
    for kind, prof in (("opscope", ours), ("torch", theirs)):
        path = Path(folder) / kind / "rank-0.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        prof.export_chrome_trace(str(path))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1])
