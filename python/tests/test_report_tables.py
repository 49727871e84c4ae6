# SPDX-License-Identifier: Apache-2.0
"""Every table of the page of ``opscope report`` in Chromium, in every order of every column, beside the verbs' JSON.

Also what flame graphs, tooltips and the groups of Operators show. web/tests/tables.mjs drives the pages.
"""

import csv
import io
import json
import subprocess

import pytest
from conftest import chrome_json, complete_event
from page_data import columns, read_page
from test_report_page import NODE, OPSCOPE, ROOT, WEB, answer, chromium, need_browser

import opscope

SAMPLES = ROOT.parent / "shared" / "samples" / "kineto"
RECORDED = ROOT / "tests" / "recorded_on_gpu"
WORKS = "device >= 0 and (kind = kernel or kind = copy or kind = set)"
GROUPS = ("shape", "stack", "module")


def modules_trace():
    """Modules and Python calls, ties of all kinds, names beyond ASCII, unknown values."""
    events = []
    for i, name in enumerate(["main", "zeta", "\U0001f680", "\uffee", "", "Main", "=1"]):
        at = 1000 * i
        events.append(complete_event(f"train.py(3): {name}", at, 900, cat="python_function"))
        events.append(complete_event(f"nn.Module: Net_{i % 2}", at + 10, 800, cat="python_function"))
        events.append(complete_event(f"nn.Module: Linear_{i % 3}", at + 20, 300, cat="python_function"))
        shapes = {"Input Dims": [[2, 3 + i % 2], [3 + i % 2, 4]], "Input type": ["float", "float"]}
        events.append(complete_event("aten::mm", at + 30, 100, **shapes))
        events.append(complete_event(name, at + 400, 100))
    return chrome_json(*events)


def sample(name, fallback):
    """A sample of another profiler, or, in a clone without them, a recording of the project."""
    return SAMPLES / name if (SAMPLES / name).exists() else RECORDED / fallback


def traces(folder):
    """By page: the trace and the baseline."""
    modules = folder / "modules.json"
    modules.write_bytes(modules_trace())
    yield "modules", modules, None
    yield "torch on the CPU", ROOT / "tests" / "golden" / "torch_table" / "adam_memory" / "trace.json.gz", None
    yield "CUDA", sample("cuda_alexnet.json.gz", "streams.torch.json.gz"), None
    yield "training", RECORDED / "training.opscope", RECORDED / "device_allocations.opscope"
    yield (
        "two ranks",
        sample("cuda_rank1_sampled.json.gz", "launch_bound.opscope"),
        sample("cuda_rank0_sampled.json.gz", "sync_points.opscope"),
    )


def expected_tables(trace, baseline):
    """By name: tab, keys ("all": those of the verb that are no lists) and rows."""
    steps, devices, memory = answer("steps", trace), answer("devices", trace), answer("memory", trace)
    tables = {
        "Steps": ("overview", "all", steps["rows"]),
        "Devices": ("overview", "all", devices["rows"]),
        "Findings": ("overview", ["message", "saving_ns", "share"], answer("advise", trace)["rows"]),
        "Operators": ("operators", "all", answer("summary", trace)["rows"]),
        "Roofline": ("operators", "some", answer("roofline", trace)["rows"]),
        "Memory": ("memory", "all", memory["devices"]),
        "Memory by operator": ("memory", "all", memory["rows"]),
        "Problems": ("about", "in another order", answer("info", trace)["problems"]),
    }
    if all(not row["flops"] and not row["bytes"] for row in tables["Roofline"][2]):
        tables["Roofline"] = ("operators", "some", [])
    works = answer("summary", trace, "--where", WORKS)["rows"]
    works = [{**row, "total_ns": row["total_with_recursion_ns"]} for row in works if row["on"] == "device"]
    tables["Kernels"] = ("kernels", ["name", "count", "total_ns", "mean_ns"], works)
    modules = answer("summary", trace, "--where", "kind = module")["rows"]
    tables["Modules"] = ("modules", ["name", "count", "total_ns", "self_ns"], modules)
    for group in GROUPS:
        rows = answer("summary", trace, "--group-by", f"name,{group}")["rows"]
        tables[f"Operators by {group}"] = ("operators", "all", rows if any(row[group] for row in rows) else None)
    if baseline is not None:
        tables["Compare"] = ("compare", "all", answer("diff", baseline, trace)["rows"])
    return tables


