// Times relative to the first begin, and back.
// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { Origin } from "./document.ts";

it("gives the end of a range that a double cannot hold", () => {
  const origin = new Origin({ start_ns: -1, end_ns: "1661938466265034999", epoch_ns: null });
  expect(origin.exact(origin.relative("1661938466265034999"))).toBe(1661938466265034999n);
  expect(origin.exact(0)).toBe(-1n);
});

it("has a range of 1 ns without a length", () => {
  const origin = new Origin({ start_ns: 5, end_ns: 5, epoch_ns: null });
  expect([origin.exact(0), origin.exact(origin.length)]).toEqual([5n, 6n]);
});
