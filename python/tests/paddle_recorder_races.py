# SPDX-License-Identifier: Apache-2.0
"""Ordinary programs in which Paddle's own recorder of events corrupts the heap; opscope.paddle records them, too.

    python paddle_recorder_races.py {first,windows} {paddle.profiler,opscope.paddle} CHILDREN

"first": a training loop with a DataLoader under profile_memory. The loop and the thread of the DataLoader make the
process's first memory events, and both append to the unlocked vectors of RecordMemEvent::size_cache. Where they do so
at one moment is rare, so a library that is preloaded makes both of them slow: each of the first allocations inside of
RecordMemEvent takes up to 5 ms, as it does when the system takes the processor away there.
"windows": 500 windows, opened and closed while another thread runs backward passes. HostEventRecorder::GatherEvents
frees the blocks into which the other thread writes its events.

Each child is a process of its own. Prints how many ended with which status: {"0": 33, "-11": 12, "-6": 15}. What was
measured stands in docs/explanation/paddle_recording.md.
"""

import collections
import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

SECONDS = 60  # of a child; then it hangs
WINDOWS = 500
PRELOADED = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
static __thread int inside;
static __thread unsigned seed;
static int slow = 60;
typedef void (*Constructor)(void*, const void*, const void*, size_t, unsigned);
#define CONSTRUCTOR _ZN6paddle8platform14RecordMemEventC1EPKvRKN3phi5PlaceEmNS4_18TracerMemEventTypeE
#define TEXT(x) #x
#define NAME(x) TEXT(x)
void CONSTRUCTOR(void* self, const void* block, const void* place, size_t bytes, unsigned type) {
  static Constructor paddles;
  void* core = paddles != 0 ? 0 : dlopen(getenv("PHI_CORE"), RTLD_LAZY | RTLD_NOLOAD);
  if (paddles == 0) paddles = (Constructor)dlsym(core, NAME(CONSTRUCTOR));
  inside = 1;
  paddles(self, block, place, bytes, type);
  inside = 0;
}
void* _Znwm(size_t bytes) {  // operator new
  if (inside && __atomic_sub_fetch(&slow, 1, __ATOMIC_RELAXED) > 0) {
    if (seed == 0) seed = (unsigned)gettid();
    usleep((unsigned)rand_r(&seed) % 5000);
  }
  return malloc(bytes != 0 ? bytes : 1);
}
"""


def first(profiler, paddle):
    class Data(paddle.io.Dataset):
        def __getitem__(self, at):
            return float(at)

        def __len__(self):
            return 8

    net = paddle.nn.Linear(16, 16)
    inputs = paddle.rand([8, 16])
    loader = iter(paddle.io.DataLoader(Data(), batch_size=1, num_workers=0))
    with profiler.Profiler(scheduler=[1, 4], profile_memory=True, on_trace_ready=lambda prof: None) as prof:
        for _ in loader:
            net(inputs).sum().backward()
            prof.step()


def windows(profiler, paddle):
    is_over = threading.Event()

    def work():
        x = paddle.ones([4])
        x.stop_gradient = False
        while not is_over.is_set():
            y = x
            for _ in range(50):
                y = y + x
            paddle.autograd.backward([y.sum()])
            x.clear_grad()

    thread = threading.Thread(target=work)
    thread.start()
    for _ in range(WINDOWS):
        with profiler.Profiler(targets=[profiler.ProfilerTarget.CPU], on_trace_ready=lambda prof: None):
            paddle.ones([2])
    is_over.set()
    thread.join()


def status_of(child):
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "hang"


def run_children(scenario, module, children):
    import paddle

    profiler = importlib.import_module(module)
    statuses = collections.Counter()
    for _ in range(children):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                scenario(profiler, paddle)
                status = 0
            except BaseException:
                traceback.print_exc()
            os._exit(status)
        statuses[status_of(child)] += 1
    print(json.dumps(statuses))


def phi_core():
    [folder] = importlib.util.find_spec("paddle").submodule_search_locations
    return str(pathlib.Path(folder, "libs", "libphi_core.so"))


def main():
    name, module, children = sys.argv[1:]
    scenario = {"first": first, "windows": windows}[name]
    if scenario is windows or "PHI_CORE" in os.environ:
        run_children(scenario, module, int(children))
        return
    with tempfile.TemporaryDirectory() as folder:
        library = f"{folder}/slow.so"
        compiler = ["cc", "-shared", "-fPIC", "-O1", "-x", "c", "-", "-o", library]
        subprocess.run(compiler, input=PRELOADED, text=True, check=True)
        environment = {**os.environ, "LD_PRELOAD": library, "PHI_CORE": phi_core()}
        sys.exit(subprocess.run([sys.executable, *sys.argv], env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
