# SPDX-License-Identifier: Apache-2.0
"""The eight steps of PyTorch's profiler tutorial, with the import line changed. Leaves its files in FOLDER.

    python torch_tutorial.py [FOLDER [PIXELS]]
"""

# 1. Import what is needed.
import os
import sys

import torch
from torch._C._profiler import _ExperimentalConfig

from opscope.torch import ProfilerActivity, profile, record_function, schedule
from resnet18 import ResNet18

folder = sys.argv[1] if len(sys.argv) > 1 else "."
pixels = int(sys.argv[2]) if len(sys.argv) > 2 else 224
on_device = torch.cuda.is_available()
activities = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * on_device


def path(name):
    return os.path.join(folder, name)


def heading(text):
    print(f"\n== {text} ==")


# 2. A ResNet and an input for it.
model = ResNet18()
inputs = torch.randn(5, 3, pixels, pixels)
if on_device:
    model, inputs = model.cuda(), inputs.cuda()

# 3. Where the time goes, by operator, then by operator and input shapes.
heading("3. time")
with profile(activities=activities, record_shapes=True) as prof, record_function("model_inference"):
    model(inputs)
print(prof.key_averages().table(sort_by="cpu_time_total", row_limit=10))
print(prof.key_averages(group_by_input_shape=True).table(sort_by="cpu_time_total", row_limit=10))
print(prof.key_averages().table(sort_by="cuda_time_total", row_limit=10))

# 4. Who takes memory: by itself, and with all that it calls.
heading("4. memory")
with profile(activities=[ProfilerActivity.CPU], profile_memory=True, record_shapes=True) as prof:
    model(inputs)
print(prof.key_averages().table(sort_by="self_cpu_memory_usage", row_limit=10))
print(prof.key_averages().table(sort_by="cpu_memory_usage", row_limit=10))

# 5. A trace to look at.
heading("5. trace")
with profile(activities=activities) as prof:
    model(inputs)
prof.export_chrome_trace(path("trace.json"))
print(f"{len(prof.events())} events in trace.json")

# 6. From where in the source operators are called: events have stacks with verbose=True.
heading("6. stacks")
with profile(activities=activities, with_stack=True, experimental_config=_ExperimentalConfig(verbose=True)) as prof:
    model(inputs)
metric = "self_cuda_time_total" if on_device else "self_cpu_time_total"
print(prof.key_averages(group_by_stack_n=5).table(sort_by=metric, row_limit=2))

# 7. The same as input for a flame graph.
heading("7. flame graph")
prof.export_stacks(path("profiler_stacks.txt"), metric)
with open(path("profiler_stacks.txt")) as stacks:
    print(f"{sum(1 for _ in stacks)} stacks in profiler_stacks.txt")

# 8. A long job: skip 10 steps, then twice 5 idle, 1 to warm up and 3 that are recorded.
heading("8. a long job")
my_schedule = schedule(skip_first=10, wait=5, warmup=1, active=3, repeat=2)
print([step for step in range(40) if my_schedule(step).name.startswith("RECORD")])


def trace_handler(prof):
    print(prof.key_averages().table(sort_by=metric, row_limit=10))
    prof.export_chrome_trace(path(f"trace_{prof.step_num}.json"))


with profile(
    activities=activities, schedule=schedule(wait=1, warmup=1, active=2), on_trace_ready=trace_handler
) as prof:
    for _ in range(8):
        model(inputs)
        prof.step()
