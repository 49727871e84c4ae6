// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { alignCurves, exceedWhole } from "./step_curves.ts";

const curve = (times: number[], values: number[]) => ({ times: Float64Array.from(times), values: Float64Array.from(values) });

describe("alignCurves", () => {
  it("holds a value until the next time of its curve", () => {
    expect(alignCurves([curve([0, 10], [1, 2]), curve([5, 10, 20], [7, 8, 9])])).toEqual({
      times: [0, 5, 10, 20],
      values: [[1, 1, 2, 2], [null, 7, 8, 9]],
    });
  });
});

describe("exceedWhole", () => {
  it("is true if the parts have more at one time, which the whole knows", () => {
    expect(exceedWhole([3, 5], [[1, 2], [2, 3]], 0)).toBe(false);
    expect(exceedWhole([3, 5], [[1, 2], [2, 4]], 0)).toBe(true);
    expect(exceedWhole([3, 5], [[1, 2], [2, 4]], 1)).toBe(false);
    expect(exceedWhole([null, 5], [[9, 2], [null, 3]], 0)).toBe(false);
  });
});
