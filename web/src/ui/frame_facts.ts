// What the page says about a frame of a flame graph: in the tooltip and below the graph.
// SPDX-License-Identifier: Apache-2.0
import type { CallTree } from "../model/call_tree.ts";
import type { Unit } from "../model/document.ts";
import { format } from "../model/numbers.ts";
import { changeText, type TreeDiff } from "../model/tree_diff.ts";
import type { Fact } from "./tooltip.tsx";

export function factsOf(tree: CallTree, node: number): Fact[] {
  const whole = tree.total[0]!;
  const facts: Fact[] = [{ title: "total", value: tree.total[node]!, unit: tree.unit }];
  if (whole > 0) facts.push({ title: "of all", value: tree.total[node]! / whole, unit: "share" });
  facts.push({ title: "self", value: tree.self[node]!, unit: tree.unit });
  if (node > 0) facts.push({ title: "count", value: tree.count[node]!, unit: "number" });
  return facts;
}

// Of both runs, with the change between them: "150 ns (+50 ns, +50.00 %)".
export function changesOf({ run, base }: TreeDiff, node: number): Fact[] {
  const facts: Fact[] = [];
  const add = (title: string, now: number, before: number, unit: Unit) => {
    const fact: Fact = { title, value: now, unit };
    if (now !== before) {
      const share = now === 0 || before === 0 ? null : now / before - 1; // null: the text is no number
      const delta = `${now > before ? "+" : ""}${format(now - before, unit).text}`;
      fact.changes = [
        { value: now - before, text: delta },
        { value: share, text: changeText(now, before) },
      ];
    }
    facts.push(fact, { title: `${title}, baseline`, value: before, unit });
  };
  add("total", run.total[node]!, base.total[node]!, run.unit);
  add("self", run.self[node]!, base.self[node]!, run.unit);
  if (node > 0) add("count", run.count[node]!, base.count[node]!, "number");
  return facts;
}
