# SPDX-License-Identifier: Apache-2.0
"""Step of the build: tests a library for the package on the build machine.

    python -m opscope.adapters.try_carried LIBRARY FACTS NOTE

Writes FACTS, a JSON file, and the results of the self-test to NOTE. Without NOTE, where the library cannot be tested,
`opscope doctor` says "not tried yet". Never fails.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from .parts import parse_parts

LIMIT_S = 180


def _output(module: str, library: str) -> tuple[int, str]:
    command = [sys.executable, "-m", module, library]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return 1, str(error)
    return done.returncode, done.stdout + done.stderr


def main() -> int:
    library, facts, note = sys.argv[1:]
    results = json.loads(Path(facts).read_text())
    if Path(library).name.startswith("libopscope_torch"):
        status, output = _output("opscope.adapters.torch_self_test", library)
        if status == 0:
            results["parts"] = parse_parts(output)
    else:
        status, output = _output("opscope.adapters.python_self_test", library)
        results["tried"] = status == 0
    if status != 0:
        print(f"{library} was not tried here: {output.strip()[-500:]}")
    Path(note).write_text(json.dumps(results) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
