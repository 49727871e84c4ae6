# SPDX-License-Identifier: Apache-2.0
"""Jobs as rows of the tables of interface-scale.md, section 7: helpers to write them, and random small ones."""

import hashlib
import random
from collections import Counter, defaultdict

PARTS = ("compute", "communication", "copy", "input", "host", "other", "idle")
KINDS = ("all_reduce",) * 4 + ("all_gather", "all_to_all", "barrier", "broadcast", "other", "reduce_scatter", "gather")


def first_bytes(digest):
    """The first 8 bytes of a SHA-256, big endian, as a signed integer."""
    return int.from_bytes(digest[:8], "big", signed=True)


def group_id(group_key):
    return first_bytes(hashlib.sha256(group_key.encode()).digest())


class Tables:
    """A job that is being written."""

    def __init__(self):
        self.ranks, self.steps, self.collectives = [], [], []

    def file(self, rank, start_ns=0, end_ns=1, attempt=0, **columns):
        """Adds a file; its number identifies it in `step` and `collective`."""
        number = len(self.ranks)
        sha256 = hashlib.sha256(str((rank, attempt, number, columns.pop("salt", 0))).encode())
        row = {
            "attempt": attempt,
            "rank": rank,
            "world_size": -1,
            "stage": -1,
            "host": None,
            "boot": None,
            "rank_from": "metadata" if rank >= 0 else "none",
            "file": f"rank{rank}.json",
            "sha256": sha256.hexdigest(),
            "file_id": first_bytes(sha256.digest()),
            "start_ns": start_ns,
            "end_ns": end_ns,
            "spans": 10,
            "wall_error_ns": None,
        }
        self.ranks.append(row | columns)
        return number

    def of(self, file):
        return {name: self.ranks[file][name] for name in ("attempt", "rank", "file_id")}

    def step(self, file, step, start_ns, duration_ns):
        parts = {f"{part}_ns": 0 for part in PARTS}
        row = {"name": f"step {step}", "step": step, "start_ns": start_ns, "duration_ns": duration_ns} | parts
        self.steps.append(self.of(file) | row)

    def collective(self, file, group, start_ns, duration_ns, kind="all_reduce", step=None, seq=None, **columns):
        gaps = {f"{part}_gap_ns": columns.pop(part, 0) for part in PARTS}
        name, size, _ = group.rsplit("/", 2)
        row = {
            "group_size": int(size or 0),
            "group_name": name,
            "group_key": group,
            "kind": kind,
            "step": step,
            "elements": columns.pop("elements", 0),
            "seq": seq,
            "start_ns": start_ns,
            "duration_ns": duration_ns,
            "gap_ns": sum(gaps.values()),
        }
        self.collectives.append(self.of(file) | row | gaps | columns)

    def tables(self):
        """The tables, with what `collect` adds: rows by begin, `group_id`, `position` and the table `rank_groups`."""
        places = {row["file_id"]: place for place, row in enumerate(self.ranks)}
        self.collectives.sort(key=lambda row: (places[row["file_id"]], row["start_ns"]))
        counts, of_groups = Counter(), defaultdict(list)
        for row in self.collectives:
            row["group_id"] = group_id(row["group_key"])
            row["position"] = counts[row["file_id"], row["group_key"], row["step"]]
            counts[row["file_id"], row["group_key"], row["step"]] += 1
            of_groups[row["file_id"], row["group_key"]].append(row)
        rank_groups = []
        for rows in of_groups.values():
            numbers = [row["seq"] for row in rows if row["seq"] is not None]
            same = ("attempt", "rank", "file_id", "group_id", "group_key", "group_name", "group_size")
            rank_groups.append(
                {name: rows[0][name] for name in same}
                | {"spans": len(rows), "with_seq": len(numbers), "distinct_seq": len(set(numbers))}
                | {"first_seq": min(numbers, default=None), "last_seq": max(numbers, default=None)}
            )
        return {
            "ranks": self.ranks,
            "steps": self.steps,
            "collectives": self.collectives,
            "rank_groups": rank_groups,
        }


def group_key(name, members):
    return f"{name}/{len(members)}/{','.join(map(str, members[:29]))}"


