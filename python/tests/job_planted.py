# SPDX-License-Identifier: Apache-2.0
"""Jobs with one planted fault each, and their clean twins.

Sixteen ranks on four hosts, four stages of four ranks. In a step each rank computes, takes part in an all-reduce of its
pair ("tp"), computes again and takes part in one of all ranks. Collectives end on all members at once; a member that
arrives early waits. Times are true times; each host's clock adds an offset and a drift.
"""

import random

from job_tables import Tables, group_key

MS = 1_000_000
RANKS, STEPS = 16, 30
PAIRS = [[rank, rank + 1] for rank in range(0, RANKS, 2)]
TRANSFER = 2 * MS


class Planted:
    """What may be wrong: extra(rank, step) -> (part, ns) before the first collective; transfer(step, ranks) -> ns."""

    def __init__(self, extra=None, transfer=None, clock=None, noise_ns=200_000, hosts=4, seed=1):
        self.extra = extra or (lambda rank, step: None)
        self.transfer = transfer or (lambda step, ranks: TRANSFER)
        self.clock = clock or (lambda host, time: time)
        self.random = random.Random(seed)
        self.noise_ns, self.per_host = noise_ns, RANKS // hosts

    def tables(self, ranks=range(RANKS), world_size=RANKS):
        self.out, self.spans = Tables(), []
        time = dict.fromkeys(range(RANKS), 1_780_000_000 * 10**9)
        ends = dict(time)  # of the previous collective of each (group, rank): where its gap begins
        steps = []
        for step in range(STEPS):
            begins = dict(time)
            for pair in PAIRS:
                self.compute(time, pair, step, self.extra)
                self.collective(time, group_key(f"tp{pair[0]}", pair), pair, step, ends)
            self.compute(time, range(RANKS), step, lambda rank, step: None)
            self.collective(time, f"/{RANKS}/", range(RANKS), step, ends)
            steps.append((step, begins, dict(time)))
        self.write(steps, ranks, world_size)
        return self.out.tables()

    def compute(self, time, ranks, step, extra):
        self.parts = getattr(self, "parts", {})
        for rank in ranks:
            length = 20 * MS + self.random.randint(0, self.noise_ns)
            part, more = extra(rank, step) or ("host", 0)
            self.parts.setdefault(rank, []).append({"compute": length + (more if part == "compute" else 0)})
            if part != "compute":
                self.parts[rank][-1][part] = more
            time[rank] += length + more

    def collective(self, time, key, ranks, step, ends):
        end = max(time[rank] for rank in ranks) + self.transfer(step, ranks)
        for rank in ranks:
            gap = {}
            for parts in self.parts[rank][-2:] if key.startswith("/") else self.parts[rank][-1:]:
                for part, length in parts.items():
                    gap[part] = gap.get(part, 0) + length
            before = ends.get((key, rank), time[rank] - sum(gap.values()))
            gap["communication"] = max(0, time[rank] - before - sum(gap.values()))
            self.spans.append((rank, key, time[rank], end - time[rank], step, gap))
            ends[key, rank] = time[rank] = end

    def write(self, steps, ranks, world_size):
        for rank in ranks:
            host = rank // self.per_host
            begin, end = (self.clock(host, time) for time in (steps[0][1][rank], steps[-1][2][rank]))
            about = {"world_size": world_size, "host": f"node{host}", "stage": rank % 4, "spans": 2 * STEPS}
            file = self.out.file(rank, begin, end, **about)
            for step, begins, ends in steps:
                start = self.clock(host, begins[rank])
                self.out.step(file, step, start, self.clock(host, ends[rank]) - start)
            seqs = {}
            for of_rank, key, start, duration, step, gap in self.spans:
                if of_rank == rank:
                    seqs[key] = seqs.get(key, -1) + 1
                    columns = gap | {"seq": seqs[key], "step": step}
                    self.out.collective(file, key, self.clock(host, start), duration, **columns)


def slow(ranks, part="compute", ns=5 * MS, steps=range(STEPS)):
    return lambda rank, step: (part, ns) if rank in ranks and step in steps else None


def wrong_clock(host, time):
    """Host 1 is 2 ms ahead and gains 20 ppm."""
    return time + (2 * MS + (time - 1_780_000_000 * 10**9) * 20 // 1_000_000 if host == 1 else 0)
