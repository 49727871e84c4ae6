// Which rows of a long table exist as elements: those in view and some around them.
//
// Example: 10,000 rows of 30 px in a box of 600 px, scrolled by 3,000 px: rows 85 to 134 exist, and two spacers of 2,550
// and 295,950 px take the place of the others.
// SPDX-License-Identifier: Apache-2.0

// Up to this many rows all exist, so that the browser's own search finds them.
export const kAllRows = 150;
const kMargin = 15;
// A print has at most this many rows.
export const kPrintedRows = 1000;

export interface RowWindow {
  // Rows [first, end) exist.
  first: number;
  end: number;
}

export function rowWindow(count: number, rowHeight: number, scrollTop: number, viewHeight: number): RowWindow {
  if (count <= kAllRows) return { first: 0, end: count };
  const top = Math.floor(Math.max(0, scrollTop) / rowHeight);
  const first = Math.max(0, Math.min(top, count - 1) - kMargin);
  return { first, end: Math.min(count, top + Math.ceil(viewHeight / rowHeight) + kMargin) };
}
