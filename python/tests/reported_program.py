# SPDX-License-Identifier: Apache-2.0
"""A short training loop under opscope.torch, opscope.paddle or opscope.megengine, shown as pages:

    python reported_program.py {torch,paddle,megengine} FOLDER

Writes FOLDER/page.html, FOLDER/frame.html (the frame of a notebook) and FOLDER/recording.opscope, and prints what wrong
uses of ``report`` are answered with, as an object.
"""

import json
import sys
from pathlib import Path

STEPS = 3


def under_torch():
    import torch

    from opscope.torch import ProfilerActivity, profile

    net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
    sgd = torch.optim.SGD(net.parameters(), 0.1)

    def step():
        net(torch.rand(8, 16)).sum().backward()
        sgd.step()
        sgd.zero_grad()

    return profile(activities=[ProfilerActivity.CPU]), step


def under_paddle():
    import paddle

    from opscope.paddle import Profiler, ProfilerTarget

    net = paddle.nn.Sequential(paddle.nn.Linear(16, 32), paddle.nn.ReLU(), paddle.nn.Linear(32, 4))
    sgd = paddle.optimizer.SGD(parameters=net.parameters())

    def step():
        net(paddle.rand([8, 16])).sum().backward()
        sgd.step()
        sgd.clear_grad()

    return Profiler(targets=[ProfilerTarget.CPU], on_trace_ready=lambda _: None), step


def under_megengine():
    import megengine
    import numpy

    from opscope.megengine import Profiler

    net = megengine.module.Sequential(megengine.module.Linear(16, 32), megengine.module.ReLU())
    sgd = megengine.optimizer.SGD(net.parameters(), lr=0.1)
    manager = megengine.autodiff.GradManager().attach(net.parameters())
    inputs = megengine.tensor(numpy.ones((8, 16), "float32"))

    def step():
        with manager:
            manager.backward(net(inputs).sum())
        sgd.step().clear_grad()

    return Profiler(str(Path(sys.argv[2]) / "megengine")), step


def told(act):
    """What a wrong use is answered with."""
    try:
        return f"nothing: {act()!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def main():
    name, folder = sys.argv[1], Path(sys.argv[2])
    prof, step = {"torch": under_torch, "paddle": under_paddle, "megengine": under_megengine}[name]()
    step()
    page = folder / "page.html"
    answers = {"before": told(lambda: prof.report(page)), "frame before": repr(prof._repr_html_())}
    answers["text before"] = repr(prof)
    prof.start()
    for _ in range(STEPS):
        step()
    answers |= {"running": told(lambda: prof.report(page)), "frame running": repr(prof._repr_html_())}
    answers["text running"] = repr(prof)
    prof.stop()
    answers["text"] = repr(prof)
    assert not page.exists()
    wrong = {
        "theme": {"theme": "pink"},
        "no theme": {"theme": None},
        "small": {"max_size": 5},
        "much": {"max_size": "much"},
        "file": {"baseline": "a.json"},
        "prof": {"baseline": prof},
        "title": {"title": 5},
    }
    for what, options in wrong.items():
        answers[what] = told(lambda options=options: prof.report(page, **options))
    answers["no folder"] = told(lambda: prof.report(folder / "none" / "x.html"))
    answers["no path"] = told(lambda: prof.report(None))
    answers["full"] = told(lambda: prof.report("/dev/full"))
    assert not page.exists()
    prof.report(page)
    (folder / "frame.html").write_text(f"<!doctype html><html><body>{prof._repr_html_()}</body></html>")
    prof.save(folder / "recording.opscope")
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
