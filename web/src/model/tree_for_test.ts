// Trees of call paths for tests.
// SPDX-License-Identifier: Apache-2.0
import type { CallTree } from "./call_tree.ts";

type Node = [parent: number, name: string, self: number, count: number, kind?: number];

// The tree with these nodes below the root "all"; the first has number 1.
export function treeOf(nodes: readonly Node[]): CallTree {
  const strings = ["all", ...new Set(nodes.map(([, name]) => name))];
  const all: Node[] = [[-1, "all", 0, 0, 0], ...nodes];
  const total = Float64Array.from(all, ([, , self]) => self);
  for (let node = all.length - 1; node > 0; --node) total[all[node]![0]]! += total[node]!;
  return {
    metric: "time",
    unit: "time",
    strings,
    name: Int32Array.from(all, ([, name]) => strings.indexOf(name)),
    parent: Int32Array.from(all, ([parent]) => parent),
    kind: Int32Array.from(all, ([, , , , kind]) => kind ?? 3),
    count: Float64Array.from(all, ([, , , count]) => count),
    total,
    self: Float64Array.from(all, ([, , self]) => self),
    folded: 0,
  };
}

// A tree of `size` nodes with few names, so that paths share suffixes and names recur within a path.
export function randomTree(seed: number, size: number): CallTree {
  let state = seed + 1;
  const next = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const names = new Map<number, Set<string>>();
  const nodes: Node[] = [];
  while (nodes.length < size) {
    const parent = next(nodes.length + 1);
    const taken = names.get(parent) ?? new Set<string>();
    names.set(parent, taken);
    const name = `f${next(6)}`;
    // One path has one node.
    const unique = taken.has(name) ? `g${nodes.length}` : name;
    taken.add(unique);
    nodes.push([parent, unique, next(4) === 0 ? 0 : next(1000), 1 + next(9), next(2) === 0 ? 3 : 5]);
  }
  return treeOf(nodes);
}
