# SPDX-License-Identifier: Apache-2.0
"""What goes wrong in a program, and processes: the job goes on as it would without a profiler."""

import multiprocessing
import os

import megengine.functional as F
import pytest
from conftest import OURS, THEIRS, Timeline

from opscope.megengine import Profiler, is_profiling

ADD = "F.add(x, x).numpy()"


def test_an_exception_of_an_operator_leaves_the_profiler_usable(tensor, tmp_path):
    profiler = Profiler(str(tmp_path))
    with pytest.raises(Exception), profiler:  # noqa: B017  of whatever class MegEngine chooses
        F.matmul(tensor.reshape(1, 2), tensor.reshape(1, 2)).numpy()
    assert not is_profiling()
    with profiler:
        F.add(tensor, tensor)
    profiler.dump()
    assert Timeline(profiler.path).begins()["OpDispatch"] == 1


def test_an_error_that_arrives_at_the_stop_leaves_the_window_and_the_next_start(run):
    ran = run(
        f"""
profiler = Profiler()
rows, nowhere = mge.tensor([[1.0] * 4] * 4), mge.tensor([9, 9, 9, 9], dtype="int32")
try:
    with profiler: F.indexing_one_hot(rows, nowhere)
except RuntimeError as error:
    print("idx >= 0" in str(error))
print("IndexingOneHot" in profiler.trace.spans.text("name"))
with profiler: {ADD}
"""
    )
    assert ran.printed.split()[-2:] == ["True", "True"] and len(ran.files) == 1


BEFORE_USE = """
with Profiler():
    child = os.fork()
    if child == 0:
        assert F.add(mge.tensor([1.0]), 1).numpy() == 2
        mge._run_exit_handlers()
        os._exit(0)
    print(os.getpid(), child)
    assert os.waitpid(child, 0)[1] == 0
"""


def test_a_child_that_was_forked_before_megengine_was_used_writes_its_own_file(run):
    for names in (OURS, THEIRS):
        ran = run(
            arguments=["-c", "import os\nimport megengine as mge, megengine.functional as F\n" + names + BEFORE_USE]
        )
        assert {f"profile/{pid}.chrome_timeline.json" for pid in ran.printed.split()[-2:]} <= set(ran.files)


CHILD = f"""
profiler = Profiler("out")
with profiler: {ADD}
waiting = Profiler("waiting")
with waiting: {ADD}
if BEFORE: waiting.start()
sys.stdout.flush()
child = os.fork()
if child == 0:
    import signal
    signal.alarm(10)  # MegEngine itself hangs in such a child, with or without a profiler
    mge._run_exit_handlers()
    os._exit(0)
os.waitpid(child, 0)
print(os.getpid())
"""


@pytest.mark.parametrize("is_recording", [False, True])
def test_the_child_of_a_fork_writes_nothing_of_its_parent(run, is_recording):
    ran = run(CHILD.replace("BEFORE", str(is_recording)))
    pid = ran.printed.split()[-1]
    assert ran.files == [f"out/{pid}.chrome_timeline.json", f"waiting/{pid}.chrome_timeline.json"]
    assert "Traceback" not in ran.told and "opscope:" not in ran.told


def test_workers_that_are_forked_end_as_they_would(run):
    ran = run(
        f"""
import multiprocessing
def work(queue): queue.put(os.getpid())
profiler = Profiler()
with profiler:
    {ADD}
    queue = multiprocessing.get_context("fork").Queue()
    worker = multiprocessing.get_context("fork").Process(target=work, args=(queue,))
    worker.start()
    assert queue.get(timeout=20) != os.getpid()
    worker.join(20)
    print(os.getpid(), worker.exitcode)
"""
    )
    pid, status = ran.printed.split()
    assert status == "0" and ran.files == [f"profile/{pid}.chrome_timeline.json"]


def record(folder, queue):
    import megengine

    data = megengine.tensor([1.0, 2.0])
    with Profiler(folder):
        F.add(data, data).numpy()
    queue.put(os.getpid())


def test_two_processes_write_a_file_each_and_they_merge(tmp_path):
    from opscope.megengine import merge_trace_events

    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    workers = [context.Process(target=record, args=(str(tmp_path), queue)) for _ in range(2)]
    for worker in workers:
        worker.start()
    pids = {queue.get(timeout=60) for _ in workers}
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    assert {path.name for path in tmp_path.iterdir()} == {f"{pid}.chrome_timeline.json" for pid in pids}
    merge_trace_events(str(tmp_path))
    made = Timeline(tmp_path / "merge.chrome_timeline.json")
    assert {event["pid"] for event in made.events} == pids and made.begins()["OpDispatch"] == 2


def test_a_user_handler_at_exit_runs_before_the_window_is_closed(run):
    program = f"""
import atexit
atexit.register(lambda: print(is_profiling(), os.path.exists("profile")))
profiler = Profiler()
profiler.start(); {ADD}
"""
    for names in (None, THEIRS):
        ran = run(program, **({"names": names, "folder": "theirs"} if names else {}))
        assert ran.printed.split() == ["True", "False"] and len(ran.files) == 1
