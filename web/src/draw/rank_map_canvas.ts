// Draws the durations of steps by ranks: a cell per rank and step, blue where it was shorter than the median of its step
// and orange where it was longer. Cells without a duration are empty. Rows of stragglers have a mark beside them.
// SPDX-License-Identifier: Apache-2.0
import { cornerOf, kRankScale, kStepScale, labelsOf, type RankGrid } from "../layout/rank_map_layout.ts";
import { heatOf } from "../model/rank_map.ts";
import { kMaxChange } from "../model/tree_diff.ts";
import { beginPicture } from "./canvas.ts";
import type { Colours } from "./colours.ts";

export interface RankMapPicture {
  grid: RankGrid;
  colours: Colours;
  // Rows with a straggler, and its rank.
  marked: ReadonlyMap<number, number>;
  // Cells; -1: none.
  selected: number;
  hovered: number;
  width: number;
  height: number;
}

export function drawRankMap(canvas: HTMLCanvasElement, picture: RankMapPicture): void {
  const context = beginPicture(canvas, picture.width, picture.height);
  if (context === null) return;
  const { grid, colours } = picture;
  const { map } = grid;
  const gapX = grid.width >= 5 ? 1 : 0;
  const gapY = grid.height >= 5 ? 1 : 0;
  // A colour after the other: a change of the colour ends a batch of the canvas.
  const heats = Array.from(map.durations, (_, cell) => heatOf(map, cell));
  for (let heat = -kMaxChange; heat <= kMaxChange; ++heat) {
    context.fillStyle = colours.heats[heat + kMaxChange]!;
    for (let cell = 0; cell < heats.length; ++cell) {
      if (heats[cell] !== heat) continue;
      const { x, y } = cornerOf(grid, cell);
      // Edges on whole pixels, so that neighbours leave no seam.
      const [left, top] = [gapX > 0 ? x : Math.floor(x), gapY > 0 ? y : Math.floor(y)];
      const right = gapX > 0 ? x + grid.width - gapX : Math.ceil(x + grid.width);
      const bottom = gapY > 0 ? y + grid.height - gapY : Math.ceil(y + grid.height);
      context.fillRect(left, top, right - left, bottom - top);
    }
  }
  drawRanks(context, picture);
  drawSteps(context, picture);
  for (const cell of [picture.hovered, picture.selected]) {
    if (cell < 0) continue;
    const { x, y } = cornerOf(grid, cell);
    context.strokeStyle = cell === picture.selected ? colours.ink : colours.accent;
    context.lineWidth = 2;
    const grown = Math.max(0, 5 - Math.min(grid.width, grid.height)) / 2;
    context.strokeRect(x - grown, y - grown, Math.max(2, grid.width - gapX) + 2 * grown, Math.max(2, grid.height - gapY) + 2 * grown);
  }
}

function drawRanks(context: CanvasRenderingContext2D, { grid, colours, marked }: RankMapPicture): void {
  const { map, height } = grid;
  context.textAlign = "right";
  const isNear = (row: number) => [...marked.keys()].some((other) => other !== row && Math.abs(other - row) * height < 14);
  for (const row of new Set([...marked.keys(), ...labelsOf(map.rows, height, 18)])) {
    const straggler = marked.get(row);
    const isMarked = straggler !== undefined;
    // A straggler's own label goes before those around it.
    if (!isMarked && isNear(row)) continue;
    const middle = (row + 0.5) * height;
    context.fillStyle = isMarked ? colours.accent : colours.ink;
    context.fillText(String(straggler ?? map.ranks[row * map.ranksPerCell]!), kRankScale - (isMarked ? 18 : 10), Math.max(7, middle));
    if (!isMarked) continue;
    context.beginPath();
    context.moveTo(kRankScale - 13, middle - 5);
    context.lineTo(kRankScale - 5, middle);
    context.lineTo(kRankScale - 13, middle + 5);
    context.fill();
  }
  context.textAlign = "left";
}

function drawSteps(context: CanvasRenderingContext2D, { grid, colours, width, height }: RankMapPicture): void {
  const { map } = grid;
  const top = height - kStepScale;
  context.textAlign = "center";
  for (const column of labelsOf(map.columns, grid.width, 56)) {
    const x = kRankScale + (column + 0.5) * grid.width;
    context.fillStyle = colours.strongLine;
    context.fillRect(Math.round(x), top + 2, 1, 4);
    context.fillStyle = colours.ink;
    const text = String(map.steps[column * map.stepsPerCell]!);
    if (x + context.measureText(text).width / 2 < width) context.fillText(text, x, top + 16);
  }
  context.textAlign = "left";
}
