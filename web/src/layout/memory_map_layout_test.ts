// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { addressAt, blockAt, heightOf, largestKeys, panMap, placeAddresses, rectangleOf, viewWith, wholeView, zoomMap } from "./memory_map_layout.ts";

const kTerabyte = 2 ** 40;
// Two blocks at one address, one after the other, one beside them, and one far away.
const address = Float64Array.of(0, 0, 100, kTerabyte);
const bytes = Float64Array.of(100, 50, 100, 200);
const start = Float64Array.of(0, 60, 10, 20);
const duration = Float64Array.of(50, 40, 90, 10);
const axis = placeAddresses(address, bytes);
const blocks = { start, duration, bytes, height: address.map((each) => heightOf(axis, each)) };
const whole = wholeView(blocks, axis);

describe("the axis of addresses", () => {
  it("shortens wide gaps and keeps all else to scale", () => {
    expect(axis.segments).toEqual([
      { first: 0, end: 200, height: 0 },
      { first: kTerabyte, end: kTerabyte + 200, height: 204 },
    ]);
    expect(axis.size).toBe(404);
    expect(heightOf(axis, 150)).toBe(150);
    expect(heightOf(axis, kTerabyte + 7)).toBe(211);
  });

  it("gives back the address of a height", () => {
    expect([0, 150, 202, 204, 211].map((height) => addressAt(axis, height))).toEqual([0, 150, 200, kTerabyte, kTerabyte + 7]);
  });

  it("is empty without blocks", () => {
    const none = new Float64Array(0);
    expect(placeAddresses(none, none)).toEqual({ segments: [], size: 0 });
    expect(wholeView({ start: none, duration: none, bytes: none, height: none }, placeAddresses(none, none))).toEqual({ start: 0, end: 1, low: 0, high: 1 });
  });

  it("keeps the order of addresses on random blocks, without overlap of what does not overlap", () => {
    let seed = 1;
    const random = (end: number) => (seed = (seed * 48271) % 2147483647) % end;
    for (let round = 0; round < 1000; ++round) {
      const count = 1 + random(8);
      const at = Float64Array.from({ length: count }, () => random(3) * 1e9 + random(40));
      const size = Float64Array.from({ length: count }, () => 1 + random(9));
      const placed = placeAddresses(at, size);
      for (let a = 0; a < count; ++a) {
        expect(addressAt(placed, heightOf(placed, at[a]!))).toBe(at[a]!);
        for (let b = 0; b < count; ++b) {
          const isBelow = at[a]! + size[a]! <= at[b]!;
          if (isBelow) expect(heightOf(placed, at[a]!) + size[a]!).toBeLessThanOrEqual(heightOf(placed, at[b]!));
        }
      }
    }
  });
});

describe("the picture of blocks", () => {
  it("shows all at first", () => {
    expect(whole).toEqual({ start: 0, end: 100, low: 0, high: 404 });
  });

  it("places a block by begin and address", () => {
    expect(rectangleOf(blocks, 2, whole, 200, 404)).toEqual({ left: 20, top: 204, width: 180, height: 100 });
  });

  it("gives small blocks a pixel", () => {
    expect(rectangleOf(blocks, 1, whole, 1, 1)).toMatchObject({ width: 1, height: 1 });
  });

  it("finds the block at a point", () => {
    const at = (x: number, y: number) => blockAt(blocks, whole, 100, 404, x, y);
    expect(at(20, 404 - 50)).toBe(0);
    expect(at(80, 404 - 20)).toBe(1);
    expect(at(50, 404 - 150)).toBe(2);
    expect(at(25, 404 - 300)).toBe(3);
    expect(at(80, 404 - 300)).toBe(-1);
  });

  it("zooms about a point and stays within the whole", () => {
    expect(zoomMap(whole, whole, 2, 0.25, 0)).toEqual({ start: 12.5, end: 62.5, low: 0, high: 202 });
    expect(zoomMap(zoomMap(whole, whole, 4), whole, 1 / 8)).toEqual(whole);
  });

  it("pans up to the ends", () => {
    const view = zoomMap(whole, whole, 2);
    expect(panMap(view, whole, 10, -10)).toEqual({ start: 50, end: 100, low: 0, high: 202 });
  });

  it("brings a block into view", () => {
    const view = zoomMap(whole, whole, 8, 0, 0);
    expect(viewWith(view, whole, blocks, 0)).toBe(view);
    const moved = viewWith(view, whole, blocks, 3);
    expect(moved.start).toBeLessThan(30);
    expect(moved.end).toBeGreaterThan(20);
    expect(moved.low).toBeLessThan(404);
    expect(moved.high).toBeGreaterThan(204);
  });

  it("sums the bytes of each key", () => {
    expect(largestKeys(Int32Array.of(5, 7, 5, 9), Float64Array.of(1, 10, 2, 3), 2)).toEqual([
      { key: 7, bytes: 10 },
      { key: 5, bytes: 3 },
    ]);
  });
});