class RandomJob:
    """A small job whose collectives end together; then some of it is broken."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.scale = self.random.choice([1, 1, 1000, 700_000_000, 3_000_000_000])
        self.out = Tables()
        self.size = self.random.choice([1, 2, 3, 4, 4, 6, 8, 9])
        self.chaos = self.random.choice([0, 0, 0, 0.02, 0.3])
        self.epoch = self.random.choice([0, 0, -50 * self.scale, 1_780_000_000 * 10**9])
        self.files()
        self.windows()
        if self.random.random() < 0.3:
            self.strange_files()

    def chance(self, probability):
        return self.random.random() < probability

    def files(self):
        per_host = self.random.choice([1, 2, 3])
        stages = self.random.choice([0, 0, 2, 3])
        has_boot, has_host = self.chance(0.5), self.chance(0.8)
        self.offsets, self.of_rank = {}, {}
        for rank in range(self.size):
            host = rank // per_host
            self.offsets[rank] = self.random.randint(-20, 20) if not has_host else hash((host, self.scale)) % 41 - 20
            if self.chance(0.1):
                continue  # no file
            about = {
                "world_size": self.random.choice([-1, self.size, self.size, self.size, self.size]),
                "stage": rank * stages // self.size if stages and not self.chance(0.1) else -1,
                "host": f"host{host}" if has_host else self.random.choice([None, "", "localhost"]),
                "boot": f"boot{host}" if has_boot and not self.chance(0.1) else None,
                "wall_error_ns": self.random.choice([None, 3, 500]),
                "spans": self.random.randint(1, 3),
            }
            self.of_rank[rank] = about

    def windows(self):
        steps = self.random.choice([0, 1, 3, 5, 8])
        cut = self.random.randint(1, 4) if self.chance(0.3) else None
        groups = [list(range(self.size))]
        for _ in range(self.random.randint(0, 3)):
            groups.append(sorted(self.random.sample(range(self.size), self.random.randint(1, self.size))))
        keys = [f"/{self.size}/"] + [group_key(str(i), group) for i, group in enumerate(groups[1:])]
        with_seq = [self.chance(0.6) for _ in groups]
        self.slow = self.random.randrange(self.size) if self.chance(0.6) else None
        self.numbers = Counter()
        self.pending = defaultdict(list)  # by rank and window: what is added to its file
        time = self.epoch
        for step in range(-1 if self.chance(0.3) else 0, steps):
            begin = time
            for _ in range(self.random.randint(1, 4)):
                index = self.random.randrange(len(groups))
                time = self.one(time, keys[index], groups[index], with_seq[index], step, cut)
            for rank in self.of_rank if step >= 0 else []:
                if not self.chance(0.05 if self.chaos else 0):
                    start = begin + self.offsets[rank] * self.scale
                    number = step + (1000 if self.chance(0.02) else 0)
                    length = max(0, time - begin)
                    window = int(cut is not None and step >= cut)
                    self.pending[rank, window].append(("step", (number, start, length), {}))
        for (rank, _), things in sorted(self.pending.items()):
            starts = [each[1][1] for each in things]
            ends = [min(each[1][1] + each[1][2], 2**63 - 1) for each in things]
            file = self.out.file(rank, min(starts), max(ends), **self.of_rank[rank])
            for what, values, columns in things:
                if what == "step":
                    self.out.step(file, *values)
                else:
                    self.out.collective(file, *values, **columns)
        for rank in self.of_rank:
            if (rank, 0) not in self.pending:
                self.out.file(rank, self.epoch - 5, self.epoch, **self.of_rank[rank])

    def one(self, time, key, members, with_seq, step, cut):
        """One collective of a group; the time after it."""
        kind, elements = self.random.choice(KINDS), self.random.choice([0, 5, 5, 7])
        self.numbers[key] += 1
        begins = {rank: time + self.random.randint(0, 5) * self.scale for rank in members}
        if self.slow in begins and self.chance(0.8):
            begins[self.slow] += 9 * self.scale
        end = max(begins.values()) + self.random.randint(1, 6) * self.scale
        for rank in members:
            if rank not in self.of_rank or self.chance(0.005 + self.chaos / 3):
                continue
            start = begins[rank] + self.offsets[rank] * self.scale
            duration = end - begins[rank] + self.random.randint(0, 1) * self.scale
            if self.chance(self.chaos):
                duration = self.random.choice([0, 1, -3, 2**62, 2**43 - 1, self.random.randint(0, 50)])
            if self.chance(self.chaos / 10):
                start = self.random.choice([-(2**63), 2**62, 0])
            columns = {part: self.random.randint(0, 4) * self.scale for part in PARTS if self.chance(0.5)}
            columns |= {
                "kind": self.random.choice(KINDS) if self.chance(self.chaos / 5) else kind,
                "elements": elements if not self.chance(self.chaos / 5) else 9,
                "step": step if step >= 0 and not self.chance(self.chaos / 5) else None,
                "seq": self.numbers[key] if with_seq and not self.chance(self.chaos / 10) else None,
            }
            if with_seq and self.chance(self.chaos / 10):
                columns["seq"] = self.random.randint(0, 4)
            window = int(cut is not None and step >= cut)
            self.pending[rank, window].append(("collective", (key, start, duration), columns))
        return end + self.random.randint(0, 3) * self.scale

    def strange_files(self):
        """Files of another job, doubled ranks, files without a rank, another attempt."""
        out = self.out
        for old in list(range(len(out.ranks))):
            if not self.chance(0.3):
                continue
            row = out.ranks[old]
            about = {name: row[name] for name in ("world_size", "stage", "host", "boot", "wall_error_ns")}
            about |= {"spans": self.random.randint(1, 3), "salt": 1}
            rank, attempt = row["rank"], 0
            change = self.random.choice(["other_job", "doubled", "no_rank", "attempt"])
            if change == "other_job":
                about["world_size"] = self.random.choice([self.size + 1, 1])
            elif change == "no_rank":
                rank = -1
            elif change == "attempt":
                attempt = 1
            file = out.file(rank, row["start_ns"], row["end_ns"], attempt, **about)
            for table in (out.steps, out.collectives):
                same = [each for each in table if each["file_id"] == row["file_id"]]
                table += [each | out.of(file) for each in same]


def random_job(seed):
    return RandomJob(seed).out.tables()
