# SPDX-License-Identifier: Apache-2.0
"""``opscope mcp`` with the official client: answers equal what the verbs print, long ones are cut, and nothing but the
opened files is read.
"""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import chrome_json, complete_event
from examples_path import EXAMPLES
from hostile_names import hostile_json
from job_command import rank_trace
from mcp_client import Client, server_command
from tutorial import shape
from waiting import wait_for

import opscope

pytestmark = [pytest.mark.framework(name) for name in ("mcp", "torch", "duckdb")]

ROOT = Path(__file__).resolve().parent.parent.parent
REFERENCE = ROOT / "docs" / "reference"
TOOLS = {"summary", "steps", "devices", "memory", "critical_path", "diff", "advise", "query", "roofline"}
EXPLAINED = [f"opscope://explain/{index}" for index in range(5)]
SQL = "SELECT name, count(*) AS calls FROM spans GROUP BY ALL ORDER BY ALL"


def verb(*arguments):
    """What `opscope ARGUMENTS... --json` prints."""
    command = [sys.executable, "-m", "opscope", *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert done.returncode in (0, 3), done.stderr.decode()
    return done.stdout.decode().rstrip("\n")


def record(path, width):
    """Four steps of a training loop, with shapes and memory."""
    import torch

    import opscope.torch

    model = torch.nn.Sequential(torch.nn.Linear(16, width), torch.nn.ReLU(), torch.nn.Linear(width, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    schedule = opscope.torch.schedule(wait=0, warmup=1, active=4, repeat=1)
    with opscope.torch.profile(schedule=schedule, record_shapes=True, profile_memory=True) as prof:
        for _ in range(5):
            model(torch.ones(8, 16)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            prof.step()
    prof.save(path)
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mcp")
    many = [complete_event(f"operator number {i:05}", 10 * i, 5) for i in range(3000)]
    (folder / "many.json").write_bytes(chrome_json(*many))
    (folder / "hostile.json").write_bytes(hostile_json())
    before, after = record(folder / "before.opscope", 32), record(folder / "after.opscope", 64)
    (folder / "damaged.opscope").write_bytes(after.read_bytes()[: after.stat().st_size * 3 // 4])
    return [before, after, *(folder / name for name in ("many.json", "hostile.json", "damaged.opscope"))]


@pytest.fixture(scope="module")
def client(files):
    with Client(*files) as client:
        yield client


def test_each_tool_only_reads_and_has_typed_arguments_that_are_described(client, files):
    tools = client.tools()
    assert set(tools) == TOOLS
    for tool in tools.values():
        hints = tool.annotations
        assert (hints.read_only_hint, hints.destructive_hint) == (True, False)
        assert (hints.idempotent_hint, hints.open_world_hint) == (True, False)
        assert len(tool.description) > 80
        for name, argument in tool.input_schema["properties"].items():
            assert "type" in argument or "anyOf" in argument or "enum" in argument, name
    fields = client.error("summary", where="nothing = 1").partition("choose from ")[2].strip()
    assert f"Fields: {fields}." in tools["summary"].input_schema["properties"]["where"]["description"]
    assert tools["diff"].input_schema["properties"]["by"]["enum"] == ["name", "shape", "kernel", "module", "step"]
    assert [f"{at}: {path.name}" in client.greeting.instructions for at, path in enumerate(files)] == [True] * 5


@pytest.mark.parametrize(
    ("tool", "arguments", "options"),
    [
        ("summary", {}, []),
        (
            "summary",
            {"group_by": ["name", "shape"], "sort": "count", "limit": 3},
            ["--group-by", "name,shape", "--sort", "count", "--limit", "3"],
        ),
        ("summary", {"where": 'name ~ "mm" and step >= 2'}, ["--where", 'name ~ "mm" and step >= 2']),
        ("summary", {"corrected": True, "explain": True}, ["--corrected", "--explain"]),
        ("steps", {"steps": "2..3"}, ["--steps", "2..3"]),
        ("steps", {"steps": 2, "time": "0us..1s"}, ["--steps", "2", "--time", "0us..1s"]),
        ("devices", {"kernels": True}, ["--kernels"]),
        (
            "memory",
            {"by_step": True, "sort": "peak_bytes", "limit": 2},
            "--by-step --sort peak_bytes --limit 2".split(),
        ),
        ("critical_path", {"sort": "duration_ns", "limit": 5}, ["--sort", "duration_ns", "--limit", "5"]),
        ("advise", {}, []),
        ("roofline", {"peak_flops": 1e12, "peak_bandwidth": 5e10}, "--peak-flops 1e12 --peak-bandwidth 5e10".split()),
    ],
)
def test_an_answer_is_the_json_that_the_verb_prints(client, files, tool, arguments, options):
    name = tool.replace("_", "-")
    assert client.answer(tool, **arguments) == verb(name, files[0], *options)
    assert client.answer(tool, file="after.opscope", **arguments) == verb(name, files[1], *options)


def test_the_answers_about_the_loop_are_not_empty(client):
    assert "aten::addmm" in {row["name"] for row in json.loads(client.answer("summary"))["rows"]}
    assert [row["step"] for row in json.loads(client.answer("steps"))["rows"]] == [1, 2, 3, 4]
    assert json.loads(client.answer("memory"))["devices"][0]["peak_bytes"] > 0
    assert {row["shape"] for row in json.loads(client.answer("roofline"))["rows"]} > {"[]"}


def test_diff_and_query_give_the_json_of_their_verbs(client, files):
    assert client.answer("diff") == verb("diff", files[0], files[1])
    assert client.answer("diff", file=1, other="0", by="shape") == verb("diff", files[1], files[0], "--by", "shape")
    assert client.answer("query", sql=SQL) == verb("query", files[0], SQL)
    assert client.answer("query", sql=SQL, limit=2) == verb("query", files[0], SQL, "--limit", "2")
    assert json.loads(client.answer("query", sql=SQL, limit=2))["truncated"] is True


@pytest.mark.parametrize(
    ("tool", "arguments", "cut"),
    [
        ("summary", {}, "rows"),
        ("critical_path", {}, "rows"),
        ("query", {"sql": "SELECT name, start FROM spans ORDER BY start"}, "rows"),
    ],
)
def test_a_long_answer_is_cut_at_the_end_of_its_longest_list_and_says_so(client, files, tool, arguments, cut):
    text = client.answer(tool, file="many.json", **arguments)
    operands = [files[2], *arguments.values()]
    whole = json.loads(verb(tool.replace("_", "-"), *operands))
    short = json.loads(text)
    assert 99_000 < len(text.encode()) <= 100_000
    assert (short.pop("truncated"), short["left_out"]) == (True, {cut: len(whole[cut]) - len(short[cut])})
    del short["left_out"]
    whole.pop("truncated", None)
    assert short == {**whole, cut: whole[cut][: len(short[cut])]}
    assert 100 < len(short[cut]) < len(whole[cut])


def test_an_answer_that_no_cut_makes_short_is_an_error(client):
    wide = ", ".join(f"1 AS {'c' * 100}{i}" for i in range(900))
    assert "100000 bytes" in client.error("query", sql=f"SELECT {wide}")
    assert json.loads(client.answer("query", sql="SELECT repeat('x', 200000)"))["left_out"] == {"rows": 1}


def test_a_folder_of_many_ranks_is_a_file_like_any_other_and_one_that_vanished_is_an_error(tmp_path):
    for rank in range(2):
        (tmp_path / f"rank{rank}.json").write_text(json.dumps(rank_trace(rank, size=2)))
    verb("collect", *sorted(tmp_path.glob("*.json")), "-o", tmp_path / "job")
    with Client(tmp_path / "job", tmp_path / "rank1.json") as client:
        assert client.answer("steps") == verb("steps", tmp_path / "job")
        assert client.answer("query", sql=SQL) == verb("query", tmp_path / "job", SQL)
        (tmp_path / "rank1.json").unlink()
        assert "rank1.json: No such file or directory" in client.error("summary", file="rank1.json")


def test_hostile_names_are_plain_texts_of_the_answer(client, files):
    for arguments in ({"limit": 40}, {"group_by": ["name", "category"], "limit": 40}):
        options = ["--limit", "40", *(["--group-by", "name,category"] if "group_by" in arguments else [])]
        assert client.answer("summary", file="hostile.json", **arguments) == verb("summary", files[3], *options)
    cut = json.loads(client.answer("query", file="hostile.json", sql="SELECT name, extra FROM spans"))
    whole = json.loads(verb("query", files[3], "SELECT name, extra FROM spans"))
    assert cut["rows"] == whole["rows"][: len(cut["rows"])]
    assert len(cut["rows"]) > 10


@pytest.mark.parametrize("tool", sorted(TOOLS))
def test_each_answer_about_a_damaged_file_says_so(client, tool):
    arguments = {"query": {"sql": "SELECT 1"}, "diff": {"other": "after.opscope"}}.get(tool, {})
    answer = json.loads(client.answer(tool, file="damaged.opscope", **arguments))
    assert answer["quality"]["verdict"] == "doubtful", answer["quality"]


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        (
            "summary",
            {"file": "/etc/passwd"},
            "no opened file is '/etc/passwd'; the opened files are 0: before.opscope, 1:",
        ),
        ("summary", {"file": 9}, "no opened file is 9"),
        ("summary", {"file": -1}, "no opened file is -1"),
        ("diff", {"other": "../after.opscope"}, "no opened file is '../after.opscope'"),
        ("summary", {"limit": "many"}, "valid integer"),
        ("summary", {"limit": 0}, "greater than or equal to 1"),
        ("summary", {"group_by": ["nothing"]}, "'name', 'shape'"),
        ("summary", {"step": 3}, "summary has no argument step; it has file, group_by,"),
        ("summary", {"where": "name ~"}, "--where"),
        ("summary", {"where": "--output=x"}, "--where"),
        ("summary", {"sort": "nothing"}, "cannot sort by 'nothing'; choose one of: name, count,"),
        ("steps", {"steps": "x"}, "--steps: 'x' is not a range"),
        ("query", {}, "Field required"),
        ("query", {"sql": "SELEC 1"}, "only a statement that reads is allowed"),
        ("query", {"sql": "SELECT nothing FROM spans"}, 'column "nothing" not found'),
        ("query", {"sql": "CREATE TABLE t (a INTEGER)"}, "only a statement that reads is allowed"),
        ("query", {"sql": "COPY spans TO '{folder}/spans.csv'"}, "only a statement that reads is allowed"),
        ("query", {"sql": "ATTACH '{folder}/other.db'"}, "only a statement that reads is allowed"),
        ("query", {"sql": "SELECT * FROM read_csv('{folder}/many.json')"}, "file system operations are disabled"),
        ("query", {"sql": "SELECT * FROM '{folder}/many.json'"}, "file system operations are disabled"),
        ("query", {"sql": "SELECT getenv('HOME')"}, "getenv"),
        ("query", {"sql": "SELECT count(*) FROM range(10000000000000)", "max_seconds": 0.5}, "limit of time, 0.5 s"),
        ("nothing", {}, "Unknown tool"),
    ],
)
def test_a_wrong_question_is_an_error_in_words_and_the_server_goes_on(client, files, tool, arguments, message):
    folder = files[0].parent
    before = sorted(folder.iterdir())
    given = {name: value.format(folder=folder) if name == "sql" else value for name, value in arguments.items()}
    assert message in client.error(tool, **given)
    assert sorted(folder.iterdir()) == before
    assert json.loads(client.answer("query", sql="SELECT 40 + 2"))["rows"] == [[42]]


def test_the_tables_resource_has_the_columns_and_types_of_queries_and_the_meanings_of_the_reference(client):
    text = client.resource("opscope://tables")
    sql = "SELECT table_name, column_name, data_type FROM information_schema.columns ORDER BY ALL"
    described = json.loads(client.answer("query", sql=sql))["rows"]
    reference = (REFERENCE / "tables.md").read_text()
    written = []
    for part in text.split("\n## ")[1:]:
        table = part.split("\n")[0]
        columns = re.findall(r"^\| `(\w+)` \| ([A-Z]\S*) \| (.*) \|$", part, re.MULTILINE)
        written += [[table, name, type] for name, type, _ in columns]
        for name, _, meaning in columns[1:]:
            plain = re.sub(r" \((row of|nanoseconds|NULL: unknown)[^()]*\)$", "", meaning)
            cells = re.findall(rf"^\| `{name}` \|.*\| (.*) \|$", reference, re.MULTILINE)
            first, _, rest = plain.partition(". ")  # of a long text the page has the rest below the table
            assert plain in cells or (f"{first}." in cells and f"`{name}`: {rest}\n" in reference), (table, name)
    assert sorted(written) == described
    assert text.count("\n## ") == reference.count("\n## ")


def test_the_definitions_resource_has_every_field_of_every_answer(client):
    parts = client.resource("opscope://definitions").split("\n## ")[1:]
    defined = {}
    for part in parts:
        tool, name = re.match(r"(.+), `(\w+)`", part).groups()
        defined.setdefault((tool, name), set()).update(re.findall(r"^\| `(\w+)` \| \S", part, re.MULTILINE))
    reference = (REFERENCE / "results.md").read_text()
    for part in reference.split("\n## ")[1:]:
        verb_name, name = re.match(r"`opscope ([\w .-]+)`(?:, `(\w+)`)?", part).groups()
        tool = "each tool with `explain`" if name == "explain" else verb_name.replace("-", "_")
        if tool in TOOLS or name == "explain":
            assert defined.pop((tool, name)) == set(re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE)), part[:40]
    assert not defined


def test_the_explain_resources_have_what_each_verb_prints_about_its_basis(client, files):
    assert client.resources() == ["opscope://tables", "opscope://definitions", *EXPLAINED]
    command = [sys.executable, "-m", "opscope", "steps", str(files[1]), "--explain", "--limit=1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert "Spans that the answer used" in done.stderr
    assert f"\nsteps\n{done.stderr}\n" in client.resource("opscope://explain/1")


class RawServer:
    """A server whose standard output the test reads itself, after the greeting."""

    def __init__(self, *files):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(server_command(*files), stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        known = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        self.send(id=1, method="initialize", params=known)
        self.greeting = self.line()
        self.send(method="notifications/initialized")

    def send(self, **message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def call(self, id, tool, **arguments):
        self.send(id=id, method="tools/call", params={"name": tool, "arguments": arguments})

    def line(self):
        return json.loads(self.process.stdout.readline())

    def children(self):
        pid = self.process.pid
        return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()

    def end(self):
        """(exit code, rest of the output, messages)"""
        self.process.stdin.close()
        with self.process as process:
            return process.wait(timeout=60), process.stdout.read(), process.stderr.read()


def test_standard_output_has_the_protocol_alone_and_the_server_ends_with_its_input(files):
    server = RawServer(*files)
    server.call(2, "summary", file="damaged.opscope")
    answer = server.line()
    server.call(3, "query", sql="SELEC")
    assert [server.greeting["id"], answer["id"], server.line()["id"]] == [1, 2, 3]
    code, rest, messages = server.end()
    assert (code, rest) == (0, "")
    assert "Traceback" not in messages
    assert "damaged.opscope" in messages  # said once, at the start, as other verbs do


CANCEL_S = 30  # less than the limit of a query


def test_a_query_ends_when_the_client_cancels_it_or_leaves(files):
    server = RawServer(files[0])
    slow = {"sql": "SELECT count(*) FROM range(10000000000000)"}
    server.call(2, "query", **slow)
    wait_for(server.children, limit_s=CANCEL_S)
    server.send(method="notifications/cancelled", params={"requestId": 2})
    wait_for(lambda: not server.children(), limit_s=CANCEL_S)
    server.call(3, "query", **slow)
    wait_for(server.children, limit_s=CANCEL_S)
    (child,) = server.children()
    assert server.end()[0] == 0
    assert not Path(f"/proc/{child}").exists()


def test_the_page_has_a_configuration_and_names_each_tool():
    page = (ROOT / "docs" / "how-to" / "ask_with_an_agent.md").read_text()
    (text,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    server = json.loads(text)["mcpServers"]["opscope"]
    assert server == {"command": "opscope", "args": ["mcp", "/data/run.opscope"]}
    assert [f"`{tool}`" in page for tool in TOOLS] == [True] * len(TOOLS)


def failed(*arguments, code=""):
    """Exit code and message of a server that does not start."""
    command = server_command(*arguments)
    if code:
        program = f"import sys; {code}; from opscope.__main__ import main; sys.exit(main())"
        command = [sys.executable, "-c", program, "mcp", *map(str, arguments)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == ""
    return done.returncode, done.stderr


def test_a_file_that_cannot_be_read_is_an_error_before_the_server_starts(files, tmp_path):
    (tmp_path / "text.json").write_text("no trace")
    missing = tmp_path / "missing.opscope"
    assert failed(files[0], missing) == (1, f"opscope: {missing}: No such file or directory\n")
    code, message = failed(tmp_path / "text.json")
    assert (code, message.count("\n")) == (1, 1)
    assert "text.json" in message
    assert failed("-") == (2, "opscope: mcp: standard input has the protocol, so '-' cannot be a file\n")


def test_without_the_extra_one_line_says_what_to_install(files):
    code, message = failed(files[0], code="import sys; sys.modules['mcp'] = None")
    assert (code, message.count("\n")) == (1, 1)
    assert re.fullmatch(r"opscope: mcp: needs the package mcp.* pip install 'opscope\[mcp\]'\n", message)


def test_the_example_asks_as_an_agent_does_and_the_page_shows_it(files):
    example = [sys.executable, EXAMPLES / "ask_over_mcp.py", files[0]]
    printed = subprocess.run(example, capture_output=True, text=True, timeout=60, check=True).stdout
    page = REFERENCE.parent / "how-to" / "ask_with_an_agent.md"
    shown = re.search(r"it prints:\n\n```text\n(.*?)```", page.read_text(), re.DOTALL)[1]
    *findings, slowest, operators, counted, refused = printed.splitlines()
    *shown_findings, _, shown_operators, _, _ = shown.splitlines()
    assert {*shape("\n".join((slowest, counted, refused)))} <= {*shape(shown)}
    finding = re.compile(r"\w+, \w+ confidence: saves \d+ ns per step")
    assert len(shown_findings) == 3 and all(map(finding.fullmatch, findings + shown_findings))
    longest = max(json.loads(verb("steps", files[0]))["rows"], key=lambda row: row["duration_ns"])["step"]
    costly = ("--steps", longest, "--where", "kind = operator", "--sort", "self_ns", "--limit", "2")
    rows = [(row["name"], row["count"]) for row in json.loads(verb("summary", files[0], *costly))["rows"]]
    assert (slowest, operators) == (f"the slowest step: {longest}", str(rows))
    assert len(rows) == len(ast.literal_eval(shown_operators)) == 2
    assert f" [[{len(opscope.open(files[0]).spans)}]] " in counted and "only a statement that reads" in refused


def test_the_package_does_not_import_the_protocol():
    code = "import sys, opscope, opscope.integrations.mcp_server; print('mcp' in sys.modules, 'anyio' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "False False\n"
    assert opscope.__version__
