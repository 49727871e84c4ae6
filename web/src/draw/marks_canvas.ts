// Draws asynchronous ranges and points in time. A range has round ends and a lighter body, a point is a diamond of a
// width that is always visible: neither looks like a span.
// SPDX-License-Identifier: Apache-2.0
import { forVisible, kRow } from "../layout/timeline_layout.ts";
import type { Range } from "../model/address.ts";
import type { Marks } from "../model/marks.ts";
import type { Colours } from "./colours.ts";
import { labelsOf } from "./name_labels.ts";

const kNarrowestText = 26;
// Half of a diamond's width.
const kHalf = 5;

export interface MarksPicture {
  marks: Marks;
  colours: Colours;
  range: Range;
  width: number;
  // Number of the mark; -1: none.
  chosen: number;
  hoveredMark: number;
}

// The lines of one track; `top`: of the first of them.
export function drawMarks(context: CanvasRenderingContext2D, picture: MarksPicture, track: number, top: number): void {
  const { marks, colours, range, width } = picture;
  for (let row = marks.firstRow[track]!; row < marks.firstRow[track + 1]!; ++row) {
    const y = top + (row - marks.firstRow[track]!) * kRow;
    const { folded } = marks;
    context.fillStyle = colours.line;
    context.globalAlpha = 0.45;
    forVisible(folded.rows, row, folded.start, folded.duration, range, width, (_, left, length) => context.fillRect(left, y + kRow / 2 - 2, Math.max(3, length), 4));
    context.globalAlpha = 1;
    forVisible(marks.rows, row, marks.start, marks.duration, range, width, (mark, left, length) => {
      if (mark >= marks.firstPoint) drawPoint(context, picture, mark, left, y);
      else drawRange(context, picture, mark, left, y, length);
    });
  }
}

function outline(context: CanvasRenderingContext2D, picture: MarksPicture, mark: number): void {
  if (mark !== picture.chosen && mark !== picture.hoveredMark) return;
  context.strokeStyle = mark === picture.chosen ? picture.colours.ink : picture.colours.accent;
  context.lineWidth = mark === picture.chosen ? 2 : 1.25;
  context.stroke();
}

function drawRange(context: CanvasRenderingContext2D, picture: MarksPicture, mark: number, start: number, top: number, length: number): void {
  const { colours, marks } = picture;
  const left = Math.max(-20, start);
  const right = Math.min(picture.width + 20, start + Math.max(3, length));
  const name = marks.name[mark]!;
  const labels = labelsOf(marks.strings);
  context.beginPath();
  context.roundRect(left, top + 2, right - left, kRow - 6, Math.min(6, (right - left) / 2));
  context.fillStyle = colours.hues[labels.hue(name)]!;
  context.globalAlpha = 0.35;
  context.fill();
  context.globalAlpha = 1;
  context.strokeStyle = colours.hues[labels.hue(name)]!;
  context.lineWidth = 1;
  context.stroke();
  outline(context, picture, mark);
  if (right - left < kNarrowestText) return;
  context.fillStyle = colours.ink;
  const begin = Math.max(left, 0) + 6;
  context.fillText(labels.fit(context, name, right - begin - 6), begin, top + kRow / 2 - 1);
}

function drawPoint(context: CanvasRenderingContext2D, picture: MarksPicture, mark: number, x: number, top: number): void {
  const middle = top + kRow / 2 - 1;
  context.beginPath();
  context.moveTo(x, middle - kHalf - 1);
  context.lineTo(x + kHalf, middle);
  context.lineTo(x, middle + kHalf + 1);
  context.lineTo(x - kHalf, middle);
  context.closePath();
  context.fillStyle = picture.colours.hues[labelsOf(picture.marks.strings).hue(picture.marks.name[mark]!)]!;
  context.fill();
  context.strokeStyle = picture.colours.ink;
  context.lineWidth = 0.75;
  context.stroke();
  outline(context, picture, mark);
}
