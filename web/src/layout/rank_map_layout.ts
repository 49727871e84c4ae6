// Where the cells of a picture of steps by ranks lie, which of them the pointer or a key leads to, and the labels of its
// axes. No cell is smaller than a pixel: where there is less room, neighbours are joined, and the page says so.
// SPDX-License-Identifier: Apache-2.0
import { joinCells, type RankMap, ratioOf } from "../model/rank_map.ts";

// CSS pixels: room for the ranks at the left, for the steps below, and the largest cell and picture.
export const kRankScale = 64;
export const kStepScale = 26;
const kWidest = 40;
const kHighest = 22;
const kMaxHeight = 560;

export interface RankGrid {
  // Joined until it fits.
  map: RankMap;
  // Of a cell. Fractions of a pixel where there are many.
  width: number;
  height: number;
}

// `width`: of the picture, scales included.
export function fitRankMap(map: RankMap, width: number): RankGrid {
  const room = Math.max(1, Math.floor(width) - kRankScale);
  const fitted = joinCells(map, Math.max(1, Math.ceil(map.rows / kMaxHeight)), Math.max(1, Math.ceil(map.columns / room)));
  const height = Math.max(1, Math.min(kHighest, kMaxHeight / Math.max(1, fitted.rows)));
  return {
    map: fitted,
    width: Math.min(kWidest, room / Math.max(1, fitted.columns)),
    height: height >= 4 ? Math.floor(height) : height,
  };
}

// Of the picture, the scale below it included.
export function heightOfGrid(grid: RankGrid): number {
  return Math.ceil(grid.map.rows * grid.height) + kStepScale;
}

// The cell at a point of the picture; -1: none.
export function cellAt(grid: RankGrid, x: number, y: number): number {
  const column = Math.floor((x - kRankScale) / grid.width);
  const row = Math.floor(y / grid.height);
  const isInside = column >= 0 && column < grid.map.columns && row >= 0 && row < grid.map.rows;
  return isInside ? row * grid.map.columns + column : -1;
}

// The corner of a cell at the top left.
export function cornerOf(grid: RankGrid, cell: number): { x: number; y: number } {
  const { columns } = grid.map;
  return { x: kRankScale + (cell % columns) * grid.width, y: Math.floor(cell / columns) * grid.height };
}

// Where a key leads from a cell; -1: the picture has no cells. null: the key does nothing.
export function cellAfter(grid: RankGrid, cell: number, key: string): number | null {
  const { rows, columns } = grid.map;
  if (rows * columns === 0) return null;
  const at = Math.max(0, cell);
  const [row, column] = [Math.floor(at / columns), at % columns];
  const page = Math.max(1, Math.round(rows / 10));
  const to = (nextRow: number, nextColumn: number) =>
    Math.max(0, Math.min(rows - 1, nextRow)) * columns + Math.max(0, Math.min(columns - 1, nextColumn));
  const targets: Record<string, () => number> = {
    ArrowLeft: () => to(row, column - 1),
    ArrowRight: () => to(row, column + 1),
    ArrowUp: () => to(row - 1, column),
    ArrowDown: () => to(row + 1, column),
    PageUp: () => to(row - page, column),
    PageDown: () => to(row + page, column),
    Home: () => to(row, 0),
    End: () => to(row, columns - 1),
  };
  const target = targets[key];
  if (target === undefined) return null;
  return cell < 0 ? 0 : target();
}

// The cell of the longest duration in comparison; -1: there are no durations. Of equal ones the first.
export function hottestCell(map: RankMap): number {
  let hottest = -1;
  for (let cell = 0; cell < map.durations.length; ++cell) {
    if (map.durations[cell] !== 0 && (hottest < 0 || ratioOf(map, cell) > ratioOf(map, hottest))) hottest = cell;
  }
  return hottest;
}

// Which rows or columns have a label, at least `spacing` pixels apart: every 1st, 2nd, 5th, 10th, ...
export function labelsOf(count: number, size: number, spacing: number): number[] {
  let every = 1;
  while (every * size < spacing && every < count) every *= String(every).startsWith("2") ? 2.5 : 2;
  const labels: number[] = [];
  for (let at = 0; at < count; at += every) labels.push(at);
  return labels;
}

// The rows in which one of these ranks lies, with the lowest of them.
export function rowsOfRanks(map: RankMap, ranks: ReadonlySet<number>): Map<number, number> {
  const rows = new Map<number, number>();
  map.ranks.forEach((rank, at) => {
    const row = Math.floor(at / map.ranksPerCell);
    if (ranks.has(rank) && !rows.has(row)) rows.set(row, rank);
  });
  return rows;
}
