// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { RankMapData } from "./document.ts";
import { packColumn } from "./document_for_test.ts";
import { heatOf, joinCells, loadRankMap, medianOf, type RankMap, ratioOf, valuesOf } from "./rank_map.ts";

// Cells from rows of ranks by steps: a duration, or null.
function dataOf(medians: number[], durations: (number | null)[][]): RankMapData {
  const all = durations.flatMap((row, rank) => row.map((duration, step) => ({ rank, step, duration })));
  const known = all.filter(({ duration }) => duration !== null);
  return {
    measure: "duration_ns",
    rank: packColumn(durations.map((_, rank) => rank), 1),
    step: packColumn(medians.map((_, step) => 10 + step), 1),
    median_ns: packColumn(medians),
    ranks_per_cell: 1,
    steps_per_cell: 1,
    cells: {
      durations: packColumn(all.map(({ duration }) => (duration === null ? 0 : 1))),
      rank: packColumn(known.map(() => 0)),
      step: packColumn(known.map(() => 0)),
      over_median_ns: packColumn(known.map(({ step, duration }) => duration! - medians[step]!)),
    },
  };
}

const shown = (map: RankMap, cell: number) => [map.durations[cell], map.rank[cell], map.step[cell], map.duration[cell]];

describe("loadRankMap", () => {
  it("finds the duration of each rank and step, and where there is none", async () => {
    const map = await loadRankMap(dataOf([10, 100], [[11, 150], [14, null]]));
    expect([map.rows, map.columns]).toEqual([2, 2]);
    expect([0, 1, 2, 3].map((cell) => shown(map, cell))).toEqual([[1, 0, 0, 11], [1, 0, 1, 150], [1, 1, 0, 14], [0, -1, -1, 0]]);
    expect([medianOf(map, 1), ratioOf(map, 1), heatOf(map, 1), heatOf(map, 3)]).toEqual([100, 1.5, 3, null]);
  });

  it("finds ranks and steps by their places in cells of several", async () => {
    const data = dataOf([10, 100, 20], [[11, 1, 1], [14, 1, 1], [9, 1, 1]]);
    const cells = { durations: packColumn([4, 2, 2, 1]), rank: packColumn([1, 0, 0, 0]), step: packColumn([0, 0, 1, 0]), over_median_ns: packColumn([4, 1, -3, 2]) };
    const map = await loadRankMap({ ...data, ranks_per_cell: 2, steps_per_cell: 2, cells });
    expect([0, 1, 2, 3].map((cell) => shown(map, cell))).toEqual([[4, 1, 0, 14], [2, 0, 2, 21], [2, 2, 1, 97], [1, 2, 2, 22]]);
  });

  it("is empty without steps", async () => {
    const map = await loadRankMap(dataOf([], [[], []]));
    expect([map.rows, map.columns, map.durations.length]).toEqual([2, 0, 0]);
  });
});

describe("joinCells", () => {
  it("shows the longest duration in comparison with its step, not the longest one", async () => {
    const map = joinCells(await loadRankMap(dataOf([10, 100], [[11, 149], [15, 100]])), 2, 2);
    expect(shown(map, 0)).toEqual([4, 1, 0, 15]);
  });

  it("prefers the lowest rank, then the first step", async () => {
    const map = joinCells(await loadRankMap(dataOf([10, 20], [[5, 40], [20, 40]])), 2, 2);
    expect(shown(map, 0)).toEqual([4, 0, 1, 40]);
    expect(shown(joinCells(await loadRankMap(dataOf([10, 20], [[20, 40], [20, 40]])), 2, 2), 0)).toEqual([4, 0, 0, 20]);
  });

  it("gives the same in one turn and in two, for random jobs", async () => {
    let state = 5;
    const random = (most: number) => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) % most;
    for (let job = 0; job < 100; ++job) {
      const [ranks, steps] = [1 + random(13), 1 + random(13)];
      const medians = Array.from({ length: steps }, () => random(4));
      const durations = Array.from({ length: ranks }, () => medians.map(() => (random(5) === 0 ? null : random(9))));
      const map = await loadRankMap(dataOf(medians, durations));
      const once = joinCells(map, 4, 6);
      expect(joinCells(joinCells(map, 2, 3), 2, 2)).toEqual(once);
      for (let cell = 0; cell < once.durations.length; ++cell) {
        const [row, column] = [Math.floor(cell / once.columns), cell % once.columns];
        const inside: [number, number, number][] = [];
        durations.forEach((values, rank) =>
          values.forEach((value, step) => {
            if (value !== null && Math.floor(rank / 4) === row && Math.floor(step / 6) === column) inside.push([value / Math.max(1, medians[step]!), -rank, -step]);
          }),
        );
        inside.sort((a, b) => b[0] - a[0] || b[1] - a[1] || b[2] - a[2]);
        expect(once.durations[cell]).toBe(inside.length);
        if (inside.length > 0) expect([ratioOf(once, cell), -once.rank[cell]!, -once.step[cell]!].map((value) => value + 0)).toEqual(inside[0]!.map((value) => value + 0));
      }
    }
  });
});

describe("valuesOf", () => {
  it("names one value or the first and the last", () => {
    const axis = Float64Array.of(3, 5, 9);
    expect([valuesOf(axis, 1, 1), valuesOf(axis, 2, 0), valuesOf(axis, 2, 1)]).toEqual(["5", "3 to 5", "9"]);
  });
});
