# SPDX-License-Identifier: Apache-2.0
"""What a Chrome JSON of torch's or of opscope's says of devices, and how two of one program compare."""

from __future__ import annotations

import collections
import dataclasses
import gzip
import json
import statistics
from pathlib import Path

WORK = ("kernel", "gpu_memcpy", "gpu_memset")
READINGS = {"GPU power (W)": "Power (W)", "GPU SM clock (MHz)": "SM Clock (MHz)"}  # NVML's, and CUPTI's of the same
CYCLES = "Cycles (Current Kernel)"
NO_KERNEL = ""  # the name of copies and sets among kernels
MOST_A_SECOND = 10
HAS_HOST_NODES = 130100  # version of CUPTI
MOST_BESIDE_US = 100  # by so much clocks of the CPU and of a device may differ
ROUNDING_US = 0.0015  # two times in whole nanoseconds, each rounded in its own way, and as floating-point numbers
WARM_UP_US = 500_000  # for so long a device that was idle raises its clocks; readings of it are not compared
FIRST_ARROW_OF_NODES = 1 << 40  # launches have the numbers of calls


@dataclasses.dataclass(frozen=True)
class Check:
    """One thing that holds or does not."""

    what: str
    holds: bool
    words: str  # what was seen


@dataclasses.dataclass
class DeviceFacts:
    """What devices did: counts by name, who launched it, how long each stream was busy, and each kernel took."""

    names: collections.Counter  # "kernel NAME"
    launchers: collections.Counter  # (operator or "", name)
    busy_us: dict[tuple[int, int], float]  # by device and stream
    graph_nodes: int
    copied_bytes: int
    allocations: int  # events of the caching allocator of a GPU
    before_call: int  # that begin before the call that launched them
    alone_us: dict[str, list[float]]  # durations, by name, of kernels beside which their device did nothing else

    @property
    def works(self) -> int:
        return self.names.total()


def read_document(path: Path) -> dict:
    """A Chrome JSON, gzipped or not."""
    data = Path(path).read_bytes()
    document = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    return document if isinstance(document, dict) else {"traceEvents": document}


def read_trace(path: Path) -> list[dict]:
    """The events of a Chrome JSON, gzipped or not."""
    return read_document(path)["traceEvents"]


def busy_us(spans: list[tuple[float, float]]) -> float:
    """Length of the union of (start, end)."""
    total, until = 0.0, float("-inf")
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total


def alone(works: list[tuple[float, float, str]]) -> dict[str, list[float]]:
    """Of the works of one device, (start, end, name): durations by name of those that overlap no other."""
    durations = collections.defaultdict(list)
    until = float("-inf")
    works = sorted(works)
    for at, (start, end, name) in enumerate(works):
        follows = works[at + 1][0] if at + 1 < len(works) else float("inf")
        if until - ROUNDING_US <= start and end <= follows + ROUNDING_US:
            durations[name].append(end - start)
        until = max(until, end)
    return durations


def facts_of(events: list[dict]) -> DeviceFacts:
    operators, calls = {}, {}
    for event in events:
        args = event.get("args") or {}
        if event.get("cat") == "cpu_op" and "External id" in args:
            operators[args["External id"]] = event["name"]
        if event.get("cat") in ("cuda_runtime", "cuda_driver"):
            calls.setdefault(args.get("correlation"), event["ts"])
    facts = DeviceFacts(collections.Counter(), collections.Counter(), {}, 0, 0, 0, 0, {})
    streams, devices = collections.defaultdict(list), collections.defaultdict(list)
    for event in events:
        args = event.get("args") or {}
        if event.get("name") == "[memory]" and args.get("Device Type") == 1:
            facts.allocations += 1
        if event.get("cat") not in WORK or event.get("ph") != "X":
            continue
        start, end = float(event["ts"]), float(event["ts"]) + float(event.get("dur", 0))
        device = int(args.get("device", event["pid"]))
        streams[device, int(args.get("stream", event["tid"]))].append((start, end))
        devices[device].append((start, end, event["name"] if event["cat"] == "kernel" else NO_KERNEL))
        facts.names[f"{event['cat']} {event['name']}"] += 1
        facts.launchers[operators.get(args.get("External id"), ""), event["name"]] += 1
        facts.graph_nodes += 1 if args.get("graph node id") else 0
        facts.copied_bytes += int(args.get("bytes", 0)) if event["cat"] == "gpu_memcpy" else 0
        called = float(calls.get(args.get("correlation"), start))
        facts.before_call += 1 if start < called - ROUNDING_US else 0
    facts.busy_us = {stream: busy_us(spans) for stream, spans in streams.items()}
    for works in devices.values():
        for name, durations in alone(works).items():
            facts.alone_us.setdefault(name, []).extend(durations)
    facts.alone_us.pop(NO_KERNEL, None)
    return facts


