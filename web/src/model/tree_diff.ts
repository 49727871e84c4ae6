// The difference of two runs by call path: two trees with the same nodes, one with the values of the run and one with
// those of the baseline. A path that a run lacks has the value 0 there.
//
// A change is a ratio, so that a path that takes half as long and one that takes twice as long are equally far from the
// middle. Example: 150 after 100 is "+50.00 %" and step 3 of 3; 0 after 100 is "gone" and step -3.
// SPDX-License-Identifier: Apache-2.0
import { type CallTree, decodeTree } from "./call_tree.ts";
import { decodeColumn } from "./columns.ts";
import type { TreeDiffData } from "./document.ts";
import { shareText } from "./numbers.ts";

export interface TreeDiff {
  run: CallTree;
  base: CallTree;
}

export async function decodeTreeDiff(data: TreeDiffData, strings: readonly string[]): Promise<TreeDiff> {
  const [run, count, total, self] = await Promise.all([
    decodeTree(data, strings),
    decodeColumn(data.base_count),
    decodeColumn(data.base_total),
    decodeColumn(data.base_self),
  ]);
  return { run, base: { ...run, count, total, self } };
}

// Largest step of a change in each direction.
export const kMaxChange = 3;
// Ratios at which the steps 1, 2 and 3 begin.
export const kChangeSteps = [1.02, 1.1, 1.5] as const;

// From -kMaxChange, much less, to kMaxChange, much more. 0: nearly the same.
export function changeStep(run: number, base: number): number {
  if (run === base) return 0;
  const ratio = run > base ? run / base : base / run;
  const step = kChangeSteps.filter((begin) => ratio >= begin).length;
  return run > base ? step : 0 - step;
}

// With its sign: "+12.34 %", "-4.00 %", "new", "gone"; "" where neither run has a value.
export function changeText(run: number, base: number): string {
  if (run === base) return run === 0 ? "" : "±0 %";
  if (base === 0) return "new";
  if (run === 0) return "gone";
  return `${run > base ? "+" : ""}${shareText(run / base - 1)}`;
}

// A frame has little room: "+12 %".
export function shortChange(run: number, base: number): string {
  const isShare = run !== base && run !== 0 && base !== 0;
  if (!isShare) return changeText(run, base);
  const percent = Math.round((run / base - 1) * 100);
  return percent === 0 ? "±0 %" : `${percent > 0 ? "+" : ""}${percent} %`;
}

// What the run has no more: the number of paths that only the baseline has, and their own values.
export function vanished({ run, base }: TreeDiff): { paths: number; self: number } {
  let paths = 0;
  let self = 0;
  for (let node = 1; node < run.count.length; ++node) {
    if (run.count[node] !== 0 || run.total[node] !== 0 || base.count[node] === 0) continue;
    ++paths;
    self += base.self[node]!;
  }
  return { paths, self };
}
