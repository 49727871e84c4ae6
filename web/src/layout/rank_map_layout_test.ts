// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { RankMap } from "../model/rank_map.ts";
import { cellAfter, cellAt, cornerOf, fitRankMap, heightOfGrid, hottestCell, kRankScale, kStepScale, labelsOf, rowsOfRanks } from "./rank_map_layout.ts";

// All durations are 100 + rank + step, the medians 100.
function mapOf(rows: number, columns: number): RankMap {
  const cells = Array.from({ length: rows * columns }, (_, cell) => cell);
  return {
    ranks: Float64Array.from({ length: rows }, (_, rank) => rank),
    steps: Float64Array.from({ length: columns }, (_, step) => step),
    medians: new Float64Array(columns).fill(100),
    ranksPerCell: 1,
    stepsPerCell: 1,
    rows,
    columns,
    durations: new Float64Array(rows * columns).fill(1),
    rank: Int32Array.from(cells, (cell) => Math.floor(cell / columns)),
    step: Int32Array.from(cells, (cell) => cell % columns),
    duration: Float64Array.from(cells, (cell) => 100 + Math.floor(cell / columns) + (cell % columns)),
  };
}

describe("fitRankMap", () => {
  it("keeps cells of a few ranks and steps large, but not huge", () => {
    const grid = fitRankMap(mapOf(4, 3), 1000);
    expect([grid.map.rows, grid.map.columns, grid.width, grid.height]).toEqual([4, 3, 40, 22]);
    expect(heightOfGrid(grid)).toBe(4 * 22 + kStepScale);
  });

  it("joins neighbours rather than drawing less than a pixel of each", () => {
    const grid = fitRankMap(mapOf(1200, 700), kRankScale + 300);
    expect([grid.map.ranksPerCell, grid.map.stepsPerCell, grid.map.rows, grid.map.columns]).toEqual([3, 3, 400, 234]);
    expect(grid.width).toBeGreaterThanOrEqual(1);
    expect(grid.height).toBeGreaterThanOrEqual(1);
    expect([...grid.map.durations].reduce((a, b) => a + b)).toBe(1200 * 700);
  });

  it("takes a picture without steps, and one that is not laid out yet", () => {
    expect(fitRankMap(mapOf(3, 0), 500).map.columns).toBe(0);
    expect(fitRankMap(mapOf(3, 5), 0).map.columns).toBe(1);
  });
});

describe("cellAt", () => {
  it("finds every cell by its middle, and nothing outside", () => {
    const grid = fitRankMap(mapOf(30, 17), 300);
    for (let cell = 0; cell < 30 * 17; ++cell) {
      const { x, y } = cornerOf(grid, cell);
      expect(cellAt(grid, x + grid.width / 2, y + grid.height / 2)).toBe(cell);
    }
    expect([cellAt(grid, kRankScale - 1, 5), cellAt(grid, kRankScale + 17 * grid.width + 1, 5), cellAt(grid, kRankScale + 1, 30 * grid.height + 1)]).toEqual([-1, -1, -1]);
  });
});

describe("cellAfter", () => {
  const grid = fitRankMap(mapOf(30, 5), 500);

  it("moves by a cell and stops at the edges", () => {
    expect(["ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"].map((key) => cellAfter(grid, 0, key))).toEqual([1, 0, 0, 5]);
    expect(["ArrowRight", "ArrowDown"].map((key) => cellAfter(grid, 149, key))).toEqual([149, 149]);
  });

  it("goes to the ends of a row, and over a tenth of the ranks", () => {
    expect(["Home", "End", "PageUp", "PageDown"].map((key) => cellAfter(grid, 52, key))).toEqual([50, 54, 37, 67]);
  });

  it("begins at the first cell, and leaves other keys alone", () => {
    expect([cellAfter(grid, -1, "ArrowDown"), cellAfter(grid, 3, "x"), cellAfter(fitRankMap(mapOf(3, 0), 500), -1, "ArrowDown")]).toEqual([0, null, null]);
  });
});

describe("hottestCell", () => {
  it("is the longest in comparison, and none without durations", () => {
    expect(hottestCell(mapOf(3, 4))).toBe(11);
    expect(hottestCell({ ...mapOf(1, 2), durations: new Float64Array(2) })).toBe(-1);
  });
});

describe("labelsOf", () => {
  it("labels every 1st, 2nd, 5th, ... so that there is room", () => {
    expect(labelsOf(4, 20, 18)).toEqual([0, 1, 2, 3]);
    expect(labelsOf(12, 5, 18)).toEqual([0, 5, 10]);
    expect(labelsOf(50, 1, 18)).toEqual([0, 20, 40]);
    expect(labelsOf(0, 1, 18)).toEqual([]);
  });
});

describe("rowsOfRanks", () => {
  it("finds the rows of cells of several ranks", () => {
    expect([...rowsOfRanks({ ...mapOf(9, 1), ranksPerCell: 4 }, new Set([3, 5, 7, 8, 77]))]).toEqual([[0, 3], [1, 5], [2, 8]]);
  });
});
