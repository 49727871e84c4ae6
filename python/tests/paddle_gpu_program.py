# SPDX-License-Identifier: Apache-2.0
"""A program of Paddle on a libcupti with a simulated GPU (tests/fake_cupti), under opscope.paddle.

    python paddle_gpu_program.py FOLDER

Paddle's CPU wheel launches nothing, so the program does, inside events of Paddle's types. Leaves gpu.json, gpu.pb and
gpu.opscope in FOLDER, and as texts.json what ``summary`` printed for each of paddle_oracle.combinations(), beside what
Paddle's own statistics print of the same result.
"""

import ctypes
import json
import os
import pathlib
import sys

import paddle_oracle
from paddle.profiler.profiler_statistic import StatisticData, _build_table

import opscope.paddle as profiler
from opscope import _core

fake = ctypes.CDLL(os.environ["FAKE"])
fake.fake_cuda_launch.argtypes = [ctypes.c_uint32, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_uint32]
fake.fake_cuda_memcpy.argtypes = [ctypes.c_uint32] * 4 + [ctypes.c_uint64, ctypes.c_uint32]
fake.fake_cuda_memset.argtypes = [ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint64]
STREAM = 7
OPERATOR, INNER, USER_DEFINED, COMMUNICATION, LAUNCH = 0, 8, 7, 12, 15


def inside(kind, name, *work):
    """Each of ``work`` is a function, or the same again with its arguments."""
    with _core.paddle.Range(name, kind):
        for one in work:
            one() if callable(one) else inside(*one)


def launch(name, duration_ns, blocks=640):
    return lambda: fake.fake_cuda_launch(STREAM, name, duration_ns, blocks, 128)


def copy(kind, source, destination, size):
    return lambda: fake.fake_cuda_memcpy(STREAM, kind, source, destination, size, 0)


def train(prof):
    matmul = launch(b"_Z6matmulPfS_", 70_000)
    for _ in range(3):
        with profiler.RecordEvent("copy the batch"):
            inside(USER_DEFINED, "GpuMemcpyAsync:CPU->GPU", copy(1, 1, 3, 4096))
        with profiler.RecordEvent("forward", profiler.TracerEventType.Forward):
            inside(OPERATOR, "matmul dygraph", (INNER, "matmul infer_meta"), (LAUNCH, "matmul kernel launch", matmul))
            inside(OPERATOR, "full dygraph", lambda: fake.fake_cuda_memset(STREAM, 3, 2048), launch(b"fill", 5_000, 7))
        with profiler.RecordEvent("backward", profiler.TracerEventType.Backward):
            inside(OPERATOR, "MatmulGradNode", matmul, matmul)
            inside(COMMUNICATION, "ProcessGroupNCCL::AllReduce", launch(b"ncclDevKernel_AllReduce_Sum_f32", 30_000))
        launch(b"of no event", 1_000)()
        fake.fake_cuda_device_synchronize(0)
        prof.step()


def main(folder):
    prof = profiler.Profiler(on_trace_ready=lambda _: None)
    with prof:
        train(prof)
    result = prof.profiler_result
    prof.export(str(folder / "gpu.json"))
    prof.export(str(folder / "gpu.pb"), format="pb")
    prof.save(folder / "gpu.opscope")
    data = StatisticData(result.get_data(), result.get_extra_info())
    texts = [
        [paddle_oracle.printed_by(prof, arguments), _build_table(data, **paddle_oracle.with_enums(arguments))]
        for arguments in paddle_oracle.combinations()
    ]
    (folder / "texts.json").write_text(json.dumps(texts))
    print(json.dumps([str(target) for target in prof.targets]))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
