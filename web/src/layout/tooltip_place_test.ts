// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { placeTooltip } from "./tooltip_place.ts";

const kView = { width: 400, height: 300 };

describe("placeTooltip", () => {
  it("stands right below the point where there is room", () => {
    expect(placeTooltip({ x: 10, y: 20 }, { width: 100, height: 50 }, kView)).toEqual({ left: 24, top: 34 });
  });

  it("stands on the other side at the right and at the bottom of the window", () => {
    expect(placeTooltip({ x: 380, y: 290 }, { width: 100, height: 50 }, kView)).toEqual({ left: 266, top: 226 });
  });

  it("is inside the window and beside the point wherever it fits", () => {
    for (let x = 0; x <= 400; x += 7) {
      for (let y = 0; y <= 300; y += 7) {
        const size = { width: 150, height: 100 };
        const { left, top } = placeTooltip({ x, y }, size, kView);
        expect(left >= 6 && left + size.width <= 394 && top >= 6 && top + size.height <= 294).toBe(true);
        expect(left > x || left + size.width < x || top > y || top + size.height < y).toBe(true);
      }
    }
  });

  it("begins at the edge of a window that is too narrow", () => {
    expect(placeTooltip({ x: 200, y: 10 }, { width: 500, height: 50 }, kView).left).toBe(6);
  });
});