def difference(ours: collections.Counter, theirs: collections.Counter) -> str:
    """What one side has more often than the other; "" where they are equal."""
    words = [f"{count} x {key} of opscope alone" for key, count in (ours - theirs).most_common(3)]
    words += [f"{count} x {key} of torch alone" for key, count in (theirs - ours).most_common(3)]
    return "; ".join(words)


def something_ran(ours: DeviceFacts, theirs: DeviceFacts | None) -> Check:
    beside = f"; torch {theirs.works}" if theirs is not None else ""
    return Check("something ran", ours.works > 0, f"{ours.works} kernels, copies and sets{beside}")


def time_of_kernels(ours: DeviceFacts, theirs: DeviceFacts, *, most_apart: float) -> Check:
    """Of two runs: kernels that ran alone, by name as often as torch has them, each as long as the median of its name.

    Copies depend on what else the machine does, and kernels that overlap on how they happened to meet.
    """
    what = "time of kernels that ran alone"
    common = sorted(ours.alone_us.keys() & theirs.alone_us.keys())
    if not common:
        is_one_sided = bool(ours.alone_us) != bool(theirs.alone_us)
        return Check(what, not is_one_sided, "none on either side" if not is_one_sided else "none on one side")
    sums = [
        sum(len(theirs.alone_us[name]) * statistics.median(side.alone_us[name]) for name in common)
        for side in (ours, theirs)
    ]
    apart = abs(sums[0] - sums[1]) / sums[1] if sums[1] else float(sums[0] > 0)
    words = f"{sums[0]:.0f} us; torch {sums[1]:.0f} us; {apart:.1%} apart, goal {most_apart:.0%}; {len(common)} names"
    return Check(what, apart <= most_apart, words)


def nodes_of_graphs(ours: DeviceFacts, theirs: DeviceFacts) -> Check:
    """Some versions of torch do not write which node of a graph a kernel is."""
    is_silent = ours.graph_nodes > 0 and theirs.graph_nodes == 0
    words = f"{ours.graph_nodes}; torch {theirs.graph_nodes}{', which does not write them' if is_silent else ''}"
    return Check("nodes of graphs", theirs.graph_nodes in (0, ours.graph_nodes), words)


def compare(ours: DeviceFacts, theirs: DeviceFacts, *, most_apart: float) -> list[Check]:
    """Two recordings of one program, each in a run of its own; torch's numbers stand beside ours."""
    names, launchers = difference(ours.names, theirs.names), difference(ours.launchers, theirs.launchers)
    streams = f"{len(ours.busy_us)}, busy {sum(ours.busy_us.values()):.0f} us"
    streams_there = f"torch {len(theirs.busy_us)}, busy {sum(theirs.busy_us.values()):.0f} us"

    def equal(what: str, mine: int, other: int) -> Check:
        return Check(what, mine == other, f"{mine}; torch {other}")

    return [
        something_ran(ours, theirs),
        Check("names and their counts", not names, names or f"{len(ours.names)} names; torch {len(theirs.names)}"),
        Check(
            "who launched them",
            not launchers,
            launchers or f"{len(ours.launchers)} pairs of operator and kernel; torch {len(theirs.launchers)}",
        ),
        Check("streams", ours.busy_us.keys() == theirs.busy_us.keys(), f"{streams}; {streams_there}"),
        time_of_kernels(ours, theirs, most_apart=most_apart),
        Check(
            "nothing begins before its call", ours.before_call == 0, f"{ours.before_call}; torch {theirs.before_call}"
        ),
        nodes_of_graphs(ours, theirs),
        equal("copied bytes", ours.copied_bytes, theirs.copied_bytes),
        equal("events of the caching allocator", ours.allocations, theirs.allocations),
    ]


def watched_checks(events: list[dict]) -> list[Check]:
    """Of a trace of graphs that were captured on one stream, so that each node waits for the one before."""
    launches: collections.Counter = collections.Counter()
    ends: dict[int, dict[str, float]] = collections.defaultdict(dict)
    for event in events:
        args = event.get("args") or {}
        if event.get("cat") in WORK and args.get("graph node id"):
            launches[args["correlation"]] += 1
        if event.get("cat") == "ac2g" and event["id"] >= FIRST_ARROW_OF_NODES:
            ends[event["id"]][event["ph"]] = float(event["ts"])
    expected = sum(works - 1 for works in launches.values())
    back = sum(arrow["s"] > arrow["f"] + ROUNDING_US for arrow in ends.values() if len(arrow) == 2)
    return [
        Check("graphs ran", bool(launches), f"{len(launches)} launches"),
        Check("arrows from node to node", len(ends) == expected, f"{len(ends)} of {expected}"),
        Check("none of them leads back", back == 0, f"{back}"),
    ]


