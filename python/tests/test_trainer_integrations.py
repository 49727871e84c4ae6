# SPDX-License-Identifier: Apache-2.0
"""opscope.integrations with the trainers of Lightning, transformers and Accelerate: what is recorded, written, left."""

import importlib
import os
import pickle
import re
import runpy
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from examples_path import EXAMPLES
from trainer_recordings import free_ports, only_trace, run_ranks, steps_of, within_steps
from tutorial import BLOCK, compare

pytestmark = pytest.mark.framework("torch")

HOSTS = ("lightning", "pytorch_lightning", "transformers", "accelerate")
PLAN = {"wait": 1, "warmup": 1, "active": 2, "repeat": 1}
USUAL = {"wait": 5, "warmup": 1, "active": 5, "repeat": 1}  # the default of all but Accelerate


def each_of(*hosts):
    return pytest.mark.parametrize("host", [pytest.param(name, marks=pytest.mark.framework(name)) for name in hosts])


def profiling(host, folder, schedule=None, **options):
    """The profiler, callback or handler of a host."""
    module = importlib.import_module(f"opscope.integrations.{host.removeprefix('pytorch_')}")
    if "lightning" in host:
        return module.profiler_of(host)(folder, schedule=schedule, **options)
    if host == "transformers":
        return module.OpscopeCallback(folder, schedule=schedule, **options)
    import opscope.torch

    steps = schedule or opscope.torch.schedule(**USUAL)
    return module.OpscopeProfileKwargs(dirpath=folder, schedule=steps, **options)


def train(host, profiler, folder, **options):
    import small_trainings

    return small_trainings.train(host, profiler, folder, **options)


def names_of(trace):
    """Operators, backward functions and ranges of optimizers, with their numbers."""
    pattern = re.compile(r"aten::|\w+Backward\d|autograd::engine|Optimizer\.|enumerate\(DataLoader\)")
    return Counter(name for name in trace if pattern.match(name))


def is_profiling():
    import torch

    return torch.autograd._profiler_enabled()


@each_of(*HOSTS)
def test_each_step_of_the_window_has_its_number_and_one_of_everything(host, tmp_path):
    profiler = profiling(host, tmp_path / "out")
    train(host, profiler, tmp_path, steps=13)
    trace = only_trace(tmp_path / "out")
    assert steps_of(trace) == [6, 7, 8, 9, 10]
    data = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    expected = {data: 1, "AddmmBackward0": 2, "ReluBackward0": 1, "Optimizer.step#SGD.step": 1}
    assert {name: within_steps(trace, name) for name in expected} == {name: [n] * 5 for name, n in expected.items()}
    assert profiler.files == [str(next((tmp_path / "out").glob("*.opscope")))]
    assert not is_profiling()


@each_of("lightning", "pytorch_lightning", "transformers")
def test_steps_of_accumulated_gradients_are_batches_with_lightning_and_updates_with_transformers(host, tmp_path):
    train(host, profiling(host, tmp_path / "out"), tmp_path, steps=12 if host == "transformers" else 4, accumulated=3)
    trace = only_trace(tmp_path / "out")
    assert steps_of(trace) == [6, 7, 8, 9, 10]
    batches, updates = (within_steps(trace, name) for name in ("ReluBackward0", "Optimizer.step#SGD.step"))
    assert (batches, updates) == (([3] * 5, [1] * 5) if host == "transformers" else ([1] * 5, [0, 0, 1, 0, 0]))


