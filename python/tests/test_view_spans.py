# SPDX-License-Identifier: Apache-2.0
"""What the server of ``opscope view`` says of one span: arguments and flows as the page of ``report`` has them."""

import json

from test_view import Server


def test_arguments_and_flows_are_those_of_the_page(tmp_path):
    launch = {"ph": "X", "pid": 1, "tid": 2, "name": "cudaLaunchKernel", "cat": "cuda_runtime", "ts": 1, "dur": 2}
    kernel = {"ph": "X", "pid": 0, "tid": 7, "name": "gemm", "cat": "kernel", "ts": 5, "dur": 4}
    arguments = {"Input Dims": [[2, 3]], "Input type": ["float"], "note": "<b>"}
    operator = {
        "ph": "X",
        "pid": 1,
        "tid": 2,
        "name": "aten::mm",
        "cat": "cpu_op",
        "ts": 0,
        "dur": 4,
        "args": arguments,
    }
    for each in (launch, kernel):
        each["args"] = {"correlation": 9, "device": 0, "stream": 7}
    path = tmp_path / "launch.json"
    path.write_text(json.dumps({"traceEvents": [operator, launch, kernel]}))
    server = Server(str(path))
    spans = [json.loads(server.ask(target=f"/api/span?file=0&row={row}")[2]) for row in range(3)]
    by_name = {span["name"]: span for span in spans}
    shown = by_name["aten::mm"]["arguments"]
    assert shown == {"Input Dims": [[2, 3]], "Input type": ["float"], "note": "<b>"}  # no lists that the file lacks
    [flow] = by_name["cudaLaunchKernel"]["flows"]
    assert (flow["kind"], flow["direction"]) == ("launch", "out")
    assert flow["span"] == {key: by_name["gemm"][key] for key in ("row", "track", "start", "duration", "name", "depth")}
    assert by_name["gemm"]["flows"][0]["span"]["name"] == "cudaLaunchKernel"
    assert server.end()[0] == 0
