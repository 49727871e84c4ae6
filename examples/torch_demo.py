# SPDX-License-Identifier: Apache-2.0
"""The demo of PyTorch's profiler, both spellings, with the import line changed: a table and a trace file.

    python torch_demo.py [FOLDER]
"""

import os
import sys

import torch

from opscope.torch import ProfilerActivity, profile, record_function
from resnet18 import ResNet18

folder = sys.argv[1] if len(sys.argv) > 1 else "."

model = ResNet18()
inputs = torch.randn(5, 3, 224, 224)

prof = profile(activities=[ProfilerActivity.CPU], record_shapes=True)

prof.start()

model(inputs)

prof.stop()

print(prof.key_averages().table(sort_by="cpu_time_total", row_limit=10))

prof.export_chrome_trace(os.path.join(folder, "trace.json"))

with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
    with record_function("model_inference"):
        model(inputs)

print(prof.key_averages().table(sort_by="cpu_time_total", row_limit=10))