def with_torch(host, folder):
    """What torch.profiler counts in the same steps, by the host's own means where it has some."""
    import torch

    cpu, steps = [torch.profiler.ProfilerActivity.CPU], torch.profiler.schedule(**PLAN)
    counted = []

    def count(prof):
        counted.append(names_of(event.name() for event in prof.profiler.kineto_results.events()))

    options = {"activities": cpu, "schedule": steps, "on_trace_ready": count}
    if "lightning" in host:
        package = {"lightning": "lightning.pytorch"}.get(host, host)
        kind = importlib.import_module(f"{package}.profilers").PyTorchProfiler
        # Its steps begin elsewhere, but two of them have the same operators.
        profiler = kind(dirpath=folder, record_module_names=False, **options)
    elif host == "accelerate":
        from accelerate import ProfileKwargs

        profiler = ProfileKwargs(activities=["cpu"], schedule_option={**PLAN, "skip_first": 0}, on_trace_ready=count)
    else:
        from transformers import TrainerCallback

        class Profiling(TrainerCallback):
            def on_train_begin(self, *_, **__):
                self.prof = torch.profiler.profile(**options)
                self.prof.start()

            def on_step_end(self, *_, **__):
                self.prof.step()

            def on_train_end(self, *_, **__):
                self.prof.stop()

        profiler = Profiling()
    train(host, profiler, folder, steps=6)
    (counts,) = counted
    return counts


@each_of(*HOSTS)
def test_operators_are_as_many_as_with_torchs_profiler(host, tmp_path):
    import opscope.torch

    train(host, profiling(host, tmp_path / "out", opscope.torch.schedule(**PLAN)), tmp_path, steps=6)
    trace = only_trace(tmp_path / "out")
    ours, theirs = names_of(trace.spans["name"]), with_torch(host, tmp_path)
    assert ours == theirs
    assert ours["aten::addmm"] == 4 and ours["Optimizer.step#SGD.step"] == 2 and len(ours) > 20


@pytest.mark.parametrize("where", ["model", "data"])
@each_of(*HOSTS)
def test_an_exception_leaves_what_was_recorded_and_passes(host, where, tmp_path):
    from small_trainings import Failure

    profiler = profiling(host, tmp_path / "out", record_shapes=True)
    with pytest.raises(Failure, match=where):
        train(host, profiler, tmp_path, steps=12, fails_in=where, fails_at=8)
    assert not is_profiling()
    trace = only_trace(tmp_path / "out")
    if where == "data" and "lightning" not in host:  # Accelerate, which transformers uses, loads a batch ahead
        assert steps_of(trace) == [6, 7]
        assert within_steps(trace, "AddmmBackward0") == [2, 0]
    else:
        assert steps_of(trace) == [6, 7, 8]
        assert within_steps(trace, "AddmmBackward0") == [2, 2, 0]
    # The same object records the next training.
    train(host, profiler, tmp_path, steps=12)
    assert len(profiler.files) == 2


@each_of(*HOSTS)
def test_ctrl_c_leaves_what_was_recorded(host, tmp_path):
    profiler = profiling(host, tmp_path / "out")
    with suppress(KeyboardInterrupt, SystemExit):  # Lightning raises another one, or none
        train(host, profiler, tmp_path, steps=12, fails_in="model", fails_at=8, failure=KeyboardInterrupt)
    assert not is_profiling()
    assert steps_of(only_trace(tmp_path / "out")) == [6, 7, 8]


def test_a_callback_that_is_deleted_leaves_what_was_recorded(tmp_path):
    import torch

    from opscope.integrations._training import Training, torch_profile
    from opscope.torch import ProfilerAction

    class Callback:
        pass

    owner, training = Callback(), Training(tmp_path / "out")
    profile = torch_profile(7, schedule=lambda _: ProfilerAction.RECORD, on_trace_ready=training.windows.write)
    training.begin(owner, profile)
    torch.ones(2).add(1)
    del owner
    trace = only_trace(tmp_path / "out")
    assert steps_of(trace) == [7] and within_steps(trace, "aten::add") == [1]