def columns_to_sort(page, group):
    """The columns of a table that the browser sorts, None for all. Grouped operators have the same on each page."""
    return None if group is None or page == "modules" else ["name", group, "total_ns"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """By name: what the verbs print, what the page shows, the page, the trace and its baseline."""
    need_browser()
    folder = tmp_path_factory.mktemp("tables")
    expected, manifest, inputs = {}, [], {}
    for name, trace, baseline in traces(folder):
        page = folder / f"{len(manifest)}.html"
        command = [*OPSCOPE, "report", trace, "-o", page, *([] if baseline is None else ["--baseline", baseline])]
        done = subprocess.run(list(map(str, command)), capture_output=True, timeout=300, check=False)
        assert done.returncode in (0, 3), done.stderr.decode()
        expected[name], inputs[name] = expected_tables(trace, baseline), (page, trace, baseline)
        tables = []
        for table, (tab, _, rows) in expected[name].items():
            shown_name, _, group = table.partition(" by ") if table.startswith("Operators by ") else (table, "", None)
            if rows is not None:
                pressed = columns_to_sort(name, group)
                tables.append({"name": shown_name, "tab": tab, "group": group, "sorted": pressed})
        manifest.append({"name": name, "path": str(page), "tables": tables})
    path = folder / "manifest.json"
    path.write_text(json.dumps({"chromium": chromium(), "pages": manifest}))
    done = subprocess.run([NODE, WEB / "tests" / "tables.mjs", path], capture_output=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr.decode()
    shown = json.loads(done.stdout)
    return {name: (expected[name], shown[name], *inputs[name]) for name in expected}


def read_csv(text, rows):
    """The lines as values of the kinds that the verb's rows have, with their apostrophes taken off."""
    keys, *lines = csv.reader(io.StringIO(text, newline=""))
    is_text = {key: any(isinstance(row[key], str) for row in rows) for key in keys}
    may_lack = {key: any(row[key] is None for row in rows) for key in keys}  # a column has no texts of length 0 then

    def value(key, cell):
        if is_text[key] and not (cell == "" and may_lack[key]):
            return cell.removeprefix("'")
        return None if cell == "" else json.loads(cell)

    return keys, [{key: value(key, cell) for key, cell in zip(keys, line, strict=True)} for line in lines]


def name_key(keys, rows):
    """The column that orders ties; None: no column has texts."""
    texts = (key for key in keys if any(isinstance(row[key], str) for row in rows))
    return "name" if "name" in keys else next(texts, None)


def sorted_rows(rows, key, name, is_falling):
    """By the words of interface 3.3: by value, ties by name; unknown values last."""
    rows = sorted(rows, key=lambda row: row.get(name) or "")
    known = sorted((row for row in rows if row[key] is not None), key=lambda row: row[key], reverse=is_falling)
    return known + [row for row in rows if row[key] is None]


def as_set(rows, keys):
    return sorted(json.dumps([row[key] for key in keys]) for row in rows)


def tables_of(pages):
    for page, (expected, found, *_) in pages.items():
        assert found["complaints"] == []
        for table, (_, keys, rows) in expected.items():
            if rows:
                assert found["tables"][table] is not None, (page, table)
                yield f"{page}: {table}", keys, rows, found["tables"][table]
            else:
                assert found["tables"].get(table) is None, (page, table)


def plain_keys(rows):
    return [key for key in rows[0] if not any(isinstance(row[key], (list, dict)) for row in rows)]


def test_tables_have_all_rows_and_columns_of_the_verbs(pages):
    seen = set()
    for where, keys, rows, shown in tables_of(pages):
        seen.add(where.partition(": ")[2])
        got, lines = read_csv(shown["first"], rows)
        assert got == shown["headings"], where
        if keys == "all":
            assert got == sorted(plain_keys(rows), key=lambda key: key != "name"), where  # the name comes first
        elif keys == "in another order":
            assert sorted(got) == sorted(plain_keys(rows)), where
        elif keys == "some":
            assert set(got) <= set(plain_keys(rows)), where
        else:
            assert got == keys, where
        assert as_set(lines, got) == as_set(rows, got), where
        assert shown["rowCount"] == str(len(rows) + 1), where
    tables = {"Steps", "Devices", "Findings", "Operators", "Roofline", "Memory", "Memory by operator", "Kernels"}
    assert seen - {"Problems"} == tables | {"Modules", "Compare", *(f"Operators by {group}" for group in GROUPS)}


def test_cells_have_the_exact_values(pages):
    for where, _, rows, shown in tables_of(pages):
        keys, lines = read_csv(shown["first"], rows)
        assert shown["shown"], where
        for index, cells in shown["shown"]:
            line = lines[int(index) - 2]
            text = [
                cell if isinstance(line[key], str) else cell and json.loads(cell)
                for key, cell in zip(keys, cells, strict=True)
            ]
            assert text == ["" if line[key] is None else line[key] for key in keys], (where, index)


def test_each_column_sorts_in_both_directions_with_ties_by_name(pages):
    for where, _, rows, shown in tables_of(pages):
        page, _, group = where.replace(": Operators by ", "/").partition("/")
        assert {key for key, *_ in shown["orders"]} == set(columns_to_sort(page, group or None) or shown["headings"]), (
            where
        )
        for key, direction, text in shown["orders"]:
            keys, lines = read_csv(text, rows)
            name = name_key(keys, rows)
            expected = sorted_rows(rows, key, name, direction == "descending")
            got, wanted = ([(row[key], row.get(name) or "") for row in each] for each in (lines, expected))
            assert got == wanted, (where, key, direction)
        directions = [direction for key, direction, _ in shown["orders"]]
        assert directions[::2] != directions[1::2] and set(directions) == {"ascending", "descending"}, where


def test_operators_offer_the_groups_that_the_trace_has(pages):
    for page, (expected, found, *_) in pages.items():
        offered = {group: expected[f"Operators by {group}"][2] is not None for group in GROUPS}
        operators = found["operators"]
        assert operators["options"] == [["name", False], *([group, not offered[group]] for group in GROUPS)], page
        hints = {"shape": "record_shapes=True", "stack": "with_stack=True", "module": "with_modules=True"}
        titles = {"shape": "input shapes", "stack": "call stack", "module": "module"}
        for group in GROUPS:
            assert (f"Group by {titles[group]}: " in operators["description"]) != offered[group], (page, group)
            assert offered[group] or hints[group] in operators["description"], (page, group)
        assert operators["chosen"] == operators["last"], page
        assert operators["fallback"] == "name", page


def facts(values):
    """Title to number; the first value is the name."""
    return values[0][1], {title: float(value) for title, value in values[1:]}


def test_flame_graphs_name_what_is_zoomed_hovered_and_matched(pages):
    assert any("compare" in found["flame"] for _, found, *_ in pages.values())
    for page, (_, found, *_) in pages.items():
        for tab, shown in found["flame"].items():
            name, whole = facts(shown["whole"])
            assert name == "all" and whole["self"] == 0, (page, tab)
            first, values = facts(shown["first"])
            assert facts(shown["byKeyboard"]) == (first, values) and shown["described"], (page, tab)
            assert shown["zoomed"] == ["all", first] and shown["back"] == 1, (page, tab)
            assert shown["isInWindow"] and shown["after"] == 0, (page, tab)
            matched = [float(value) for _, value in shown["matched"]]
            assert matched[0] >= values["total"] and matched[1] == pytest.approx(matched[0] / whole["total"]), (
                page,
                tab,
            )
            assert "total" in facts(shown["hovered"])[1], (page, tab)


def names_on_other_tracks(path, *kinds_of_threads):
    """Names of spans on tracks of other kinds, and the span of the whole recording: flame graphs leave them out."""
    trace = opscope.open(path)
    spans, kinds = trace.spans, trace.tracks["kind"]
    tracks = zip(spans["name"], spans["track"], strict=True)
    return {name for name, track in tracks if kinds[track] not in kinds_of_threads} | {"PyTorch Profiler (0)"}


def test_the_difference_flame_graph_adds_up_to_summary_and_diff(pages):
    compared = 0
    for page, (expected, found, path, trace, baseline) in pages.items():
        if baseline is None:
            continue
        _, whole = facts(found["flame"]["compare"]["whole"])
        elsewhere = names_on_other_tracks(trace, 0) | names_on_other_tracks(baseline, 0)
        for key, side in (("total", trace), ("total, baseline", baseline)):
            rows = [row for row in answer("summary", side)["rows"] if row["on"] == "host"]
            left_out = names_on_other_tracks(side, 0, 1, 2)
            assert whole[key] == sum(r["self_ns"] for r in rows if r["name"] not in left_out), (page, key)
        data = read_page(path)
        tree = next(each for each in data["tree_diffs"] if each["metric"] == "time")
        assert tree["folded"] == 0
        keys = ("base_count", "base_self", "count", "self")
        sums = {}
        for name, *values in columns(tree, "name", *keys):
            text = data["strings"][name]
            sums[text] = [a + b for a, b in zip(sums.get(text, [0] * 4), values, strict=True)]
        for row in expected["Compare"][2]:
            if row["name"] not in elsewhere:
                compared += 1
                values = [row["a_count"], row["a_self_ns"], row["b_count"], row["b_self_ns"]]
                assert sums[row["name"]] == values, (page, row["name"])
    assert compared > 100


def test_the_tooltip_of_a_span_says_what_the_details_say(pages):
    for page, (_, found, *_) in pages.items():
        shown = found["tooltips"]
        fields = dict(shown["shown"][1:])
        assert shown["shown"][0][1] == shown["details"]["name"], page
        assert (
            fields["duration"] == shown["details"]["duration_ns"] and fields["self"] == shown["details"]["self_ns"]
        ), page
        assert 0 <= float(fields["of the trace"]) <= 1 and fields["track"], page
        assert shown["inWindow"] and not shown["stealsPointer"] and not shown["inPrint"], page
        assert shown["afterEscape"] == 0, page


def test_the_text_of_a_moment_is_its_value(pages):
    units = {"ns": 1, "µs": 1e3, "us": 1e3, "ms": 1e6, "s": 1e9}
    for page, (_, found, _, _, _) in pages.items():
        shown = found["tooltips"]
        number, unit = shown["startText"].split()
        moment = int(shown["details"]["start_ns"])
        assert float(number.replace(",", "")) * units[unit] == pytest.approx(moment, rel=0.01, abs=1), page