def host_node_checks(document: dict) -> list[Check]:
    """Of a trace of graphs that call the CPU between two kernels, each launch after the one before had ended."""
    version = int(document.get("cupti_version", 0))
    kernels: dict[int, list[tuple[float, float]]] = collections.defaultdict(list)
    nodes: dict[int, list[tuple[float, float]]] = collections.defaultdict(list)
    for event in document["traceEvents"]:
        args = event.get("args") or {}
        found = {"kernel": kernels, "graph_host_node": nodes}.get(event.get("cat", ""))
        if found is not None and event.get("ph") == "X" and args.get("graph node id"):
            start = float(event["ts"])
            found[args.get("correlation", 0)].append((start, start + float(event["dur"])))
    count = sum(map(len, nodes.values()))
    checks = [Check("graphs ran", bool(kernels), f"{len(kernels)} launches")]
    if version < HAS_HOST_NODES:
        return [*checks, Check("host nodes", count == 0, f"{count}: CUPTI {version} does not tell of them")]
    numbered = sum(correlation in kernels for correlation in nodes)
    between = sum(
        min(kernels[launch])[1] - MOST_BESIDE_US <= start and end <= max(kernels[launch])[0] + MOST_BESIDE_US
        for launch in nodes.keys() & kernels.keys()
        for start, end in nodes[launch]
    )
    return [
        *checks,
        Check("host nodes", count == len(kernels), f"{count}"),
        Check("host nodes with the number of their launch", numbered == len(kernels), f"{numbered}"),
        Check("host nodes between the kernels", between == count, f"{between}, by {MOST_BESIDE_US} us at most beside"),
    ]


def sensor_checks(events: list[dict], *, most_apart: float) -> list[Check]:
    """Of a trace with CUPTI's sensors, in which a device worked for a second or more."""
    read: dict[tuple[str, int], list[tuple[float, float]]] = collections.defaultdict(list)
    kernels: collections.Counter = collections.Counter()
    begins: dict[int, float] = {}
    for event in events:
        if event.get("ph") == "C":
            read[event["name"], event["pid"]].append((float(event["ts"]), *event["args"].values()))
        if event.get("ph") == "X" and event.get("cat") == "kernel":
            kernels[event["pid"]] += 1
            begins[event["pid"]] = min(begins.get(event["pid"], float("inf")), float(event["ts"]))
    checks = [Check("a device worked", bool(kernels), f"{kernels.total()} kernels")]
    for device in sorted(kernels):
        for ours, of_cupti in READINGS.items():
            warm = begins[device] + WARM_UP_US
            both = read[ours, device], read[of_cupti, device]
            checks += reading_checks(f"{ours} of GPU {device}", *both, warm=warm, most_apart=most_apart)
        cycles = [value for _, value in read[CYCLES, device]]
        holds = len(cycles) == kernels[device] and all(value > 0 for value in cycles)
        checks.append(Check(f"cycles of each kernel of GPU {device}", holds, f"{len(cycles)}"))
    return checks


def since(warm: float, readings: list[tuple[float, float]]) -> list[float]:
    """Values read from `warm` on; where there are none, the last one, which is what then held."""
    return [value for at, value in readings if at >= warm] or [max(readings)[1]]


def reading_checks(
    what: str, nvml: list[tuple[float, float]], cupti: list[tuple[float, float]], *, warm: float, most_apart: float
) -> list[Check]:
    """Of one sensor, (time in us, value): as NVML and as CUPTI tell it; compared are those from `warm` on."""
    if len(nvml) < 2:
        return [Check(what, False, f"{len(nvml)} readings: does NVML (libnvidia-ml.so.1) load, and answer?")]
    values = [value for _, value in nvml]
    length = max(nvml)[0] - min(nvml)[0]
    a_second = (len(nvml) - 1) / length * 1e6 if length > 0 else float("inf")
    shown = f"{len(nvml)} readings, {min(values):.4g} to {max(values):.4g}"
    checks = [
        Check(what, min(values) > 0, shown),
        Check(f"{what}, how often", a_second <= MOST_A_SECOND, f"{a_second:.1f} a second"),
    ]
    what = f"{what} as CUPTI says"
    if not cupti:
        return [*checks, Check(what, False, "CUPTI says nothing of it")]
    mine, other = since(warm, nvml), since(warm, cupti)
    ours, theirs = statistics.median(mine), statistics.median(other)
    apart = abs(ours - theirs) / theirs if theirs else 1.0
    words = f"median of {len(mine)} {ours:.4g}, of {len(other)} of CUPTI's {theirs:.4g}: {apart:.1%} apart"
    return [*checks, Check(what, apart <= most_apart, words)]