@each_of("lightning", "pytorch_lightning", "transformers")
def test_steps_go_on_counting_behind_a_checkpoint(host, tmp_path):
    import opscope.torch

    plan = opscope.torch.schedule(wait=0, warmup=1, active=2, repeat=1)
    train(host, profiling(host, tmp_path / "first", plan), tmp_path, steps=4, resumed="first")
    train(host, profiling(host, tmp_path / "again", plan), tmp_path, steps=8, resumed="again")
    assert steps_of(only_trace(tmp_path / "first")) == [1, 2]
    assert steps_of(only_trace(tmp_path / "again")) == [5, 6]


@each_of(*HOSTS)
def test_each_cycle_of_a_schedule_is_a_window(host, tmp_path, recwarn):
    import opscope
    import opscope.torch

    profiler = profiling(host, tmp_path / "out", opscope.torch.schedule(wait=1, warmup=1, active=1, repeat=2))
    train(host, profiler, tmp_path, steps=8)
    assert [steps_of(opscope.open(path)) for path in profiler.files] == [[2], [5]]
    assert [Path(path).name.rpartition("-")[2] for path in profiler.files] == ["1.opscope", "2.opscope"]
    if host != "accelerate":  # its profile is the user's, who may ask it for the events of all cycles
        assert not [str(warning.message) for warning in recwarn if "acc_events" in str(warning.message)]


@each_of(*HOSTS)
def test_a_training_that_is_too_short_says_so(host, tmp_path):
    with pytest.warns(RuntimeWarning, match=r"no step of this training was recorded: it ended in step 3, before"):
        train(host, profiling(host, tmp_path / "out"), tmp_path, steps=3)
    assert not (tmp_path / "out").exists()


@each_of(*HOSTS)
def test_a_folder_that_cannot_be_made_costs_the_files_alone(host, tmp_path):
    (tmp_path / "out").write_text("a file")
    with pytest.warns(RuntimeWarning, match="a window of the training is not written: FileExistsError"):
        train(host, profiling(host, tmp_path / "out"), tmp_path, steps=12)
    assert not is_profiling()


@each_of("lightning", "transformers")
def test_a_schedule_that_raises_leaves_the_training_alone(host, tmp_path):
    import opscope.torch

    def schedule(step):
        return opscope.torch.ProfilerAction.RECORD if step < 3 else 1 / 0

    with pytest.warns(RuntimeWarning, match="the training goes on unrecorded: ZeroDivisionError"):
        trainer = train(host, profiling(host, tmp_path / "out", schedule), tmp_path, steps=6)
    assert (trainer.state.global_step if host == "transformers" else trainer.global_step) == 6
    assert steps_of(only_trace(tmp_path / "out")) == [0, 1, 2]
    assert not is_profiling()


@each_of(*HOSTS)
def test_wrong_arguments_are_named(host, tmp_path):
    with pytest.raises(TypeError, match=r"schedule must be a callable from .*opscope\.torch\.schedule\(.*, not tuple"):
        profiling(host, tmp_path, (1, 1, 3))
    with pytest.raises(TypeError, match="record_shapes must be a bool, not str"):
        profiling(host, tmp_path, record_shapes="yes")
    with pytest.raises(ValueError, match="max_bytes must be a positive number of bytes"):
        profiling(host, tmp_path, max_bytes="much")
    with pytest.raises(TypeError, match=r"Opscope\w+\.__init__\(\) got an unexpected keyword argument 'record_shape'"):
        profiling(host, tmp_path, record_shape=True)
    with pytest.raises(TypeError, match="dirpath must be the path of a folder, not int"):
        profiling(host, 3)
    for wrong in (["CPU"], [], "cpu", 5):
        with pytest.raises((TypeError, ValueError), match="activities must be a list|Invalid profiler activity: CPU"):
            profiling(host, tmp_path, activities=wrong)


@each_of("lightning", "pytorch_lightning")
def test_the_class_in_place_of_an_object_is_named(host, tmp_path):
    with pytest.raises(
        TypeError, match=r"^Trainer takes an object, such as profiler=OpscopeProfiler\(\), not the class$"
    ):
        train(host, type(profiling(host, tmp_path)), tmp_path, steps=1)


