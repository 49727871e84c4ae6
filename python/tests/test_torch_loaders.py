# SPDX-License-Identifier: Apache-2.0
"""DataLoader with workers under a profile, persistent and not, in all start methods.

The parent's recording is what torch.profiler counts in the same program. The workers are detached, record for
themselves, and leave a file each with their own number in it and a link to the parent.
"""

import os
import re

import pytest
from program_server import OPSCOPE, PLAIN, TORCH, run_file

pytestmark = pytest.mark.framework("torch")

SOAK = os.environ.get("OPSCOPE_SOAK") == "1"
EPOCHS, ITEMS, WORKERS = 3, 16, 2

# RECORDS: workers record too. Their windows end when they do, by a finalizer of multiprocessing.
PROGRAM = """
import collections, multiprocessing.util, os, sys
import torch
from torch.utils.data import DataLoader, Dataset
class Numbers(Dataset):
    def __len__(self): return ITEMS
    def __getitem__(self, index): return torch.neg(torch.full((2,), float(index)))
def begin(worker):
    if not RECORDS: return
    assert not torch.autograd.profiler._is_profiler_enabled
    own = profile(record_shapes=True)
    own.start()
    def end():
        own.stop()
        own.save(f"worker-{worker}-{os.getpid()}.opscope")
    multiprocessing.util.Finalize(None, end, exitpriority=10)
def loader():
    return DataLoader(Numbers(), batch_size=4, num_workers=WORKERS, persistent_workers=PERSISTENT,
                      multiprocessing_context=KIND, worker_init_fn=begin)
def counted(prof): return sorted(collections.Counter(event.name for event in prof.events()).items())
def main():
    print("parent", os.getpid(), file=sys.stderr)
    sums, per_epoch = [], []
    batches = loader()
    with profile(record_shapes=True) as whole:
        for epoch in range(EPOCHS): sums.append([torch.exp(batch).sum().item() > 0 for batch in batches])
    whole.export_chrome_trace("whole.json")
    if hasattr(whole, "save"): whole.save("whole.opscope")
    for epoch in range(EPOCHS):
        with profile() as prof:
            for batch in batches: torch.exp(batch)
        per_epoch.append(counted(prof))
    del batches
    print(sums, counted(whole), per_epoch)
if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
"""


def run_loader(folder, variant, kind, persistent, records):
    folder.mkdir()
    head = f"ITEMS, EPOCHS, WORKERS = {ITEMS}, {EPOCHS}, {WORKERS}\n"
    head += f"KIND, PERSISTENT, RECORDS = {kind!r}, {persistent}, {records}\n"
    status, out, err = run_file(folder, variant + head + PROGRAM, 300)
    assert status == 0, err
    (parent,) = re.findall(r"^parent (\d+)$", err, re.MULTILINE)
    return out, int(parent), err


CASES = [(kind, persistent) for kind in ("fork", "forkserver", "spawn") for persistent in (False, True)]


@pytest.mark.parametrize(("kind", "persistent"), CASES if SOAK else CASES[:2] + CASES[-1:])
def test_parent_and_workers_record_apart(tmp_path, kind, persistent):
    import opscope

    # torch.profiler in the parent alone: its counts do not depend on how the workers began.
    theirs, _, _ = run_loader(tmp_path / "torch", TORCH, "fork", persistent, False)
    ours, parent, err = run_loader(tmp_path / "opscope", OPSCOPE, kind, persistent, True)
    assert ours == theirs
    assert err == f"parent {parent}\n"
    assert "enumerate(DataLoader)" in ours
    whole = opscope.open(tmp_path / "opscope" / "whole.opscope")
    names = list(whole.spans.text("name"))
    assert names.count("aten::exp") == EPOCHS * ITEMS // 4
    assert names.count("aten::neg") == 0
    assert list(whole.processes["pid"]) == [parent]
    assert (len(whole.problems), whole.info["dropped"]) == (0, 0)

    files = sorted((tmp_path / "opscope").glob("worker-*.opscope"))
    rounds = 1 if persistent else 2 * EPOCHS
    assert len(files) == WORKERS * rounds
    items, numbers = 0, set()
    for path in files:
        worker, process = map(int, re.fullmatch(r"worker-(\d+)-(\d+)\.opscope", path.name).groups())
        trace = opscope.open(path)
        assert list(trace.processes["pid"]) == [process]
        assert trace.info["parent_pid"] == parent
        assert len(trace.problems) == 0
        mine = list(trace.spans.text("name"))
        assert mine.count("aten::neg") == ITEMS // WORKERS * (2 * EPOCHS if persistent else 1)
        assert mine.count("aten::exp") == 0
        items += mine.count("aten::neg")
        numbers.add(process)
    assert items == 2 * EPOCHS * ITEMS
    assert len(numbers) == len(files)


