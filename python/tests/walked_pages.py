# SPDX-License-Identifier: Apache-2.0
"""What web/tests/walk.mjs saw of a page, beside what the other commands and the trace itself say.

The expected numbers are those of ``opscope VERB --json``, or are computed from the tables of the trace in the plainest
way. A name, a range or a row that differs is a sentence in the list that ``differences`` returns.
"""

import collections
import csv
import functools
import io
import json
import subprocess
from pathlib import Path

from built import built

import opscope

NODE = Path(__file__).parents[2] / ".venv" / "bin" / "node"
WALK = Path(__file__).parents[2] / "web" / "tests" / "walk.mjs"
PROGRAM = str(built("src/cli/opscope-native"))
TABS = ["Overview", "Timeline", "Flame graph", "Operators", "Kernels", "Memory", "Modules", "Compare", "About"]
KERNEL, COPY, SET, MODULE, STREAM = 2, 3, 4, 11, 1  # numbers of span kinds and of a track kind
ASYNC = 2  # of a span's flags
NO_PARENT = 2**32 - 1
# Everything of which the page consists, whatever the names in the trace are.
ELEMENTS = set(
    """html head meta link title script style body noscript bdi div header main nav footer section p span strong small
    h1 h2 h3 input output button select option dialog dl dt dd kbd ul ol li a i label canvas figure figcaption table
    thead tbody tr th td svg line""".split()
)
ATTRIBUTES = set(
    """autocomplete charset class colspan content dir disabled height hidden href http-equiv id lang name open
    placeholder rel role scope spellcheck stroke-dasharray stroke-width style tabindex title type value
    viewBox width x1 x2 y1 y2""".split()
)
DATA = set(
    """data-column data-empty data-end data-error data-field data-flow data-folded data-schema data-start data-state
    data-theme data-theme-choice data-track data-value data-verdict""".split()
)


def native(*arguments):
    """The object that a verb prints with --json."""
    done = subprocess.run([PROGRAM, *map(str, arguments), "--json"], capture_output=True, timeout=120, check=False)
    assert done.returncode in (0, 3), done.stderr.decode()
    return json.loads(done.stdout)


def asked(name, page, expected=None, **options):
    """A page in the form that walk.mjs takes: a file or an address."""
    flow = expected and expected.flow()
    defaults = {"query": expected.query if expected else "", "flow": expected.key(flow[0]) if flow else ""}
    address = page if isinstance(page, str) else page.absolute().as_uri()
    return {"name": name, "address": address, "axe": False, "frame": False, **defaults, **options}


