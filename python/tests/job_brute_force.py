# SPDX-License-Identifier: Apache-2.0
"""What interface-scale.md, sections 2.4, 3 and 4, says, in plain loops: files that fit, matches, waiting and clocks.

A job is a dict of lists of rows, by the names of section 7: "ranks", "steps" and "collectives". Rows of one file are in
the order of their begins. `Job(tables, attempt)` keeps what fits together; job_brute_force_sets.py goes on from there.
Whatever is quadratic here may be so: the jobs are small. The SQL of src/job/sql is compared with this.
"""

from collections import Counter, defaultdict
from fractions import Fraction

PARTS = ("compute", "communication", "copy", "input", "host", "other", "idle")
SYNCHRONISING = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "barrier"}
WITH_ELEMENTS = {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce"}
WINDOW_NS = 10_000_000_000
LARGEST_DURATION = 2**43 - 1  # 2.4 hours; a longer one counts as that
LARGEST_TIME = 2**61


STEP_ORDER = ("rank", "start_ns", "step", "file_id")


def p(percent, values):
    """The smallest value that `percent` of 100 do not exceed."""
    ordered = sorted(values)
    return next(v for i, v in enumerate(ordered) if (i + 1) * 100 >= percent * len(ordered))


def clamped(row):
    """The row with times that no sum of them can overflow."""
    row = dict(row)
    for name, value in row.items():
        if name in ("start_ns", "end_ns"):
            row[name] = max(-LARGEST_TIME, min(value, LARGEST_TIME))
        elif name.endswith("_ns") and value is not None:
            row[name] = max(0, min(value, LARGEST_DURATION))
    return row


def key_of(span):
    return (span["kind"], span["elements"] if span["kind"] in WITH_ELEMENTS else None)


class Match:
    """A collective: one span for each of two or more ranks."""

    def __init__(self, group, number_from, order, spans):
        self.group, self.number_from, self.order, self.number = group, number_from, order, None
        self.spans = {span["rank"]: span for span in spans}
        self.lowest = self.spans[min(self.spans)]
        self.kind, self.step, self.elements = (self.lowest[name] for name in ("kind", "step", "elements"))
        self.synchronising = self.kind in SYNCHRONISING
        self.durations = {rank: span["duration_ns"] for rank, span in self.spans.items()}
        self.ends = {rank: span["start_ns"] + span["duration_ns"] for rank, span in self.spans.items()}
        self.begins = {rank: span["start_ns"] for rank, span in self.spans.items()}
        if self.synchronising:
            self.transfer = min(self.durations.values())
            self.last = min(rank for rank, duration in self.durations.items() if duration == self.transfer)
            self.waits = {rank: duration - self.transfer for rank, duration in self.durations.items()}


class Job:
    def __init__(self, tables, attempt=0):
        self.problems = []
        self.attempts = sorted({row["attempt"] for row in tables["ranks"]})
        self.files = self.files_that_fit([clamped(r) for r in tables["ranks"] if r["attempt"] == attempt])
        ids = {row["file_id"] for row in self.files}
        self.stored_steps = [row for row in tables["steps"] if row["attempt"] == attempt and row["file_id"] in ids]
        self.steps = [clamped(row) for row in self.stored_steps]
        spans = [clamped(row) for row in tables["collectives"] if row["attempt"] == attempt and row["file_id"] in ids]
        self.ranks = sorted({row["rank"] for row in self.files if row["rank"] >= 0})
        for place, span in enumerate(spans):
            span["place"] = place
        spans.sort(key=lambda span: (span["start_ns"], span["file_id"], span["place"]))
        self.steps_of = {rank: [row for row in self.steps if row["rank"] == rank] for rank in self.ranks}
        self.spans_of = {rank: [span for span in spans if span["rank"] == rank] for rank in [-1, *self.ranks]}
        self.groups = defaultdict(list)
        for rank in self.ranks:
            for span in self.spans_of[rank]:
                self.groups[span["group_key"]].append(span)
        self.matches = [match for group in sorted(self.groups) for match in self.matches_of(group)]
        lengths = [row["duration_ns"] for rank in self.ranks for row in self.steps_of[rank]]
        self.mean_step = sum(lengths) // len(lengths) if lengths else None
        self.align()

    def problem(self, kind, ranks, severity="data_loss"):
        self.problems.append({"kind": kind, "severity": severity, "ranks": sorted(ranks)})

    # 2.4 Files that do not fit together; the files of rank -1 are compared with none
    def files_that_fit(self, files):
        votes = Counter(row["world_size"] for row in files if row["rank"] >= 0 and row["world_size"] > 0)
        self.world_size = min(votes, key=lambda size: (-votes[size], size)) if votes else 0
        kept = [row for row in files if row["rank"] < 0 or row["world_size"] in (self.world_size, -1, 0)]
        strangers = [row for row in files if row not in kept]
        doubled = [row for row in kept if any(self.is_doubled_by(row, other) for other in kept)]
        kept = [row for row in kept if row not in doubled]
        missing = set(range(self.world_size)) - {row["rank"] for row in kept}
        for row in strangers:
            self.problem("other_job", [row["rank"]])
        for row in doubled:
            self.problem("rank_doubled", [row["rank"]])
        if missing:
            self.problem("rank_missing", missing)
        if len(self.attempts) > 1:
            self.problem("several_attempts", [], "info")
        return kept

    @staticmethod
    def is_doubled_by(row, other):
        if row["rank"] != other["rank"] or row["rank"] < 0:
            return False
        if row["start_ns"] >= other["end_ns"] or other["start_ns"] >= row["end_ns"]:
            return False
        if row["spans"] != other["spans"]:
            return row["spans"] < other["spans"]
        return row["sha256"] > other["sha256"]

    # Of the files of one rank: what is known wins over what is not
    def about(self, rank, name):
        return max(row[name] or "" if name != "stage" else row[name] for row in self.files if row["rank"] == rank)

    # 3.3 Matching
    def matches_of(self, group):
        spans = self.groups[group]
        listed = group.rpartition("/")[2]
        members = {int(text) for text in listed.split(",") if text} | {span["rank"] for span in spans}
        by_seq = self.is_matched_by_seq(spans)
        matches = []
        for order, together in (self.by_seq if by_seq else self.by_order)(spans):
            if len(together) >= 2:
                match = Match(group, "seq" if by_seq else "order", order, together)
                match.number = order if by_seq else len(matches)
                match.missing = sorted(members - set(match.spans))
                matches.append(match)
        return matches

    def is_matched_by_seq(self, spans):
        if any(span["seq"] is None for span in spans):
            return False
        if max(Counter((span["rank"], span["seq"]) for span in spans).values()) > 1:
            return False
        keys = defaultdict(set)
        numbers = defaultdict(set)
        for span in spans:
            keys[span["seq"]].add(key_of(span))
            numbers[span["rank"]].add(span["seq"])
        if any(len(different) > 1 for different in keys.values()):
            return False
        first = max(min(each) for each in numbers.values())
        last = min(max(each) for each in numbers.values())
        within = {number for number in keys if first <= number <= last}
        return first <= last and all(10 * len(within & each) >= 9 * len(within) for each in numbers.values())

    @staticmethod
    def by_seq(spans):
        for number in sorted({span["seq"] for span in spans}):
            yield number, [span for span in spans if span["seq"] == number]

    @staticmethod
    def by_order(spans):
        in_steps = defaultdict(lambda: defaultdict(list))
        for span in spans:  # they are by begin
            in_steps[(span["step"] is not None, span["step"])][span["rank"]].append(span)
        for step in sorted(in_steps, key=lambda step: (step[0], step[1] or 0)):
            lists = list(in_steps[step].values())
            if all([key_of(a) for a in each] == [key_of(a) for a in lists[0]] for each in lists):
                for n, together in enumerate(zip(*lists, strict=True)):
                    yield (step, n), together

    # 4 Clocks
    def align(self):
        if not self.ranks:
            return
        self.domain = {rank: self.domain_of(rank) for rank in self.ranks}
        self.reference = self.domain[self.ranks[0]]
        begins = [row["start_ns"] for row in self.steps_of[self.ranks[0]]]
        begins = begins or [row["start_ns"] for row in self.files if row["rank"] == self.ranks[0]]
        self.clock_origin = min(begins)
        found = defaultdict(lambda: defaultdict(list))  # (E_ref, B_ref, E, B) by domain and window
        for match in self.matches:
            e_ref, b_ref = self.edge(match, self.reference)
            if not match.synchronising or e_ref is None:
                continue
            for domain in {self.domain[rank] for rank in match.spans} - {self.reference}:
                window = (e_ref - self.clock_origin) // WINDOW_NS
                found[domain][window].append((e_ref, b_ref, *self.edge(match, domain)))
        self.windows = {
            domain: {window: self.offset(found[domain][window]) for window in sorted(found[domain])} for domain in found
        }
        lost = [rank for rank in self.ranks if None in self.windows.get(self.domain[rank], {}).values()]
        if lost:
            self.problem("clock_not_aligned", lost, "info")
        for match in self.matches:
            self.place_in_time(match)

    def domain_of(self, rank):
        boot, host = self.about(rank, "boot"), self.about(rank, "host")
        if boot:
            return ("boot", boot)
        return ("host", host) if host and host != "localhost" else ("rank", rank)

    def edge(self, match, domain):
        inside = [rank for rank in match.spans if self.domain[rank] == domain]
        if not inside:
            return None, None
        return min(match.ends[rank] for rank in inside), max(match.begins[rank] for rank in inside)

    @staticmethod
    def offset(edges):
        """(offset, bound, error), or None where no offset fits."""
        low = max(b_ref - e for _, b_ref, e, _ in edges)
        high = min(e_ref - b for e_ref, _, _, b in edges)
        if low > high:
            return None
        distances = [e_ref - e for e_ref, _, e, _ in edges]
        estimate = p(50, distances)
        bound = (high - low) // 2
        if not low <= estimate <= high:
            return (low + bound, bound, None)
        return (estimate, bound, p(99, [abs(distance - estimate) for distance in distances]))

    def wall_bound(self, rank):
        """The sum of both clocks' errors: the largest that a file of the domain tells."""
        errors = []
        for domain in (self.domain[rank], self.reference):
            rows = [row for row in self.files if row["rank"] >= 0 and self.domain[row["rank"]] == domain]
            errors.append(max((row["wall_error_ns"] for row in rows if row["wall_error_ns"] is not None), default=None))
        return None if None in errors else sum(errors)

    def clock(self, rank, window=None):
        """(source, offset, bound, error) of a rank in a window; without one, what `ranks` shows."""
        if rank < 0:
            return ("none", None, None, None)
        domain = self.domain[rank]
        if domain == self.reference:
            return ("reference", 0, 0, 0)
        windows = self.windows.get(domain)
        if not windows:
            return ("wall_clock", 0, self.wall_bound(rank), None)
        if window is not None:
            earlier = [w for w in windows if w <= window]
            values = windows[max(earlier) if earlier else min(windows)]
            return ("collectives", *values) if values else ("none", None, None, None)
        aligned = [values for values in windows.values() if values]
        if not aligned:
            return ("none", None, None, None)
        bound = max(values[1] for values in aligned)
        errors = [values[2] for values in aligned if values[2] is not None]
        return ("collectives", aligned[0][0], bound, max(errors, default=None))

    def place_in_time(self, match):
        time, _ = self.edge(match, self.reference)
        if time is None:
            lowest = min(match.spans)
            time = match.ends[lowest] + (self.clock(lowest)[1] or 0)
        window = (time - self.clock_origin) // WINDOW_NS
        clocks = {rank: self.clock(rank, window) for rank in match.spans}
        bounds = [clock[2] for clock in clocks.values()]
        match.bound = None if None in bounds else max(bounds)
        match.end_spread = match.skew = match.last_rank = None
        if all(clock[1] is not None for clock in clocks.values()):
            ends = [match.ends[rank] + clocks[rank][1] for rank in match.spans]
            match.end_spread = max(ends) - min(ends)
            if not match.synchronising:
                begins = [(match.begins[rank] + clocks[rank][1], rank) for rank in sorted(match.spans)]
                first, last = min(begins), max(begins, key=lambda each: (each[0], -each[1]))
                both = (clocks[first[1]][2], clocks[last[1]][2])
                if None not in both and last[0] - first[0] > sum(both):
                    match.skew = last[0] - first[0]
        if match.synchronising:
            match.skew = max(match.waits.values())
            second = sorted(match.durations.values())[1]
            if match.end_spread is None or second - match.transfer >= match.end_spread:
                match.last_rank = match.last

    # 1.3 `ranks`
    def rank_rows(self):
        for rank in sorted({row["rank"] for row in self.files}):
            files = [row for row in self.files if row["rank"] == rank]
            lengths = [row["duration_ns"] for row in self.steps if row["rank"] == rank]
            spans = self.spans_of[rank]
            mine = [match for match in self.matches if rank in match.spans]
            source, offset, bound, error = self.clock(rank)
            yield {
                "rank": rank,
                "host": self.about(rank, "host") or None,
                "stage": self.about(rank, "stage") if self.about(rank, "stage") >= 0 else None,
                "rank_from": min(row["rank_from"] for row in files),
                "files": len(files),
                "spans": sum(row["spans"] for row in files),
                "steps": len(lengths),
                "step_mean_ns": sum(lengths) // len(lengths) if lengths else None,
                "step_p50_ns": p(50, lengths) if lengths else None,
                "step_p99_ns": p(99, lengths) if lengths else None,
                "collectives": len(spans),
                "unmatched": len(spans) - len(mine),
                "wait_ns": sum(match.waits[rank] for match in mine if match.synchronising),
                "last_count": sum(match.last_rank == rank for match in mine),
                "clock_source": source,
                "clock_offset_ns": offset,
                "clock_bound_ns": bound,
                "clock_error_ns": error,
            }

    # 1.7 `steps`
    def step_rows(self):
        begin = min((row["start_ns"] for row in self.files), default=0)
        for row in sorted(self.stored_steps, key=lambda row: [row[name] for name in STEP_ORDER]):
            rest = {name: value for name, value in row.items() if name not in ("attempt", "file_id")}
            yield rest | {"start_ns": clamped(row)["start_ns"] - begin}

    # 1.4 `collectives`
    def collective_rows(self):
        for match in self.matches:
            yield {
                "group": match.lowest["group_name"],
                "group_key": match.group,
                "group_size": match.lowest["group_size"],
                "number": match.number,
                "number_from": match.number_from,
                "step": match.step,
                "kind": match.kind,
                "elements": match.elements,
                "seen": len(match.spans),
                "missing_ranks": match.missing,
                "transfer_ns": match.transfer if match.synchronising else None,
                "wait_ns": sum(match.waits.values()) if match.synchronising else None,
                "skew_ns": match.skew,
                "last_rank": match.last_rank,
                "end_spread_ns": match.end_spread,
                "clock_bound_ns": match.bound,
            }

    def members_of(self, match):
        for rank in sorted(match.spans):
            wait = match.waits[rank] if match.synchronising else None
            yield {"rank": rank, "duration_ns": match.durations[rank], "wait_ns": wait}

    def collective_groups(self):
        groups = defaultdict(list)
        for match in self.matches:
            groups[(match.group, match.kind, match.elements)].append(match)
        for (group, kind, elements), matches in sorted(groups.items()):
            waiting = [match for match in matches if match.synchronising]
            yield {
                "group_key": group,
                "kind": kind,
                "elements": elements,
                "count": len(matches),
                "transfer_p50_ns": p(50, [match.transfer for match in waiting]) if waiting else None,
                "wait_ns": sum(sum(match.waits.values()) for match in waiting) if waiting else None,
                "skew_max_ns": max((match.skew for match in matches if match.skew is not None), default=None),
            }


def share(part, whole):
    return float(Fraction(part, whole)) if whole else 0.0
