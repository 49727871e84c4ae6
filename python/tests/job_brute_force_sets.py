# SPDX-License-Identifier: Apache-2.0
"""Stragglers and critical ranks as interface-scale.md, sections 5 and 6, defines them, in plain loops."""

from collections import defaultdict
from statistics import median_low

from job_brute_force import PARTS, share


class Straggler:
    def __init__(self, kind, name, ranks):
        self.kind, self.name, self.ranks = kind, name, ranks


def sets_of(job):
    """All sets that are tried, by kind."""
    hosts, stages = defaultdict(set), defaultdict(set)
    for rank in job.ranks:
        if job.about(rank, "host"):
            hosts[job.about(rank, "host")].add(rank)
        if job.about(rank, "stage") >= 0:
            stages[job.about(rank, "stage")].add(rank)

    def is_tried(ranks):
        return 2 <= len(ranks) < len(job.ranks)

    tried_hosts = [Straggler("host", name, ranks) for name, ranks in sorted(hosts.items()) if is_tried(ranks)]
    tried_stages = [
        Straggler("stage", str(stage), ranks)
        for stage, ranks in sorted(stages.items())
        if is_tried(ranks) and ranks not in [host.ranks for host in tried_hosts]
    ]
    return {
        "stage": tried_stages,
        "host": tried_hosts,
        "rank": [Straggler("rank", str(rank), {rank}) for rank in job.ranks],
    }


def inherited(job, match, late, ranks):
    """The waits of rank `late`, in other groups, that ended in its gap before `match` and that ranks outside caused."""
    span = match.spans[late]
    gap_begin = span["start_ns"] - span["gap_ns"]
    return sum(
        other.waits[late]
        for other in job.matches
        if other.synchronising and other.group != match.group and late in other.spans and other.last not in ranks
        if gap_begin < other.ends[late] <= span["start_ns"]
    )


def caused(job, match, ranks):
    """(how long the set let others wait in a collective, the rank that came last)."""
    inside = {rank: duration for rank, duration in match.durations.items() if rank in ranks}
    outside = [duration for rank, duration in match.durations.items() if rank not in ranks]
    if not inside or not outside:
        return 0, None
    shortest = min(inside.values())
    late = min(rank for rank, duration in inside.items() if duration == shortest)
    return max(0, min(outside) - shortest - inherited(job, match, late, ranks)), late


def longest_run(hits, steps):
    """The first longest run of hits, in the order of steps."""
    best, run = [], []
    for step in steps:
        run = [*run, step] if step in hits else []
        best = run if len(run) > len(best) else best
    return best


def measure(job, each, steps):
    """Fills in the numbers of a set. True if it is a straggler."""
    each.caused = {}  # by step
    each.parts = defaultdict(list)  # by step: the collectives that count, with what the set caused
    for step in steps:
        waited = defaultdict(int)
        for match in job.matches:
            if match.synchronising and match.step == step:
                amount, late = caused(job, match, each.ranks)
                if amount > 0:
                    each.parts[step].append((match, late))
                    for rank in match.spans.keys() - each.ranks:
                        waited[rank] += amount
        each.caused[step] = max(waited.values(), default=0)
    hits = [step for step in steps if each.caused[step] > 0 and 50 * each.caused[step] >= job.mean_step]
    run = longest_run(hits, steps)
    if not hits or (2 * len(hits) < len(steps) and len(run) < 3):
        return False
    each.behavior = "persistent" if 2 * len(hits) >= len(steps) else "transient"
    each.first, each.last = (hits[0], hits[-1]) if each.behavior == "persistent" else (run[0], run[-1])
    each.hits = hits
    each.caused_ns = sum(each.caused.values())
    return True


def leave_out_nested(stragglers, sets):
    """Of each set and the sets nested in it, those that explain more stay."""
    for larger_kind, smaller_kind in (("stage", "host"), ("stage", "rank"), ("host", "rank")):
        for larger in sets[larger_kind]:
            nested = [smaller for smaller in sets[smaller_kind] if smaller.ranks <= larger.ranks]
            found = [smaller for smaller in nested if smaller in stragglers]
            if larger not in stragglers:
                continue
            if len(found) >= 2 and 2 * len(found) >= len(nested):
                stragglers = [each for each in stragglers if each not in found]
            elif any(2 * smaller.caused_ns >= larger.caused_ns for smaller in found):
                stragglers = [each for each in stragglers if each is not larger]
    return stragglers


def cause(each):
    """(the part that made the set late, how many ranks it was compared with)."""
    hits = sorted(each.hits, key=lambda step: (-each.caused[step], step))[:3]
    sums, peers = dict.fromkeys(PARTS, 0), set()
    for match, late in (pair for step in hits for pair in each.parts[step]):
        outside = match.spans.keys() - each.ranks
        peers |= outside
        for part in PARTS:
            gaps = [match.spans[rank][f"{part}_gap_ns"] for rank in outside]
            sums[part] += match.spans[late][f"{part}_gap_ns"] - median_low(gaps)
    largest = max(PARTS, key=lambda part: sums[part])  # the first of equal ones
    return (largest if sums[largest] > 0 else "unknown"), len(peers)


