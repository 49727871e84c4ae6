# SPDX-License-Identifier: Apache-2.0
"""Tests whose speed pytest checks: docs/how-to/check_speed_in_pytest.md quotes them.

pytest --opscope-update examples/test_training_speed.py
pytest --opscope examples/test_training_speed.py
"""

import pytest
import torch

model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
batch = torch.ones(64, 256)


@pytest.mark.opscope(max={"op_count:aten::item": 0}, max_increase={"op_count:aten::addmm": 0})
def test_prediction_waits_for_nothing():
    assert model(batch).shape == (64, 10)


@pytest.mark.opscope(max_increase={"step_p50_ns": "50%", "peak_memory_bytes": "5%"}, memory=True)
def test_training_step(opscope_profile):
    model(batch).sum().backward()  # pays for what happens once
    with opscope_profile:
        for _ in range(20):
            model(batch).sum().backward()
            opscope_profile.step()
