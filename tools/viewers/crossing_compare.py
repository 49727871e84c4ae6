# SPDX-License-Identifier: Apache-2.0
"""How Perfetto's trace processor nests PLACE/crossing (crossing_record.py), beside what the files say.

Of opscope's files every event must be a slice of its row, beneath the innermost event that encloses it, every operator
beneath its ranges, and nothing may be counted as lost (exit code 1). Of torch's files of the same programs it prints
what the trace processor drops and misplaces.
"""

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

import browser

QUERIES = (
    "select s.id, s.parent_id, s.ts, s.dur, ifnull(s.name, ''), ifnull(s.category, ''), t.tid "
    "from slice s left join thread_track k on s.track_id = k.id left join thread t using (utid)",
    "select name, value from stats where value > 0 and severity in ('error', 'data_loss')",
)
ON_THREADS = ("cpu_op", "user_annotation", "python_function")


class Event:
    """A complete event, a pair of begin and end, or an instant, which lasts 0 as in Perfetto; in nanoseconds."""

    def __init__(self, name, category, row, start, duration):
        self.name, self.category, self.row = name, category, row
        self.start, self.end = start, start + duration
        self.parent = None

    def encloses(self, other):
        return self.start <= other.start and other.end <= self.end and other.start < self.end

    def crosses(self, other):
        return self.start < other.start < self.end < other.end or other.start < self.start < other.end < self.end

    def key(self):
        return self.name, self.start, self.end

    def ancestors(self):
        parent = self.parent
        while parent is not None:
            yield parent.key()
            parent = parent.parent


def in_nanoseconds(text):
    """Microseconds with at most three decimal digits, exactly."""
    whole, _, part = str(text).partition(".")
    return int(whole) * 1000 + int(part.ljust(3, "0"))


def event_of(record, duration=0):
    times = in_nanoseconds(record["ts"]), duration
    return Event(record["name"], record.get("cat", ""), str(record.get("tid")), *times)


def read_rows(records):
    """{(pid, tid): events} by start, those that last longer first, then as in the file."""
    rows, begun = defaultdict(list), defaultdict(list)
    for record in records:
        row, phase = (record["pid"], record.get("tid")), record["ph"]
        if phase == "X":
            rows[row].append(event_of(record, in_nanoseconds(record["dur"])))
        elif phase == "B":
            begun[row].append(record)
        elif phase == "E":
            begin = begun[row].pop()
            rows[row].append(event_of(begin, in_nanoseconds(record["ts"]) - in_nanoseconds(begin["ts"])))
        elif phase in "iI":
            rows[row].append(event_of(record))
    for events in rows.values():
        events.sort(key=lambda event: (event.start, -event.end))
    return rows


def nest(events):
    """Gives each event its parent: of those before it that enclose it the last one. Looks at every pair."""
    for number, event in enumerate(events):
        event.parent = next((each for each in reversed(events[:number]) if each.encloses(event)), None)


def read_slices(rows):
    """The trace processor's slices as events with their parents."""
    slices = {row[0]: Event(row[4], row[5], row[6], int(row[2]), int(row[3])) for row in rows}
    for identity, parent, *_ in rows:
        slices[identity].parent = slices.get(parent)
    return list(slices.values())


def outside_of_ranges(written, slices, thread_of):
    """Operators that lie in the time of a range of their thread, which crosses no other, and are not beneath it."""
    ranges, operators = defaultdict(list), defaultdict(list)
    for event in written:
        if event.category == "user_annotation":
            ranges[thread_of.get(event.row, event.row)].append(event)
    for event in slices:
        if event.category == "cpu_op":
            operators[thread_of.get(event.row, event.row)].append((event, set(event.ancestors())))
    outside = set()
    for thread, found in ranges.items():
        for around in found:
            if not any(around.crosses(other) for other in found):
                lying_in = (each for each in operators[thread] if around.encloses(each[0]))
                outside |= {operator for operator, ancestors in lying_in if around.key() not in ancestors}
    return len(outside)


def compare(path, slices, stats):
    """What the trace processor makes otherwise of the file: {what: how many}."""
    document = json.loads(path.read_text(encoding="utf-8"), parse_float=str)
    thread_of = {str(row["tid"]): str(row["row_of"]) for row in document.get("opscope.tracks", ()) if "row_of" in row}
    rows, slices = read_rows(document["traceEvents"]), read_slices(slices)
    for events in rows.values():
        nest(events)
    written = [event for events in rows.values() for event in events]

    def differ(key):
        theirs, ours = (Counter(map(key, events)) for events in (slices, written))
        return (ours - theirs).total(), (theirs - ours).total()

    dropped, added = differ(Event.key)
    numbers = {each.row for each in written if each.category in ON_THREADS}
    return len(written), {
        "dropped": dropped,
        "added": added,
        "beneath another": differ(lambda event: (event.key(), event.parent and event.parent.key()))[1],
        "operators outside of their range": outside_of_ranges(written, slices, thread_of),
        "rows that are others": len(numbers ^ {each.row for each in slices if each.category in ON_THREADS}),
        **{name: int(value) for name, value in stats},
    }


def main(place):
    if browser.find_browser() is None:
        print("spans that cross: the trace processor is not asked, there is no chromium here", file=sys.stderr)
        return False
    paths = sorted((place / "crossing").glob("*/*.json"))
    failed = False
    for path, answers in zip(paths, browser.ask_perfetto(paths, QUERIES), strict=True):
        events, found = compare(path, *answers)
        said = ", ".join(f"{count} {what}" for what, count in found.items() if count) or "all nested as in the file"
        print(f"crossing {path.parent.name:8} {path.stem:14} {events} events: {said}")
        failed = failed or (path.parent.name == "opscope" and any(found.values()))
    return failed


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
