# SPDX-License-Identifier: Apache-2.0
"""Makes flame.svg beside it, the picture of README.md: where ResNet-18 spends its time.

    .venv/bin/python docs/pictures/flame.py

It is what `opscope flame` makes of the recording, with the modules of the model; times are those of the machine.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import torch

from opscope.torch import ProfilerActivity, profile, record_function

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "examples"))

from resnet18 import ResNet18  # noqa: E402  the examples are no package

WARM_UP, RECORDED = 2, 5


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)  # one thread's time is the time of all
    model = ResNet18().eval()
    inputs = torch.randn(5, 3, 224, 224)
    with torch.no_grad():
        for _ in range(WARM_UP):
            model(inputs)
        with profile(activities=[ProfilerActivity.CPU], with_modules=True) as prof:
            for _ in range(RECORDED):
                with record_function("model_inference"):
                    model(inputs)
    with tempfile.TemporaryDirectory() as folder:
        recording = Path(folder) / "resnet18.opscope"
        prof.save(recording)
        title = f"ResNet-18, {RECORDED} batches: opscope flame resnet18.opscope"
        command = [sys.executable, "-m", "opscope", "flame", recording, "-o", HERE / "flame.svg", "--title", title]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