def test_wrong_arguments_of_the_handler_of_accelerate_are_named():
    from opscope.integrations.accelerate import OpscopeProfileKwargs

    with pytest.raises(TypeError, match=r"such as \['cpu'\], not 'traces'; the folder .* is the argument dirpath"):
        OpscopeProfileKwargs("traces")
    with pytest.raises(TypeError, match="schedule_option must be a dict, not int"):
        OpscopeProfileKwargs(schedule_option=5)
    with pytest.raises(TypeError, match="schedule_option: .*unexpected keyword argument 'idle'"):
        OpscopeProfileKwargs(schedule_option={"idle": 1, "warmup": 1, "active": 1})
    with pytest.raises(ValueError, match="schedule_option: .*active=0"):
        OpscopeProfileKwargs(schedule_option={"wait": 1, "warmup": 1, "active": 0})
    with pytest.raises(TypeError, match="on_trace_ready must be callable, not str"):
        OpscopeProfileKwargs(on_trace_ready="traces")


@each_of(*HOSTS)
def test_an_absent_host_is_named(host, monkeypatch):
    module = f"opscope.integrations.{host.removeprefix('pytorch_')}"
    wanted = rf"^{re.escape(module)} needs the package {host}: `pip install {host.replace('_', '-')}"
    monkeypatch.setitem(sys.modules, host, None)
    if "lightning" in host:
        choose = importlib.import_module(module).profiler_of.__wrapped__
        with pytest.raises(ModuleNotFoundError, match=wanted):
            choose(host)
        return
    monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(ModuleNotFoundError, match=wanted):
        importlib.import_module(module)


@pytest.mark.framework("lightning")
@pytest.mark.framework("pytorch_lightning")
def test_the_profiler_is_one_of_the_lightning_that_is_there(monkeypatch):
    import lightning.pytorch
    import pytorch_lightning

    from opscope.integrations import lightning as ours

    assert issubclass(ours.OpscopeProfiler, lightning.pytorch.profilers.Profiler)
    assert issubclass(ours.profiler_of("pytorch_lightning"), pytorch_lightning.profilers.Profiler)
    monkeypatch.delitem(sys.modules, "lightning.pytorch")  # as before its import
    assert issubclass(ours.OpscopeProfiler, pytorch_lightning.profilers.Profiler)
    assert ours.OpscopeProfiler is ours.profiler_of("pytorch_lightning")
    with pytest.raises(ValueError, match="host must be 'lightning' or 'pytorch_lightning', not 'lightening'"):
        ours.profiler_of("lightening")


@each_of("lightning", "pytorch_lightning")
def test_a_profiler_of_lightning_can_be_pickled_for_processes_that_are_spawned(host, tmp_path):
    profiler = pickle.loads(pickle.dumps(profiling(host, tmp_path / "out", with_flops=True)))
    assert type(profiler) is type(profiling(host, tmp_path))
    train(host, profiler, tmp_path, steps=12)
    assert steps_of(only_trace(tmp_path / "out")) == [6, 7, 8, 9, 10]


@each_of("lightning")
def test_steps_of_validate_are_batches(host, tmp_path):
    import opscope.torch

    plan = opscope.torch.schedule(wait=0, warmup=1, active=2, repeat=1)
    train(host, profiling(host, tmp_path / "out", plan), tmp_path, steps=0)
    trace = only_trace(tmp_path / "out")
    assert steps_of(trace) == [1, 2]
    assert within_steps(trace, "aten::relu") == [1, 1]


@pytest.mark.framework("accelerate")
def test_a_handler_without_steps_records_the_block_and_calls_its_own_handler(tmp_path):
    from opscope.integrations.accelerate import OpscopeProfileKwargs

    seen = []
    handler = OpscopeProfileKwargs(dirpath=tmp_path / "out", activities=["cpu"], on_trace_ready=seen.append)
    train("accelerate", handler, tmp_path, steps=3)
    trace = only_trace(tmp_path / "out")
    assert names_of(trace.spans["name"])["Optimizer.step#SGD.step"] == 3
    assert [type(prof).__module__ for prof in seen] == ["opscope.torch.profile"]
    with pytest.raises(ValueError, match="schedule and schedule_option say the same thing"):
        OpscopeProfileKwargs(schedule=lambda _: None, schedule_option=PLAN)


