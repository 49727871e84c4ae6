// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { alignCurves } from "./step_curves.ts";

const curve = (times: number[], values: number[]) => ({ times: Float64Array.from(times), values: Float64Array.from(values) });

describe("alignCurves", () => {
  it("holds a value until the next time of its curve", () => {
    expect(alignCurves([curve([0, 10], [1, 2]), curve([5, 10, 20], [7, 8, 9])])).toEqual({
      times: [0, 5, 10, 20],
      values: [[1, 1, 2, 2], [null, 7, 8, 9]],
    });
  });
});
