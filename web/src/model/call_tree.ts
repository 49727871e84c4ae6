// Trees of call paths: their nodes in columns, their children in an order, and their inversion.
//
// A node stands for all spans with one path of names. total = self + the totals of the children, in every direction:
// the inverted tree has a node per name below its root with the sum of the self values of that name, and below it the
// callers, with the part of that sum that came from them. Only nodes right below the root have a self value there.
// Example: a calls b twice, self 1 and 4 + 5: top-down a(10, self 1) > b(9, self 9); bottom-up b(9, self 9) > a(9),
// and a(1, self 1).
// SPDX-License-Identifier: Apache-2.0
import { decodeColumn, decodeIndices } from "./columns.ts";
import type { TreeData, Unit } from "./document.ts";
import { compareTexts } from "./tables.ts";

export type Metric = TreeData["metric"];

export const kMetricTitles: Record<Metric, string> = {
  time: "Time",
  device_time: "Device time",
  memory: "Allocated memory",
  flops: "FLOPs",
};

// Kinds of nodes as in the document.
export const kKinds = ["root", "thread", "device", "operator", "range", "python", "module"] as const;

export interface CallTree {
  metric: Metric;
  unit: Unit;
  // Texts by which `name` counts.
  strings: readonly string[];
  // Node 0 is the root; parents come before children.
  name: Int32Array;
  // -1 for the root.
  parent: Int32Array;
  kind: Int32Array;
  count: Float64Array;
  total: Float64Array;
  self: Float64Array;
  // Paths that the document leaves out.
  folded: number;
  // Of an inverted tree whose callers farther away are left out: nodes of this level have no children, whatever their
  // total is.
  deepest?: number;
}

export async function decodeTree(data: TreeData, strings: readonly string[]): Promise<CallTree> {
  const [name, parent, kind, count, total, self] = await Promise.all([
    decodeIndices(data.name),
    decodeIndices(data.parent),
    decodeIndices(data.kind),
    decodeColumn(data.count),
    decodeColumn(data.total),
    decodeColumn(data.self),
  ]);
  if (parent.length > 0) parent[0] = -1;
  return { metric: data.metric, unit: data.unit, strings, name, parent, kind, count, total, self, folded: data.folded };
}

export function nameOf(tree: CallTree, node: number): string {
  return tree.strings[tree.name[node] ?? -1] ?? "";
}

// The nodes from the one below the root to `node`.
export function pathTo(tree: CallTree, node: number): number[] {
  const path: number[] = [];
  for (let at = node; at > 0; at = tree.parent[at]!) path.push(at);
  return path.reverse();
}

// What the spans whose names match take: the totals of the outermost matching nodes, so that nothing counts twice.
export function matchedTotal(tree: CallTree, isMatch: (name: number) => boolean): number {
  const isInside = new Uint8Array(tree.name.length);
  let sum = 0;
  for (let node = 1; node < tree.name.length; ++node) {
    const isBelow = isInside[tree.parent[node]!] === 1;
    if (!isBelow && !isMatch(tree.name[node]!)) continue;
    isInside[node] = 1;
    if (!isBelow) sum += tree.total[node]!;
  }
  return sum;
}

// Gathers nodes by parent and name.
class TreeBuilder {
  readonly #nodes = new Map<number, number>();
  readonly #strings: number;
  readonly tree: { [Key in "name" | "parent" | "kind" | "count" | "total" | "self"]: number[] };

  constructor(source: CallTree) {
    this.#strings = source.strings.length + 1;
    this.tree = { name: [source.name[0] ?? -1], parent: [-1], kind: [0], count: [0], total: [0], self: [0] };
  }

  child(parent: number, name: number, kind: number): number {
    const key = parent * this.#strings + name;
    let node = this.#nodes.get(key);
    if (node === undefined) {
      node = this.tree.name.push(name) - 1;
      this.tree.parent.push(parent);
      this.tree.kind.push(kind);
      this.tree.count.push(0);
      this.tree.total.push(0);
      this.tree.self.push(0);
      this.#nodes.set(key, node);
    }
    return node;
  }

  finish(source: CallTree): CallTree {
    const { name, parent, kind, count, total, self } = this.tree;
    return {
      metric: source.metric,
      unit: source.unit,
      strings: source.strings,
      folded: source.folded,
      name: Int32Array.from(name),
      parent: Int32Array.from(parent),
      kind: Int32Array.from(kind),
      count: Float64Array.from(count),
      total: Float64Array.from(total),
      self: Float64Array.from(self),
    };
  }
}

// An inverted tree has at most so many nodes, and is made in so many steps: 40,000 paths of 1,000 different calls would
// not fit into memory.
const kMaxInverted = { nodes: 2_000_000, steps: 20_000_000 };

