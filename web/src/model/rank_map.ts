// The durations of a job's steps by ranks, in cells. Of many ranks or steps, neighbours share a cell, which shows the
// duration that is longest in comparison with the median of its step: a mean would hide one slow rank among twenty.
//
// Example: medians 10 and 100, rank 0 lasts 11 and 150, rank 1 lasts 14 and 100. The cell of both ranks and steps is
// that of rank 0 in the second step.
// SPDX-License-Identifier: Apache-2.0
import { decodeColumn, decodeIndices } from "./columns.ts";
import type { RankMapData } from "./document.ts";
import { changeStep } from "./tree_diff.ts";

export interface RankMap {
  // All ranks and steps, ascending, and the median of each step.
  ranks: Float64Array;
  steps: Float64Array;
  medians: Float64Array;
  ranksPerCell: number;
  stepsPerCell: number;
  // Of cells.
  rows: number;
  columns: number;
  // By cell, row by row: how many durations it has.
  durations: Float64Array;
  // Whose duration it shows, as indices in `ranks` and `steps`; -1: it has none.
  rank: Int32Array;
  step: Int32Array;
  duration: Float64Array;
}

export async function loadRankMap(data: RankMapData): Promise<RankMap> {
  const [ranks, steps, medians, durations, rankOf, stepOf, over] = await Promise.all([
    decodeColumn(data.rank),
    decodeColumn(data.step),
    decodeColumn(data.median_ns),
    decodeColumn(data.cells.durations),
    decodeIndices(data.cells.rank),
    decodeIndices(data.cells.step),
    decodeColumn(data.cells.over_median_ns),
  ]);
  const [rows, columns] = [Math.ceil(ranks.length / data.ranks_per_cell), Math.ceil(steps.length / data.steps_per_cell)];
  const map = emptyCells({ ranks, steps, medians, ranksPerCell: data.ranks_per_cell, stepsPerCell: data.steps_per_cell }, rows, columns);
  let known = 0;
  for (let cell = 0; cell < rows * columns; ++cell) {
    if ((durations[cell] ?? 0) === 0) continue;
    map.durations[cell] = durations[cell]!;
    map.rank[cell] = Math.floor(cell / columns) * data.ranks_per_cell + rankOf[known]!;
    map.step[cell] = (cell % columns) * data.steps_per_cell + stepOf[known]!;
    map.duration[cell] = medians[map.step[cell]!]! + over[known]!;
    ++known;
  }
  return map;
}

type Axes = Pick<RankMap, "ranks" | "steps" | "medians" | "ranksPerCell" | "stepsPerCell">;

function emptyCells(axes: Axes, rows: number, columns: number): RankMap {
  const count = rows * columns;
  const none = () => new Int32Array(count).fill(-1);
  return { ...axes, rows, columns, durations: new Float64Array(count), rank: none(), step: none(), duration: new Float64Array(count) };
}

// The median of the step whose duration the cell shows. REQUIRES: the cell has one.
export function medianOf(map: RankMap, cell: number): number {
  return map.medians[map.step[cell]!]!;
}

// Duration over median. REQUIRES: the cell has a duration.
export function ratioOf(map: RankMap, cell: number): number {
  return map.duration[cell]! / Math.max(1, medianOf(map, cell));
}

// As changeStep; null: no duration.
export function heatOf(map: RankMap, cell: number): number | null {
  return map.durations[cell] === 0 ? null : changeStep(map.duration[cell]!, Math.max(1, medianOf(map, cell)));
}

// The same with `down` x `across` cells in one.
export function joinCells(map: RankMap, down: number, across: number): RankMap {
  if (down === 1 && across === 1) return map;
  const columns = Math.ceil(map.columns / across);
  const axes = { ...map, ranksPerCell: map.ranksPerCell * down, stepsPerCell: map.stepsPerCell * across };
  const joined = emptyCells(axes, Math.ceil(map.rows / down), columns);
  for (let row = 0; row < map.rows; ++row) {
    for (let column = 0; column < map.columns; ++column) {
      const from = row * map.columns + column;
      const to = Math.floor(row / down) * columns + Math.floor(column / across);
      if (map.durations[from] === 0) continue;
      if (joined.durations[to] === 0 || isLonger(map, from, ratioOf(joined, to), joined.rank[to]!, joined.step[to]!)) {
        joined.rank[to] = map.rank[from]!;
        joined.step[to] = map.step[from]!;
        joined.duration[to] = map.duration[from]!;
      }
      joined.durations[to]! += map.durations[from]!;
    }
  }
  return joined;
}

// Of equal ones the lowest rank counts, then the first step.
function isLonger(map: RankMap, cell: number, ratio: number, rank: number, step: number): boolean {
  const own = ratioOf(map, cell);
  if (own !== ratio) return own > ratio;
  return map.rank[cell]! < rank || (map.rank[cell] === rank && map.step[cell]! < step);
}

// "3", or "3 to 7": the values of an axis that a row or column of cells has.
export function valuesOf(axis: Float64Array, perCell: number, at: number): string {
  const first = axis[at * perCell]!;
  const last = axis[Math.min(axis.length, (at + 1) * perCell) - 1]!;
  return first === last ? String(first) : `${first} to ${last}`;
}
