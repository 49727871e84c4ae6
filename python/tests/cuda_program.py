# SPDX-License-Identifier: Apache-2.0
"""Programs that use a simulated CUDA beside torch, each in a process of its own."""

import json
import os
import subprocess
import sys

import pytest
from built import built

FAKE = built("tests/fake_cupti/libfake_cupti.so")
NVML = built("tests/fake_cupti/driver/libnvidia-ml.so.1")

PROGRAM = """
import ctypes, json, sys, warnings
fake = ctypes.CDLL(__import__("os").environ["FAKE"])
fake.fake_cuda_launch.argtypes = [ctypes.c_uint32, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_uint32]
import torch
import opscope.torch
from opscope.torch import ProfilerActivity, profile, record_function
from torch.autograd import DeviceType

library = torch.library.Library("simulated", "DEF")
library.define("scale(Tensor a) -> Tensor")

def scale(a):
    fake.fake_cuda_launch(7, b"_Z5scalePf", 70000, 640, 128)
    return a.clone()

library.impl("scale", scale, "CPU")
x = torch.ones(4)

def run(**options):
    options.setdefault("activities", [ProfilerActivity.CPU, ProfilerActivity.CUDA])
    with profile(**options) as prof:
        with record_function("a range"):
            torch.ops.simulated.scale(x)
        fake.fake_cuda_launch(7, b"_Z5alonePf", 30000, 8, 32)
        fake.fake_cuda_memcpy(7, 1, 1, 3, ctypes.c_uint64(4096), 0)
        fake.fake_cuda_device_synchronize(0)
    return prof
"""


def run_program(script, *, scenario="", named=True, program=PROGRAM):
    """What the script prints, as JSON. It has ``run``, and the simulated CUDA as ``fake``."""
    if not FAKE.exists():
        pytest.skip(f"the simulated CUPTI was not built: {FAKE}")
    environment = {k: v for k, v in os.environ.items() if k not in ("OPSCOPE_CUPTI_LIB", "OPSCOPE_FAKE_CUPTI")}
    environment |= {"FAKE": str(FAKE), "OPSCOPE_FAKE_CUPTI": scenario, "OPSCOPE_NVML_LIB": str(NVML)}
    if named:
        environment["OPSCOPE_CUPTI_LIB"] = str(FAKE)
    command = [sys.executable, "-c", program + script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