def test_a_worker_that_dies_is_told_as_without_opscope(programs):
    """Its parent raises what it would have raised, and its recording is whole.

    Workers send no tensor (those that a dead one holds open are lost in ways of their own), and the parent waits for
    the one that dies: torch's signal handler raises wherever the parent is, which in the midst of a queue's lock lets
    torch hang at its end.
    """
    program = """
import os, signal, sys, time
import torch
from torch.utils.data import DataLoader, Dataset
class Deadly(Dataset):
    def __len__(self): return 8
    def __getitem__(self, index):
        if index == 1:
            time.sleep(1)
            os.kill(os.getpid(), signal.SIGKILL)
        return torch.neg(torch.ones(2)).tolist()
with profile() as prof:
    torch.exp(torch.ones(2))
    try:
        for batch in DataLoader(Deadly(), batch_size=1, num_workers=2, collate_fn=list): pass
    except RuntimeError as error: print("DataLoader worker" in str(error))
    torch.exp(torch.ones(2))
"""
    plain = programs.run(PLAIN + program, 120)
    assert (plain.status, plain.stdout) == (0, "True\n")
    done = programs.run(OPSCOPE + program + "print(sum(event.name == 'aten::exp' for event in prof.events()))\n", 120)
    assert (done.status, done.stdout) == (0, plain.stdout + "2\n"), done.stderr


def test_an_abandoned_iterator_ends_its_workers(programs):
    """The loop is left half way, with a window open: the workers go, and the next loop counts right."""
    program = """
import os, sys
import torch
from torch.utils.data import DataLoader, TensorDataset
data = TensorDataset(torch.arange(400.0))
def children():
    with open(f"/proc/self/task/{os.getpid()}/children") as file: return file.read().split()
with profile() as prof:
    for persistent in (False, True):
        batches = DataLoader(data, batch_size=2, num_workers=2, persistent_workers=persistent)
        for number, batch in enumerate(batches):
            torch.exp(batch[0])
            if number == 3: break
        for batch in batches: torch.exp(batch[0])
        del batches, batch
print(children(), sum(event.name == "aten::exp" for event in prof.events()))
"""
    done = programs.run(OPSCOPE + program, 120)
    assert (done.status, done.stdout, done.stderr) == (0, "[] 408\n", "")


@pytest.mark.filterwarnings("ignore")
def test_ranges_of_data_pipes_are_torchs():
    import torch.profiler
    from torch.utils.data.datapipes.iter import IterableWrapper

    import opscope.torch

    def add_one(value):
        return value + 1

    asked_before = torch.autograd._profiler_enabled
    found = []
    for module in (torch.profiler, opscope.torch):
        with module.profile(activities=[module.ProfilerActivity.CPU]) as prof:
            assert torch.autograd._profiler_enabled()
            list(IterableWrapper(range(3)).map(add_one))
        found.append([event.name for event in prof.events()])
    assert found[0] == found[1]
    assert len(found[0]) == 8 and found[0][0].startswith("Mapper(")
    assert torch.autograd._profiler_enabled is asked_before and not asked_before()
