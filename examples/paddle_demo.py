# SPDX-License-Identifier: Apache-2.0
"""The examples of paddle.profiler's documentation, in the folder that is named.

    python paddle_demo.py FOLDER

With `import paddle.profiler as profiler` in the place of the marked line the original runs it.
"""

import os
import sys

import paddle

import opscope.paddle as profiler  # the line to change

os.chdir(sys.argv[1])
targets = [profiler.ProfilerTarget.CPU, profiler.ProfilerTarget.GPU]

# Step 0 is closed, steps 1 and 2 are ready, 3 to 5 are recorded; what they gave is returned when step 5 is over.
scheduler = profiler.make_scheduler(closed=1, ready=2, record=3, repeat=1)
print([scheduler(step).name for step in range(8)])
# Step 0 is closed, 1 to 3 are ready, 4 to 6 are recorded; three times.
scheduler = profiler.make_scheduler(closed=1, ready=3, record=3, repeat=3)
print([step for step in range(24) if scheduler(step) is profiler.ProfilerState.RECORD_AND_RETURN])


def train(prof, steps=10):
    """A small model, ten times."""
    linear = paddle.nn.Linear(13, 5)
    momentum = paddle.optimizer.Momentum(learning_rate=0.0003, parameters=linear.parameters())
    for _ in range(steps):
        data = paddle.randn(shape=[26])
        data = paddle.reshape(data, [2, 13])
        out = linear(data)
        out.backward()
        momentum.step()
        momentum.clear_grad()
        prof.step()


with profiler.Profiler(
    targets=targets,
    scheduler=profiler.make_scheduler(closed=1, ready=2, record=3, repeat=1),
    on_trace_ready=profiler.export_chrome_tracing("./with_a_scheduler"),
) as prof:
    train(prof)
prof.summary()
del prof  # one profiler at a time

prof = profiler.Profiler(targets=targets, scheduler=(5, 9), on_trace_ready=profiler.export_protobuf("./with_a_pair"))
prof.start()
train(prof)
prof.stop()
prof.summary(sorted_by=profiler.SortedKeys.CPUMax, op_detail=False, time_unit="us")

# Ranges cost next to nothing while no profiler runs.
with profiler.RecordEvent("record_add"):
    data1 = paddle.randn(shape=[3])
    data2 = paddle.randn(shape=[3])
    result = data1 + data2
record_event = profiler.RecordEvent("record_add")
record_event.begin()
result = data1 + data2
record_event.end()

[saved] = os.listdir("with_a_pair")
loaded = profiler.load_profiler_result(filename=os.path.join("with_a_pair", saved))
print("read again:", loaded is not None)
