// Spans and ranges of time.
// SPDX-License-Identifier: Apache-2.0
import type { Range } from "./address.ts";

// The part of [start, end) inside of the range.
export function overlap(start: number, end: number, range: Range): number {
  return Math.max(0, Math.min(end, range.end) - Math.max(start, range.start));
}

// A span of length 0 lies in the range if it begins there.
export function isIn(start: number, end: number, range: Range): boolean {
  return start === end ? start >= range.start && start < range.end : start < range.end && end > range.start;
}
