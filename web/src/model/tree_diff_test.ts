// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { packColumn } from "./document_for_test.ts";
import { changeStep, changeText, decodeTreeDiff, shortChange, vanished } from "./tree_diff.ts";

describe("a change", () => {
  it("has steps that are as far from the middle in both directions", () => {
    const ratios = [1, 1.01, 1.02, 1.09, 1.1, 1.4, 1.5, 100];
    expect(ratios.map((ratio) => changeStep(1000 * ratio, 1000))).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
    for (const ratio of ratios) expect(changeStep(1000, 1000 * ratio)).toBe(0 - changeStep(1000 * ratio, 1000));
    expect([changeStep(5, 0), changeStep(0, 5), changeStep(0, 0)]).toEqual([3, -3, 0]);
  });

  it("has its sign in the text", () => {
    expect([[150, 100], [50, 100], [7, 0], [0, 7], [5, 5], [0, 0]].map(([run, base]) => changeText(run!, base!))).toEqual([
      "+50.00 %",
      "-50.00 %",
      "new",
      "gone",
      "±0 %",
      "",
    ]);
    expect([shortChange(1127, 1000), shortChange(873, 1000), shortChange(1001, 1000)]).toEqual(["+13 %", "-13 %", "±0 %"]);
  });
});

describe("a difference of trees", () => {
  it("is two trees with the same nodes", async () => {
    const column = (...values: number[]) => packColumn(values);
    const diff = await decodeTreeDiff(
      {
        metric: "time",
        unit: "time",
        name: column(0, 1, 2, 3),
        parent: column(0, 0, 1, 1),
        kind: column(0, 3, 3, 3),
        count: column(0, 2, 1, 0),
        total: column(10, 10, 4, 0),
        self: column(0, 6, 4, 0),
        base_count: column(0, 2, 0, 5),
        base_total: column(9, 9, 0, 3),
        base_self: column(0, 6, 0, 3),
        folded: 0,
      },
      ["all", "a", "b", "c"],
    );
    expect([...diff.run.total]).toEqual([10, 10, 4, 0]);
    expect([...diff.base.total]).toEqual([9, 9, 0, 3]);
    expect(diff.base.name).toBe(diff.run.name);
    expect(vanished(diff)).toEqual({ paths: 1, self: 3 });
  });
});
