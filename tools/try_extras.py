# SPDX-License-Identifier: Apache-2.0
"""Tries the extras of the opscope that this Python has installed; ends with a traceback where one does not hold.

python -I tools/try_extras.py none       no extra is installed: each says in one line what to install
python -I tools/try_extras.py sql        one is: pandas, arrow, sql, mcp, spark or notebook
"""

import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

OPSCOPE = Path(sys.executable).with_name("opscope")


def trace_of_two_ranks(folder):
    """A folder with a trace for each rank."""
    (folder / "traces").mkdir()
    for rank in (0, 1):
        span = {"ph": "X", "pid": 1, "tid": 1, "ts": 10, "dur": 5 + rank, "name": "aten::mm", "cat": "cpu_op"}
        document = {"distributedInfo": {"rank": rank, "world_size": 2}, "traceEvents": [span]}
        (folder / "traces" / f"rank{rank}.json").write_text(json.dumps(document))
    return folder / "traces"


def answer(*arguments):
    """The JSON that the command `opscope` of this environment prints."""
    done = subprocess.run([OPSCOPE, *arguments, "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refusal(*arguments):
    """The one line in which a command says what is missing."""
    done = subprocess.run([OPSCOPE, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1), done
    return done.stderr


def try_none(traces):
    trace = traces / "rank0.json"
    for extra, command in {"sql": ["query", trace, "SELECT 1"], "mcp": ["mcp", trace]}.items():
        assert f"pip install 'opscope[{extra}]'" in refusal(*command), refusal(*command)
    return "says what to install"


def table_of(traces):
    import opscope

    return opscope.open(traces / "rank0.json").spans


def try_pandas(traces):
    assert table_of(traces).to_pandas()["duration"].tolist() == [5000]
    return "gives a DataFrame"


def try_arrow(traces):
    assert table_of(traces).to_arrow()["duration"].to_pylist() == [5000]
    return "gives a table"


def try_sql(traces):
    rows = answer("query", traces / "rank1.json", "SELECT duration FROM spans")["rows"]
    assert rows == [[6000]], rows
    return "answers a query"


def try_mcp(traces):
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    trace = traces / "rank0.json"

    async def asked():
        server = StdioServerParameters(command=str(OPSCOPE), args=["mcp", str(trace)])
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            return (await session.call_tool("summary", {})).content[0].text

    assert json.loads(asyncio.run(asked())) == answer("summary", trace)
    return "answers a client"


def try_spark(traces):
    job = traces.parent / "job"
    subprocess.run([OPSCOPE, "collect", traces, "-o", job, "-q"], check=True)
    rows = answer("ranks", job)["rows"]
    if shutil.which("java") is None:
        return "there is no Java here, so only its packages were installed"
    assert answer("ranks", job, "--engine", "spark", "--master", "local[1]")["rows"] == rows
    return "answers over a job"


def try_notebook(traces):
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "opscope")
    assert "opscope" in shell.magics_manager.magics["cell"]
    return "is loaded"


TRIES = {"none": try_none, "pandas": try_pandas, "arrow": try_arrow, "sql": try_sql, "mcp": try_mcp}
TRIES |= {"spark": try_spark, "notebook": try_notebook}


def main():
    (extra,) = sys.argv[1:]
    has_java = shutil.which("java") is not None
    for known in answer("doctor")["extras"]:
        assert known["is_installed"] or known["name"] != extra or (extra == "spark" and not has_java), known
        assert not (extra == "none" and known["is_installed"]), known
    with tempfile.TemporaryDirectory() as folder:
        print(TRIES[extra](trace_of_two_ranks(Path(folder))))


if __name__ == "__main__":
    main()
