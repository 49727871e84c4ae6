# SPDX-License-Identifier: Apache-2.0
"""What a program pays per operator for waiting for `opscope record`, beside the same program that does not wait."""

import json
import os
import tempfile
import time

import measure


def one(waits, ops):
    """Nanoseconds of processor time of this thread per operator."""
    with tempfile.TemporaryDirectory() as folder:
        if waits:
            os.environ["OPSCOPE_CONTROL"] = os.path.join(folder, "control")
        import torch

        import opscope.torch  # noqa: F401  which begins to wait

        if waits != bool(waits and os.listdir(os.environ["OPSCOPE_CONTROL"])):
            raise SystemExit("bench: the process does not wait for requests")
        one, other = torch.ones(1), torch.ones(1)
        least = float("inf")
        for _ in range(20):
            begin = time.thread_time_ns()
            for _ in range(ops):
                torch.add(one, other)
            least = min(least, (time.thread_time_ns() - begin) / ops)
        return {"operator": least}


def main():
    options = measure.parse_options(__doc__, ops=20_000, quick_ops=200, repetitions=10)
    if options.one:
        print(json.dumps(one(**json.loads(options.one))))
        return
    variants = {side: {"waits": waits, "ops": options.ops} for side, waits in (("opscope", True), ("torch", False))}
    results = measure.interleaved(__file__, options.repetitions, variants)
    measure.sampled_row(
        "run_on_demand_operator",
        "operator of a program that waits for requests, against one that does not",
        "ns/op",
        results,
        lambda result: result["operator"],
        goal=1.02,
        note="processor time of the thread",
    )


if __name__ == "__main__":
    main()
