# SPDX-License-Identifier: Apache-2.0
"""The tab Ranks of the page of a JOB, in a browser, beside what the verbs over the JOB print.

A job of Kineto files with a planted slow rank is collected; the FILEs are deleted. Tables have the rows of the verbs,
the picture has the durations of the steps, and links lead to the timeline of one rank. Hosts have hostile names.
"""

import collections
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from built import built
from page_data import column, read_page, rows
from test_report_page import NODE, chromium, need_browser
from test_report_tables import read_csv

pytest.importorskip("duckdb")

WEB = Path(__file__).resolve().parents[2] / "web"
OPSCOPE = [sys.executable, "-m", "opscope"]
HOSTILE = "<img src=x onerror=hostile=1>\u202e</script><!--"
RANKS, STEPS, SLOW = 8, 12, 5
VERBS = {
    "Ranks": ("ranks", "rows"),
    "Stragglers": ("stragglers", "rows"),
    "Critical ranks": ("critical-ranks", "rows"),
    "Critical steps": ("critical-ranks", "steps"),
    "Collectives": ("collectives", "groups"),
    "Clocks": ("ranks", "rows"),
}


def rank_trace(rank, ranks=RANKS, steps=STEPS, slow=(SLOW,), seed=1):
    """In each step two operators and an all-reduce that ends on all ranks at once. Step 3 is long on rank 1 alone."""
    generator = random.Random(f"{seed} {rank}")
    everyone = [random.Random(f"{seed} {each}") for each in range(ranks)]
    events, begin = [], 10_000
    for step in range(steps):
        work = [300 + each.randint(0, 20) + 150 * (at in slow) for at, each in enumerate(everyone)]
        own, end = work[rank], begin + max(work) + 60
        after = generator.randint(0, 5) + (700 if (rank, step) == (1, 3) else 0)
        events += [
            event(f"ProfilerStep#{step}", "user_annotation", begin, end - begin + after),
            event("aten::mm", "cpu_op", begin + 10, own - 20),
            event("gloo:all_reduce", "user_annotation", begin + own, end - begin - own),
        ]
        begin += max(work) + 1000
    return {
        "distributedInfo": {"rank": rank, "world_size": ranks},
        "host_name": HOSTILE + str(rank // 2),
        "baseTimeNanoseconds": 1_700_000_000_000_000_000,
        "traceEvents": events,
    }


def event(name, category, begin, duration):
    return {"ph": "X", "name": name, "cat": category, "pid": 1, "tid": 1, "ts": begin, "dur": duration}


def run(*arguments, code=0):
    done = subprocess.run([*OPSCOPE, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done


def answer(verb, job):
    return json.loads(run(verb, job, "--json").stdout)


def collect(folder, count, **options):
    job = folder / "job"
    for rank in range(count):
        path = folder / f"rank{rank}.json"
        path.write_text(json.dumps(rank_trace(rank, **options)))
    paths = sorted(folder.glob("rank*.json"))
    run("collect", *paths, "-o", job)
    for path in paths:
        path.unlink()
    return job


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    return collect(tmp_path_factory.mktemp("job"), RANKS)


@pytest.fixture(scope="module")
def page(job):
    path = job.parent / "page.html"
    run("report", job, "-o", path)
    return path


@pytest.fixture(scope="module")
def answers(job):
    return {verb: answer(verb, job) for verb in {verb for verb, _ in VERBS.values()}}


@pytest.fixture(scope="module")
def durations(job):
    """{(rank, step): ns}, from the tables of the JOB."""
    listed = json.loads(run("query", job, "SELECT rank, step, duration_ns FROM steps", "--json").stdout)
    return {(rank, step): duration for rank, step, duration in listed["rows"]}


@pytest.fixture(scope="module")
def seen(job, page, answers):
    """What web/tests/ranks.mjs saw of the page and of `opscope view`."""
    need_browser()
    straggler = answers["stragglers"]["rows"][0]
    manifest = job.parent / "manifest.json"
    manifest.write_text(
        json.dumps({"chromium": chromium(), "path": str(page), "tables": list(VERBS), "straggler": straggler["name"]})
    )
    done = subprocess.run([NODE, WEB / "tests" / "ranks.mjs", manifest], capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def plain(value):
    return ",".join(map(str, value)) if isinstance(value, list) else value


def as_lines(listed, keys):
    return sorted(json.dumps([plain(row[key]) for key in keys]) for row in listed)


def test_tables_have_the_rows_of_the_verbs(seen, answers):
    assert seen["complaints"] == []
    assert seen["tabs"][:3] == ["Overview", "Timeline", "Ranks"]
    shown_keys = collections.defaultdict(set)
    for table, (verb, member) in VERBS.items():
        listed = [{key: plain(value) for key, value in row.items()} for row in answers[verb][member]]
        assert listed, table
        keys, lines = read_csv(seen["tables"][table]["csv"], listed)
        shown_keys[verb, member] |= set(keys)
        assert as_lines(lines, keys) == as_lines(listed, keys), table
        assert seen["tables"][table]["rowCount"] == str(len(listed) + 1)
    for (verb, member), keys in shown_keys.items():
        assert keys == set(answers[verb][member][0]), verb


def test_cards_have_the_facts_of_the_verbs(seen, answers):
    (straggler,) = answers["stragglers"]["rows"]
    assert straggler["name"] == str(SLOW) and straggler["behavior"] == "persistent"
    facts = {
        "Straggler": [straggler[key] for key in ("caused_per_step_ns", "share", "cause", "behavior", "hit_steps")],
        "Ranks": [RANKS, answers["ranks"]["world_size"], len(answers["ranks"]["missing_ranks"])],
        "Step time of all ranks": [answers["ranks"]["mean_step_ns"], answers["stragglers"]["steps"]],
        "Critical path": [answers["critical-ranks"][key] for key in ("length_ns", "balanced_ns")],
    }
    for card, values in facts.items():
        assert seen["cards"][card][: len(values)] == [str(value) for value in values], card


def median(values):
    ordered = sorted(values)
    return ordered[(len(ordered) - 1) // 2]


def check_cells(shown, times, field):
    """Each (rank, step) has a cell with its time, the median of the step, and the one over the other."""
    medians = {step: median([times[rank, step] for rank in range(RANKS)]) for step in range(STEPS)}
    cells = {(int(cell["rank"]), int(cell["step"])): cell for cell in shown}
    assert len(cells) == len(shown) == RANKS * STEPS
    for (rank, step), cell in cells.items():
        assert int(cell[field]) == times[rank, step], (rank, step)
        assert int(cell["median_ns"]) == medians[step], (rank, step)
        assert float(cell["ratio"]) == times[rank, step] / medians[step]
        assert "durations" not in cell
    return {key: float(cell["ratio"]) for key, cell in cells.items()}


def test_every_cell_has_the_time_without_waiting_which_shows_the_slow_rank(seen, durations, job):
    own = dict(durations)
    for row in json.loads(run("collectives", job, "--members", "--json").stdout)["rows"]:
        for member in row["members"]:
            own[member["rank"], row["step"]] -= member["wait_ns"]
    assert seen["measure"] == "own_ns"
    ratios = check_cells(seen["ownCells"], own, "own_ns")
    of_slow = [ratio for (rank, _), ratio in ratios.items() if rank == SLOW]
    others = [ratio for (rank, step), ratio in ratios.items() if rank != SLOW and (rank, step) != (1, 3)]
    assert min(of_slow) > 1.1 > max(others)


def test_every_cell_has_its_duration_and_the_median_of_its_step(seen, durations):
    medians = {step: median([durations[rank, step] for rank in range(RANKS)]) for step in range(STEPS)}
    check_cells(seen["cells"], durations, "duration_ns")
    hottest = max(durations, key=lambda key: durations[key] / medians[key[1]])
    assert (int(seen["hottest"]["rank"]), int(seen["hottest"]["step"])) == hottest == (1, 3)
    assert seen["tooltip"]["shown"] == [
        seen["hottest"][key] for key in ("rank", "step", "duration_ns", "median_ns", "ratio")
    ]
    assert seen["tooltip"]["byPointer"] == ["0", "0"] and seen["tooltip"]["isDescription"]


def test_a_straggler_leads_to_its_first_step_on_its_own_tracks(seen, page, answers):
    (straggler,) = answers["stragglers"]["rows"]
    data = read_page(page)
    steps = rows(data, "steps")
    at = next(i for i, row in enumerate(steps) if row["rank"] == SLOW and row["step"] == straggler["first_step"])
    begin, end = data["tables"]["steps"]["ranges"][at]
    shown = seen["links"]["Stragglers"]
    assert shown["hash"] == {"tab": "timeline", "rank": str(SLOW), "range": f"{begin}..{end}"}
    assert shown["tracks"] == [track["id"] for track in data["timeline"]["tracks"] if track["rank"] == SLOW]
    assert shown["chosen"] == str(SLOW)


def test_every_kind_of_row_and_cell_leads_to_its_rank(seen, page):
    data = read_page(page)
    for name in ("Ranks", "Clocks", "Critical ranks", "Critical steps", "cell"):
        shown = seen["links"][name]
        rank = int(shown["hash"]["rank"])
        assert shown["text"] == str(rank), name
        assert shown["tracks"] == [track["id"] for track in data["timeline"]["tracks"] if track["rank"] == rank], name
        assert ("range" in shown["hash"]) == (name in ("Critical steps", "cell")), name


def test_the_choice_of_a_rank_is_in_the_address_and_gives_way_to_a_span_of_another_rank(seen, page):
    data = read_page(page)
    tracks = {track["id"]: track["rank"] for track in data["timeline"]["tracks"]}
    assert seen["choice"]["options"] == ["", *map(str, range(RANKS))]
    assert [tracks[track] for track in seen["choice"]["tracks"]] == [2]
    assert seen["choice"]["wrong"] == len(tracks)
    assert seen["choice"]["again"] == str(SLOW)  # although a span of another rank is selected
    found = seen["choice"]["search"]
    assert tracks[found["track"]] not in (2, None) and found["rank"] is None and len(found["tracks"]) == len(tracks)


def test_names_stay_text_and_the_tab_is_accessible(seen):
    assert seen["hostile"] == {"elements": 0, "done": None}
    assert any("\\u{202E}" in text for text in seen["hosts"])
    assert seen["axe"] == []
    assert seen["narrow"] == 390
    assert seen["print"] == {"tables": len(VERBS), "controls": 0}


def test_a_page_of_one_rank_has_no_such_tab(tmp_path):
    job = collect(tmp_path, 1, ranks=1, slow=())
    run("report", job, "-o", tmp_path / "page.html")
    data = read_page(tmp_path / "page.html")
    assert "ranks" not in data and "stragglers" not in data["tables"]


def test_chosen_ranks_have_spans_and_all_ranks_have_rows(job, tmp_path):
    path = tmp_path / "page.html"
    done = run("report", job, "--ranks", f"2,{SLOW}", "-o", path)
    assert f"the spans of 2 of {RANKS} ranks" in done.stderr
    data = read_page(path)
    assert {track["rank"] for track in data["timeline"]["tracks"]} == {2, SLOW}
    assert column(data["ranks"]["in_timeline"]) == [2, SLOW]
    shown = {
        row["rank"]: rank
        for row, rank in zip(rows(data, "ranks"), data["tables"]["ranks"]["timeline_ranks"], strict=True)
    }
    assert shown == {rank: rank if rank in (2, SLOW) else None for rank in range(RANKS)}
    run("report", job, "--ranks", "99", "-o", path, code=1)
    run("report", job, "--ranks", "x", "-o", path, code=2)
    run("report", path, "--ranks", "1", "-o", tmp_path / "other.html", code=2)


def test_little_memory_shows_the_straggler_first(job, tmp_path):
    path = tmp_path / "page.html"
    spans = answer("ranks", job)["rows"][0]["spans"]
    run("report", job, "--max-memory", spans * 110 * 2 + 10, "-o", path)
    data = read_page(path)
    shown = column(data["ranks"]["in_timeline"])
    assert len(shown) == 2 and SLOW in shown


def test_missing_ranks_are_named_and_the_page_is_doubtful(tmp_path):
    job = collect(tmp_path, 3, ranks=4, slow=(2,))
    path = tmp_path / "page.html"
    done = run("report", job, "-o", path, code=3)
    assert "rank 3" in done.stderr
    data = read_page(path)
    assert data["quality"]["verdict"] == "doubtful" and column(data["ranks"]["missing_ranks"]) == [3]
    (problem,) = [row for row in rows(data, "job_problems") if row["kind"] == "rank_missing"]
    assert problem["ranks"] == "3" and problem["severity"] == "data_loss"


def test_view_serves_a_job_as_one_trace_with_its_ranks(job):
    need_browser()
    server = subprocess.Popen(
        [*OPSCOPE, "view", str(job)], stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL
    )
    try:
        address = server.stdout.readline().strip()
        manifest = job.parent / "view.json"
        manifest.write_text(json.dumps({"chromium": chromium(), "address": address, "tables": ["Stragglers", "Ranks"]}))
        done = subprocess.run(
            [NODE, WEB / "tests" / "ranks.mjs", manifest], capture_output=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
    finally:
        server.terminate()
        server.wait(timeout=60)
    shown = json.loads(done.stdout)
    listed = [{key: plain(value) for key, value in row.items()} for row in answer("stragglers", job)["rows"]]
    keys, lines = read_csv(shown["tables"]["Stragglers"]["csv"], listed)
    assert as_lines(lines, keys) == as_lines(listed, keys)
    assert shown["links"]["Stragglers"]["hash"]["rank"] == str(SLOW) and shown["links"]["Stragglers"]["tracks"]


def test_a_slow_host_leads_to_the_lowest_of_its_ranks_that_has_spans(tmp_path):
    job = collect(tmp_path, 8, slow=(4, 5))
    (row,) = answer("stragglers", job)["rows"]
    assert (row["set"], row["name"], row["ranks"]) == ("host", HOSTILE + "2", [4, 5])
    for ranks, shown in (([], 4), (["--ranks", "1,5"], 5), (["--ranks", "1"], None)):
        run("report", job, *ranks, "-o", tmp_path / "page.html")
        data = read_page(tmp_path / "page.html")
        table = data["tables"]["stragglers"]
        assert table["timeline_ranks"] == [shown]
        places = {(step["rank"], step["step"]): place for place, step in enumerate(rows(data, "steps"))}
        place = places.get((shown, row["first_step"]))
        assert table["ranges"] == [None if shown is None else data["tables"]["steps"]["ranges"][place]]
        assert rows(data, "stragglers")[0]["ranks"] == "4,5"


def test_a_page_with_little_room_joins_cells_and_folds_rows(tmp_path):
    job = collect(tmp_path, 2, ranks=2, steps=20_000, slow=(1,))
    run("report", job, "--max-size", "1M", "-o", tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size <= 1 << 20
    data = read_page(tmp_path / "page.html")
    for of_measure in data["ranks"]["step_maps"]:
        assert of_measure["steps_per_cell"] >= 20_000 // 512
        assert sum(column(of_measure["cells"]["durations"])) == 2 * 20_000
        assert len(column(of_measure["median_ns"])) == 20_000
    steps = data["tables"]["critical_steps"]
    assert len(steps["values"][0]) + steps["folded"]["rows"] == 20_000


def test_without_duckdb_the_page_has_no_tab_and_says_why(job, tmp_path):
    program = built("src/cli/opscope-native")
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    command = [program, "report", job, "-o", tmp_path / "page.html"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    if "no tab Ranks" not in done.stderr:
        pytest.skip("there is a DuckDB that needs no package")
    assert done.returncode == 0 and "DuckDB" in done.stderr
    data = read_page(tmp_path / "page.html")
    assert "ranks" not in data and {track["rank"] for track in data["timeline"]["tracks"]} == set(range(RANKS))
