# SPDX-License-Identifier: Apache-2.0
"""Run as a program of its own: the real paddle.profiler, and what it prints.

``profile FOLDER``: profiles small programs, and leaves of each the protobuf, the JSON and, as texts.json, what
``summary`` printed for each of combinations(). ``tables FILE...``: loads protobufs, and prints as JSON the same texts.
``rewrite FILE...``: loads protobufs, and writes of each FILE.json.
"""

import contextlib
import io
import json
import pathlib
import sys
import threading

SORT_KEYS = 8
VIEWS = 9


def combinations():
    """Arguments of ``summary`` by name: all that change one thing, and some that change several."""
    plain = {"sorted_by": 0, "op_detail": True, "thread_sep": False, "time_unit": "ms", "views": None}
    changes = [{}]
    changes += [{"sorted_by": key} for key in range(1, SORT_KEYS)]
    changes += [{"sorted_by": key, "thread_sep": True, "op_detail": False} for key in range(SORT_KEYS)]
    changes += [{"views": [view]} for view in range(VIEWS)]
    changes += [{"views": [5, 0, 3]}, {"views": [6, 2], "time_unit": "us"}]
    changes += [{"time_unit": unit} for unit in ("s", "us", "ns", "bogus")]
    changes += [{"op_detail": False}, {"thread_sep": True}, {"thread_sep": True, "time_unit": "us", "sorted_by": 5}]
    return [{**plain, **change} for change in changes]


def with_enums(arguments):
    from paddle.profiler import SortedKeys, SummaryView

    views = arguments["views"]
    return {
        **arguments,
        "sorted_by": SortedKeys(arguments["sorted_by"]),
        "views": None if views is None else [SummaryView(view) for view in views],
    }


def tables_of(path):
    from paddle.profiler import load_profiler_result
    from paddle.profiler.profiler_statistic import StatisticData, _build_table

    result = load_profiler_result(path)
    if result is None:
        return None
    data = StatisticData(result.get_data(), result.get_extra_info())
    return [_build_table(data, **with_enums(arguments)) for arguments in combinations()]


def printed_by(profiler, arguments):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        profiler.summary(**with_enums(arguments))
    return text.getvalue()


def train_mlp(profiler):
    import paddle

    net = paddle.nn.Sequential(paddle.nn.Linear(8, 16), paddle.nn.ReLU(), paddle.nn.Linear(16, 4))
    optimizer = paddle.optimizer.Adam(parameters=net.parameters())
    for step in range(3):
        with paddle.profiler.RecordEvent("data"):
            batch = paddle.randn([5, 8])
        with paddle.profiler.RecordEvent("my_memset_range"):
            loss = net(batch).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        with paddle.profiler.RecordEvent(f"b{step % 2}"):
            pass
        profiler.step()


def train_lenet(profiler):
    import paddle

    net = paddle.vision.models.LeNet()
    optimizer = paddle.optimizer.Momentum(parameters=net.parameters())
    images = paddle.randn([6, 1, 28, 28])
    data = paddle.io.TensorDataset([images, paddle.randint(0, 10, [6, 1])])
    for image, label in paddle.io.DataLoader(data, batch_size=2):
        loss = paddle.nn.functional.cross_entropy(net(image), label)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        profiler.step()


def work_on_threads(profiler):
    import paddle

    first = threading.Lock()  # as in paddle_under_both.py

    def relu():
        paddle.nn.functional.relu(paddle.matmul(paddle.ones([4, 4]), paddle.ones([4, 4])))

    def work():
        with paddle.profiler.RecordEvent("on a thread"):
            with first:
                relu()
            for _ in range(2):
                relu()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    work()
    profiler.step()


PROGRAMS = {
    "mlp": (train_mlp, {}),
    "mlp_all": (train_mlp, {"record_shapes": True, "profile_memory": True, "with_flops": True}),
    "lenet": (train_lenet, {"profile_memory": True}),
    "threads": (work_on_threads, {"record_shapes": True, "with_flops": True}),
}


def profile(folder):
    import paddle

    for name, (program, options) in PROGRAMS.items():
        profiler = paddle.profiler.Profiler(
            targets=[paddle.profiler.ProfilerTarget.CPU], on_trace_ready=lambda _: None, **options
        )
        profiler.start()
        program(profiler)
        profiler.stop()
        profiler.export(str(folder / f"{name}.pb"), format="pb")
        profiler.export(str(folder / f"{name}.json"), format="json")
        texts = [printed_by(profiler, arguments) for arguments in combinations()]
        (folder / f"{name}.texts.json").write_text(json.dumps(texts))
        del profiler


if __name__ == "__main__":
    if sys.argv[1] == "profile":
        profile(pathlib.Path(sys.argv[2]))
    elif sys.argv[1] == "rewrite":
        from paddle.profiler import load_profiler_result

        for path in sys.argv[2:]:
            load_profiler_result(path).save(f"{path}.json", "json")
    else:
        sys.stdout.write(json.dumps({path: tables_of(path) for path in sys.argv[2:]}))
