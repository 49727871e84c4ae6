# SPDX-License-Identifier: Apache-2.0
"""Makes the cases anew with the real paddle.profiler: ``python tests/golden/paddle_summary/make.py``.

A case is input.pb and texts.json: what Paddle printed of it, without the end of the last line, for several arguments.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
TESTS = HERE.parents[2] / "python/tests"
sys.path.insert(0, str(TESTS))

from paddle_oracle import combinations  # noqa: E402
from paddle_protobuf import Invention  # noqa: E402

WANTED = [
    {},
    {"sorted_by": 5, "thread_sep": True, "time_unit": "us"},
    {"sorted_by": 7, "thread_sep": True, "op_detail": False},
    {"views": [5, 0, 3]},
]


def oracle(*arguments):
    done = subprocess.run([sys.executable, TESTS / "paddle_oracle.py", *arguments], capture_output=True, check=True)
    return done.stdout


def write_case(name, protobuf, texts):
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    (folder / "input.pb").write_bytes(protobuf)
    chosen = []
    for wanted in WANTED:
        arguments = {**combinations()[0], **wanted}
        text = texts[combinations().index(arguments)]
        chosen.append({**arguments, "text": text.removesuffix("\n")})
    (folder / "texts.json").write_text(json.dumps(chosen, indent=1, ensure_ascii=False) + "\n")


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        oracle("profile", folder)
        for name in ("mlp_all", "threads"):
            # What is printed behind the tables with with_flops is no part of the case.
            texts = [
                text.split("-" * 39 + " Flops Profiler Begin")[0]
                for text in json.loads((path / f"{name}.texts.json").read_text())
            ]
            write_case(name, (path / f"{name}.pb").read_bytes(), texts)
        protobuf = Invention(5, events=60).file()
        (path / "invented.pb").write_bytes(protobuf)
        ((_, texts),) = json.loads(oracle("tables", str(path / "invented.pb"))).items()
        write_case("devices", protobuf, [text + "\n" for text in texts])


if __name__ == "__main__":
    main()