// The tree of callers. Nodes without a value are left out, except in the tree of time, where each name has a row.
export function invert(tree: CallTree, most = kMaxInverted): CallTree {
  const builder = new TreeBuilder(tree);
  const { count, total, self } = builder.tree;
  const nodes = Int32Array.from(tree.name.keys()).filter((node) => node > 0 && (tree.self[node] !== 0 || (tree.count[node] !== 0 && tree.metric === "time")));
  // Of each node, the caller that comes next and the place in the new tree below which it belongs; level by level.
  const [callers, places] = [nodes.slice(), new Int32Array(nodes.length)];
  for (const node of nodes) total[0]! += tree.self[node]!;
  let active = nodes.length;
  let steps = 0;
  for (let level = 1; active > 0; ++level) {
    steps += active;
    if (level > 1 && (total.length + active > most.nodes || steps > most.steps)) return { ...builder.finish(tree), deepest: level - 1 };
    let kept = 0;
    for (let at = 0; at < active; ++at) {
      const [node, caller] = [nodes[at]!, callers[at]!];
      const place = builder.child(places[at]!, tree.name[caller]!, tree.kind[caller]!);
      total[place]! += tree.self[node]!;
      count[place]! += tree.count[node]!;
      if (level === 1) self[place]! += tree.self[node]!;
      if (tree.parent[caller]! <= 0) continue;
      nodes[kept] = node;
      callers[kept] = tree.parent[caller]!;
      places[kept++] = place;
    }
    active = kept;
  }
  return builder.finish(tree);
}

// The tree with only the nodes of some kinds. The value of a node that is left out counts as self of its nearest
// caller that stays.
export function keepKinds(tree: CallTree, kinds: ReadonlySet<number>): CallTree {
  const builder = new TreeBuilder(tree);
  const { count, total, self } = builder.tree;
  const kept = new Int32Array(tree.name.length);
  for (let node = 1; node < tree.name.length; ++node) {
    const above = kept[tree.parent[node]!]!;
    const stays = kinds.has(tree.kind[node]!);
    kept[node] = stays ? builder.child(above, tree.name[node]!, tree.kind[node]!) : above;
    if (stays) count[kept[node]!]! += tree.count[node]!;
    self[kept[node]!]! += tree.self[node]!;
  }
  self[0]! += tree.self[0] ?? 0;
  for (let node = total.length - 1; node >= 0; --node) {
    total[node]! += self[node]!;
    if (node > 0) total[builder.tree.parent[node]!]! += total[node]!;
  }
  return builder.finish(tree);
}

// Children of all nodes: those of `node` are list[first[node]] to list[first[node + 1] - 1].
export interface Children {
  first: Int32Array;
  list: Int32Array;
}

// `order`: as in the document, which is the order of their first calls, or the heaviest first, ties by name.
export function childrenOf(tree: CallTree, order: "document" | "heaviest"): Children {
  const size = tree.parent.length;
  const first = new Int32Array(size + 1);
  for (let node = 1; node < size; ++node) ++first[tree.parent[node]! + 1]!;
  for (let node = 0; node < size; ++node) first[node + 1]! += first[node]!;
  const next = first.slice();
  const list = new Int32Array(Math.max(0, size - 1));
  for (let node = 1; node < size; ++node) list[next[tree.parent[node]!]!++] = node;
  if (order === "heaviest") {
    for (let node = 0; node < size; ++node) {
      const siblings = list.subarray(first[node], first[node + 1]);
      if (siblings.length > 1) siblings.sort((a, b) => compareWeights(tree, a, b));
    }
  }
  return { first, list };
}

function compareWeights(tree: CallTree, a: number, b: number): number {
  const order = tree.total[b]! - tree.total[a]!;
  return order !== 0 ? order : compareTexts(nameOf(tree, a), nameOf(tree, b)) || a - b;
}

// A row of the call tree as a table.
export interface TreeRow {
  node: number;
  // 1 right below the root.
  level: number;
  // null: the node has no children.
  isOpen: boolean | null;
}

// The rows that are in sight when the nodes of `open` are open.
export function openRows(children: Children, open: ReadonlySet<number>): TreeRow[] {
  const rows: TreeRow[] = [];
  const stack: { node: number; level: number }[] = [];
  const push = (node: number, level: number) => {
    for (let i = children.first[node + 1]! - 1; i >= children.first[node]!; --i) stack.push({ node: children.list[i]!, level });
  };
  if (children.first.length > 1) push(0, 1);
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const { node, level } = top;
    const isLeaf = children.first[node] === children.first[node + 1];
    const isOpen = isLeaf ? null : open.has(node);
    rows.push({ node, level, isOpen });
    if (isOpen === true) push(node, level + 1);
  }
  return rows;
}