def walk(folder, chromium, pages):
    """What walk.mjs saw of each page, by name."""
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps({"chromium": chromium, "pages": pages}))
    done = subprocess.run([NODE, WALK, manifest], capture_output=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return {seen["name"]: seen for seen in json.loads(done.stdout)}


class Expected:
    """What a page must show of one file."""

    def __init__(self, path, title=None, baseline=None):
        self.path, self.title, self.baseline = path, title or Path(path).name, baseline
        trace = opscope.open(path)
        self.info = native("info", path)
        spans, processes, tracks = trace.spans, list(trace.processes), list(trace.tracks)
        self.name, self.category = spans.text("name"), spans.text("category")
        self.start, self.duration = list(spans["start"]), list(spans["duration"])
        self.parent = [None if parent == NO_PARENT else parent for parent in spans["parent"]]
        self.track = list(spans["track"])
        self.kind, self.flags = list(spans["kind"]), list(spans["flags"])
        self.track_kind = [track["kind"] for track in tracks]
        self.track_ids, known = [], collections.Counter()
        for track in tracks:
            process = processes[track["process"]]
            pid, tid = process["pid_text"] or process["pid"], track["tid_text"] or track["tid"]
            # A stream and its annotations have one id; the second one in the trace gets a number (web_data.md).
            known[pid, tid] += 1
            self.track_ids.append(f"{pid}/{tid}" + (f"#{known[pid, tid]}" if known[pid, tid] > 1 else ""))
        self.span_counts = [track["span_count"] for track in tracks]
        self.flows = list(trace.flows)
        self.is_long = len(self.name) > 500_000  # where each command takes a second, few of them run
        # The middle one of the names that can be typed: a byte that is no UTF-8 cannot.
        typed = [name for name in self.name if name.isprintable()]
        self.query = typed[len(typed) // 2][:6] if typed else ""

    def key(self, span):
        return f"{self.track_ids[self.track[span]]}@{self.start[span]}+{self.duration[span]}"

    def matches(self):
        """In the order of "Next match"."""
        wanted = self.query.lower()
        found = [span for span, name in enumerate(self.name) if wanted in name.lower()]
        return sorted(found, key=lambda span: (self.start[span], self.track[span], span))

    def flow(self):
        """A flow that is the only one of both its spans, each the first one of its key: (from, to), or None."""
        ends = [(flow["start_span"], flow["end_span"]) for flow in self.flows]
        times = collections.Counter(span for pair in ends for span in pair if span is not None)
        first = {}
        for span in range(len(self.name)):
            first.setdefault(self.key(span), span)
        for pair in ends:
            if all(span is not None and times[span] == 1 and first[self.key(span)] == span for span in pair):
                return pair
        return None

    def selection(self, begin, end):
        """{name: [count, total, self]} of the spans that overlap [begin, end)."""
        rows = collections.defaultdict(lambda: [0, 0, 0])
        ends = [start + duration for start, duration in zip(self.start, self.duration, strict=True)]
        # For self times a span ends where its parent ends or its next sibling begins, so that no moment counts twice.
        # Parents stand before children.
        clipped, begin_of_next = list(ends), {}
        for span in reversed(range(len(self.name))):
            if not self.flags[span] & ASYNC:
                family = self.track[span], self.parent[span]
                clipped[span] = max(self.start[span], min(ends[span], begin_of_next.get(family, ends[span])))
                begin_of_next[family] = self.start[span]
        for span, name in enumerate(self.name):
            inside = max(0, min(ends[span], end) - max(self.start[span], begin))
            if not (inside or (self.duration[span] == 0 and begin <= self.start[span] < end)):
                continue
            row = rows[name]
            row[0] += 1
            row[1] += inside
            if (parent := self.parent[span]) is not None:
                clipped[span] = min(clipped[span], clipped[parent])
            own = max(0, min(clipped[span], end) - max(self.start[span], begin))
            row[2] += own
            if parent is not None:
                rows[self.name[parent]][2] -= own
        return {name: row for name, row in rows.items() if row[0]}

    @functools.cached_property
    def tables(self):
        """{table: rows}, those of which the page shows all columns."""
        tables = {"Operators": native("summary", self.path)["rows"], "Problems": self.info["problems"]}
        tables["Steps"] = native("steps", self.path)["rows"]
        if self.is_long:
            return tables
        memory = native("memory", self.path)
        tables |= {"Memory": memory["devices"], "Memory by operator": memory["rows"]}
        tables |= {"Devices": native("devices", self.path)["rows"], "Findings": native("advise", self.path)["rows"]}
        if self.baseline is not None:
            tables["Compare"] = native("diff", self.baseline, self.path)["rows"]
        return tables

    def works(self, kinds, is_device, total):
        """{name: [count, total]} of the spans of these kinds. The total is this column of `summary`, None if the row
        there has other spans, too.
        """
        counts = collections.Counter(
            name
            for name, kind, track in zip(self.name, self.kind, self.track, strict=True)
            if kind in kinds and (self.track_kind[track] == STREAM) == is_device
        )
        on = "device" if is_device else "host"
        rows = {row["name"]: row for row in self.tables["Operators"] if row["on"] == on}
        is_all = {name: name in rows and rows[name]["count"] == count for name, count in counts.items()}
        return {name: [count, rows[name][total] if is_all[name] else None] for name, count in counts.items()}


def read_csv(text):
    """(keys, rows), without the apostrophe in front of what a spreadsheet would run."""
    lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    return lines[0], [[cell[1:] if cell.startswith("'") else cell for cell in line] for line in lines[1:]]


def is_same(shown, value):
    if value is None:
        return shown == ""
    if isinstance(value, bool):
        return shown == str(value).lower()
    if isinstance(value, float):
        return shown != "" and float(shown) == value
    return shown == str(value)


def differences(seen, expected):
    """Sentences; none if the page shows what it should."""
    if seen["complaints"] or "elements" not in seen:
        return seen["complaints"] or ["the walk did not end"]
    return [
        *_document(seen, expected),
        *_panels(seen),
        *_tables(seen, expected),
        *_timeline(seen, expected),
        *_search(seen, expected),
        *elements(seen),
        *seen.get("axe", []),
    ]


def elements(seen):
    """What no page consists of."""
    found = seen["elements"]
    yield from (f"element {tag}" for tag in sorted(set(found["tags"]) - ELEMENTS))
    names = {name for name in found["attributes"] if not name.startswith("aria-")} - ATTRIBUTES - DATA
    yield from (f"attribute {name}" for name in sorted(names))
    yield from (f"address that begins with {begin!r}" for begin in found["links"] if begin not in ("#", "d"))
    if found["scripts"] != 2 or found["hostile"] is not None:
        yield f"{found['scripts']} scripts, {found['hostile']!r} done by a name"


def _document(seen, expected):
    tabs = [tab for tab in TABS if tab != "Compare" or expected.baseline is not None]
    facts = {
        "title": (seen["title"], f"{expected.title} - opscope"),
        "verdict": (seen["verdict"], expected.info["quality"]["verdict"]),
        "tabs": (list(seen["panels"]), tabs),
    }
    yield from (f"{fact} is {is_!r}, not {should!r}" for fact, (is_, should) in facts.items() if is_ != should)


def _panels(seen):
    for tab, panel in seen["panels"].items():
        if panel["label"] != tab or panel["alerts"] or panel["text"] == 0:
            yield f"{tab}: label {panel['label']!r}, {panel['alerts']} alerts, {panel['text']} characters"
        yield from (f"{tab}: {text}" for text in panel["badTexts"])
        if panel["empty"] is not None and (panel["tables"] or not panel["empty"].endswith(".")):
            yield f"{tab} is empty, with {len(panel['tables'])} tables: {panel['empty']!r}"
        for table in panel["tables"]:
            yield from (f"{table['name']}: {fault}" for fault in _table(table, seen["copied"].get(table["name"])))


def _table(table, copied):
    """The rows in view beside all rows as copied."""
    if copied is None:
        return "no button copies it as CSV"
    keys, rows = read_csv(copied)
    if table["rowcount"] != str(len(rows) + 1):
        yield f"{table['rowcount']} rows, {len(rows)} copied"
    if table["columns"] != keys:
        yield f"columns {table['columns']}, {keys} copied"
    for row in table["rows"]:
        if row["values"] != (line := rows[int(row["index"]) - 2]) and row["folded"] is None:
            yield f"row {row['index']} has {row['values']}, {line} copied"
    if len(rows) and not table["rows"]:
        yield "no row in view"


def _tables(seen, expected):
    for name, wanted in expected.tables.items():
        copied = seen["copied"].get(name)
        if (copied is None) != (not wanted):
            yield f"{name}: {len(wanted)} rows expected, {'none' if copied is None else 'some'} shown"
        elif copied is not None:
            yield from (f"{name}: {fault}" for fault in _rows(*read_csv(copied), wanted))
    # A kernel inside one of its name counts in the total, as in `devices`; a module in one of its name does not.
    kernels = expected.works({KERNEL, COPY, SET}, True, "total_with_recursion_ns")
    modules = expected.works({MODULE}, False, "total_ns")
    for name, wanted in (("Kernels", kernels), ("Modules", modules)):
        keys, rows = read_csv(seen["copied"].get(name, "name,count,total_ns\r\n"))
        if any("the other" in row[0] for row in rows):
            continue
        shown = {row[0]: [int(row[keys.index(key)]) for key in ("count", "total_ns")] for row in rows}
        shown |= {each: [row[0], None] for each, row in shown.items() if wanted.get(each, row)[1] is None}
        for each in [each for each in shown.keys() | wanted.keys() if shown.get(each) != wanted.get(each)][:3]:
            yield f"{name}: {each!r} has {shown.get(each)}, not {wanted.get(each)}"


def _rows(keys, rows, wanted):
    """Rows of a table, in whatever order, beside those of a command. The page may fold the last ones."""
    folded = [row for row in rows if any(cell.startswith("the other ") for cell in row)]
    rows = [row for row in rows if row not in folded]
    unmatched = collections.defaultdict(list)
    for row in wanted:
        unmatched[str(row.get("name", row.get("message", row.get("sentence"))))].append(row)
    named = next((keys.index(key) for key in ("name", "message", "sentence") if key in keys), None)
    if len(rows) != len(wanted) and not folded:
        yield f"{len(rows)} rows, not {len(wanted)}"
    for row in rows:
        candidates = unmatched[row[named] if named is not None else "None"]
        found = [
            each for each in candidates if all(is_same(cell, each[key]) for key, cell in zip(keys, row, strict=True))
        ]
        if not found:
            yield f"no command has the row {row} of {keys}: {candidates[:1]}"
            return
        candidates.remove(found[0])
    if (
        folded
        and "count" in keys
        and sum(int(row[keys.index("count")]) for row in rows + folded) != sum(each["count"] for each in wanted)
    ):
        yield "the counts with the folded row do not add up"


def _timeline(seen, expected):
    timeline = seen.get("timeline")
    if timeline is None:
        if expected.name and "timeline" in seen:
            yield "no timeline"
        return
    ranges = {what: (int(a), int(b)) for what, (a, b) in timeline["ranges"].items()}
    start, end = ranges["first"]
    length = end - start
    if (start, end) != (expected.info["start_ns"], max(expected.info["end_ns"], expected.info["start_ns"] + 1)):
        yield f"the range is {start} to {end}"
    for zoom, right, left, out in (("Zoom in", "Pan right", "Pan left", "Zoom out"), ("w", "d", "a", "s")):
        a, b = ranges[zoom]
        near = 1 + length / 2**50  # the page's times are doubles from the first begin on
        if abs((b - a) - max(1, length // 2)) > near or a < start or b > end:
            yield f"{zoom} shows {a} to {b} of {start} to {end}"
        by = ranges[right][0] - a
        width = ranges[right][1] - ranges[right][0]
        if not (abs(by - (b - a) / 4) <= near or ranges[right][1] == end) or abs(width - (b - a)) > near:
            yield f"{right} shows {ranges[right]} after {a} to {b}"
        if abs(ranges[left][0] - a) > near or not (start <= ranges[out][0] < ranges[out][1] <= end):
            yield f"{left} shows {ranges[left]}, {out} {ranges[out]}"
    yield from (f"{what} shows {ranges[what]}" for what in ("Show all", "0") if ranges[what] != (start, end))
    shown = sorted((track, int(count)) for track, count in timeline["tracks"])
    wanted = sorted(pair for pair in zip(expected.track_ids, expected.span_counts, strict=True) if pair[1])
    if [pair for pair in shown if pair[1]] != wanted and len(shown) == len(wanted):
        yield f"tracks {shown[:5]}, not {wanted[:5]}"
    for selection in timeline["selections"] if seen["folded"] == "0" else []:
        wanted = expected.selection(*map(int, selection["range"]))
        rows = {row[0]: [int(cell) for cell in row[1:]] for row in read_csv(selection["csv"])[1]}
        for name in [name for name in rows.keys() | wanted.keys() if rows.get(name) != wanted.get(name)][:3]:
            yield f"selection {selection['range']}: {name!r} has {rows.get(name)}, not {wanted.get(name)}"
    if timeline["afterEscape"]:
        yield "Escape leaves the selection"
    for link in seen["links"]:
        a, b = (int(each) for each in link["href"].partition("range=")[2].partition("&")[0].split(".."))
        if (max(a, start), min(b, end)) != tuple(map(int, link["range"])) or link["tab"] != "timeline":
            yield f"the link {link['href']} leads to {link['range']} of {link['tab']}"
    if flow := seen.get("flow"):
        begin, target = expected.flow()
        if flow["to"] != expected.key(target) or expected.key(begin) not in flow["back"]:
            yield f"the flow of {expected.key(begin)} leads to {flow['to']}, not {expected.key(target)}: {flow}"


def _search(seen, expected):
    search = seen.get("search")
    if search is None:
        return
    matches = expected.matches()
    if search["count"] != str(len(matches)):
        yield f"{search['count']} matches of {expected.query!r}, not {len(matches)}"
    if seen["folded"] != "0":
        return
    for at, shown in zip((0, 1 % max(1, len(matches)), 0), search["spans"], strict=False):
        span = matches[at]
        fields = {"name": expected.name[span], "start_ns": expected.start[span], "duration_ns": expected.duration[span]}
        fields |= {"category": expected.category[span] or "", "track": expected.track_ids[expected.track[span]]}
        differs = {key for key, value in fields.items() if shown["fields"].get(key) != str(value)}
        if shown["span"] != expected.key(span) or differs:
            yield f"match {at} is {shown}, not {expected.key(span)}"
        a, b = map(int, shown["range"])
        if not (a <= expected.start[span] and (expected.start[span] + expected.duration[span] <= b)):
            yield f"the match {expected.key(span)} is out of view: {a} to {b}"
