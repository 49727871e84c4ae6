// Where a tooltip is placed: right below the point it belongs to, or on the other side if there is no room, and always
// inside the window.
// SPDX-License-Identifier: Apache-2.0

// CSS pixels from the corner of the window.
export interface Point {
  x: number;
  y: number;
}

export interface Size {
  width: number;
  height: number;
}

// Distance from the point, and from the edges of the window.
const kDistance = 14;
const kMargin = 6;

export function placeTooltip(point: Point, size: Size, view: Size): { left: number; top: number } {
  return { left: place(point.x, size.width, view.width), top: place(point.y, size.height, view.height) };
}

function place(at: number, length: number, end: number): number {
  const after = at + kDistance;
  const before = at - kDistance - length;
  const fits = after + length + kMargin <= end;
  const wanted = fits || before < kMargin ? after : before;
  return Math.max(kMargin, Math.min(wanted, end - kMargin - length));
}