@pytest.mark.framework("accelerate")
def test_a_handler_can_be_the_argument_of_profile_and_lists_its_arguments(tmp_path):
    from accelerate import Accelerator, ProfileKwargs

    from opscope.integrations.accelerate import OpscopeProfileKwargs

    handler = OpscopeProfileKwargs(dirpath=tmp_path / "out", record_shapes=True)
    with Accelerator(cpu=True).profile(handler):
        import torch

        torch.ones(2).neg()
    assert names_of(only_trace(tmp_path / "out").spans["name"])["aten::neg"] == 1
    assert handler.to_kwargs() == {"dirpath": tmp_path / "out", "record_shapes": True}
    assert OpscopeProfileKwargs(with_flops=True).to_kwargs() == ProfileKwargs(with_flops=True).to_kwargs()
    assert {*OpscopeProfileKwargs().to_dict()} == {*ProfileKwargs().to_dict(), "dirpath", "schedule", "max_bytes"}


def test_importing_the_integrations_imports_no_host():
    hosts = "{'torch', 'paddle', 'lightning', 'numpy'}"
    code = f"import sys, opscope.integrations; print(sorted({hosts} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@each_of("lightning")
@pytest.mark.framework("transformers")
@pytest.mark.framework("accelerate")
def test_two_gloo_ranks_leave_a_recording_and_a_report_each(host, tmp_path):
    import opscope

    job = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(*free_ports(1))}
    job |= {"GROUP_RANK": "0", "TORCHELASTIC_RUN_ID": "test", "TORCHELASTIC_RESTART_COUNT": "0"}
    ranks = [{**job, "RANK": rank, "LOCAL_RANK": rank} for rank in ("0", "1")]
    modules = ("torch._dynamo", "accelerate", "transformers.trainer", "lightning.pytorch")
    programs = [EXAMPLES / f"train_with_{name}.py" for name in ("accelerate", "transformers", "lightning")]
    run_ranks(tmp_path, ranks, modules, programs)
    for rank in (0, 1):
        files = sorted((tmp_path / "opscope-run").glob(f"rank{rank}-*.opscope"))
        assert [path.name.rpartition("-")[2] for path in files] == ["1.opscope", "2.opscope", "3.opscope"]
        for path in files:
            assert path.with_suffix(".html").exists()
            trace = opscope.open(path)
            assert trace.processes["rank"][0] == rank
            assert steps_of(trace) == [6, 7, 8, 9, 10]
            reduced = Counter(name for name in trace.spans["name"] if name == "gloo:all_reduce")
            assert reduced["gloo:all_reduce"] >= 5, path
    assert len(list((tmp_path / "opscope-run").iterdir())) == 12


@each_of("lightning")
def test_the_page_shows_what_its_first_example_prints(host, tmp_path, monkeypatch, capsys):
    page = (EXAMPLES.parent / "docs" / "how-to" / "profile_a_trainer.md").read_text()
    shown_files, shown_steps = (body for language, _, body in BLOCK.findall(page) if language == "text")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / "train_with_lightning.py"), run_name="__main__")
    recording = capsys.readouterr().out.splitlines()[-1]
    node = re.sub(r"[^A-Za-z0-9._]", "_", os.uname().nodename)
    assert recording.replace(f"-{node}-{os.getpid()}-", "-node1-4711-") == shown_files.strip()
    command = [sys.executable, "-m", "opscope", "steps", recording]
    compare(command, shown_steps, subprocess.run(command, capture_output=True, text=True, check=True).stdout)