def straggler_rows(job):
    steps = sorted({row["step"] for rank in job.ranks for row in job.steps_of[rank]})
    if not steps:
        return []
    sets = sets_of(job)
    stragglers = [each for kind in sets.values() for each in kind if measure(job, each, steps)]
    rows = []
    for each in leave_out_nested(stragglers, sets):
        name, peers = cause(each)
        per_step = sum(each.caused[step] for step in each.hits) // len(each.hits)
        rows.append(
            {
                "set": each.kind,
                "name": each.name,
                "ranks": sorted(each.ranks),
                "behavior": each.behavior,
                "cause": name,
                "caused_ns": each.caused_ns,
                "caused_per_step_ns": per_step,
                "share": share(per_step, job.mean_step),
                "hit_steps": len(each.hits),
                "first_step": each.first,
                "last_step": each.last,
                "peers": peers,
            }
        )
    order = {"rank": 0, "host": 1, "stage": 2}
    return sorted(rows, key=lambda row: (-row["caused_ns"], row["ranks"][0], order[row["set"]], row["name"]))


class CriticalPath:
    """The walk of section 6. A rank without steps begins with its first file."""

    def __init__(self, job):
        self.job = job
        self.pieces = []  # (rank, begin, end)
        self.led = []  # (collective, the rank that it led to)
        self.passed = []  # (collective, the rank that did not wait in it)
        with_steps = [rank for rank in job.ranks if job.steps_of[rank]]
        if with_steps:
            self.walk(with_steps)

    def begin_of(self, rank):
        steps = self.job.steps_of[rank] or [row for row in self.job.files if row["rank"] == rank]
        return min(row["start_ns"] for row in steps)

    def end_of(self, rank):
        return max(row["start_ns"] + row["duration_ns"] for row in self.job.steps_of[rank])

    def walk(self, with_steps):
        job = self.job
        waiting = [match for match in job.matches if match.synchronising]
        shared = [match for match in waiting if len(match.spans) == len(job.ranks)]
        latest = max(shared, key=lambda match: match.begins[job.ranks[0]], default=None)
        # of equal begins the first in the order of `collectives`, as max() gives it
        since = {rank: latest.ends[rank] if latest else self.begin_of(rank) for rank in with_steps}
        rank = min(with_steps, key=lambda rank: (since[rank] - self.end_of(rank), rank))
        t = cursor = self.end_of(rank)
        used = set()
        while True:
            fitting = [
                match
                for match in waiting
                if rank in match.spans and match not in used and match.ends[rank] <= cursor
                if match.begins[rank] >= self.begin_of(rank)
            ]
            if not fitting:
                self.pieces.append((rank, self.begin_of(rank), t))
                return
            match = max(fitting, key=lambda match: (match.ends[rank], match.begins[rank]))
            used.add(match)
            if match.waits[rank] == 0:
                self.passed.append((match, rank))
                cursor = match.begins[rank]
                continue
            self.pieces.append((rank, match.ends[rank], t))
            rank = match.last
            self.led.append((match, rank))
            t, cursor = match.ends[rank], match.begins[rank]

    def answer(self):
        job = self.job
        critical, saved, excess = defaultdict(int), defaultdict(int), defaultdict(int)
        in_steps = defaultdict(lambda: defaultdict(int))  # by step and rank
        for rank, begin, end in self.pieces:
            if end <= begin:
                continue
            critical[rank] += end - begin
            for row in job.steps_of[rank]:
                overlap = min(end, row["start_ns"] + row["duration_ns"]) - max(begin, row["start_ns"])
                if overlap > 0:
                    in_steps[row["step"]][rank] += overlap
        for sums, lasts in ((saved, self.led), (excess, self.led + self.passed)):
            for match, rank in lasts:
                gaps = [span["gap_ns"] for span in match.spans.values()]
                sums[rank] += max(0, match.spans[rank]["gap_ns"] - median_low(gaps))
        length = sum(critical.values())
        steps = []
        for step in sorted(in_steps):
            most = min(in_steps[step], key=lambda rank: (-in_steps[step][rank], rank))
            steps.append({"step": step, "length_ns": sum(in_steps[step].values()), "rank": most})
            steps[-1]["near_ranks"] = self.near_ranks(step)
        rows = [
            {
                "rank": rank,
                "critical_ns": critical[rank],
                "share": share(critical[rank], length),
                "steps": sum(row["rank"] == rank for row in steps),
                "saved_ns": saved[rank],
                "excess_ns": excess[rank],
            }
            for rank in sorted(critical, key=lambda rank: (-critical[rank], rank))
        ]
        shorter = {"what_if_ns": length - sum(saved.values()), "balanced_ns": length - sum(excess.values())}
        return {"length_ns": length, **shorter, "rows": rows, "steps": steps}

    def near_ranks(self, step):
        job = self.job
        near = 0
        for rank in job.ranks:
            if any(row["step"] == step for row in job.steps_of[rank]):
                waited = sum(
                    match.waits[rank]
                    for match in job.matches
                    if match.synchronising and match.step == step and rank in match.spans
                )
                near += 100 * waited <= job.mean_step
        return near
