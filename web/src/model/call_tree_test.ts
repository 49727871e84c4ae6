// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { type CallTree, childrenOf, decodeTree, invert, keepKinds, matchedTotal, nameOf, openRows, pathTo } from "./call_tree.ts";
import { packColumn } from "./document_for_test.ts";
import { randomTree, treeOf } from "./tree_for_test.ts";

const kTrees = Array.from({ length: 40 }, (_, seed) => randomTree(seed, 1 + ((seed * 37) % 200)));

// Sums by a key: of all nodes but the root.
function sumsBy(size: number, key: (node: number) => string, value: (node: number) => number): Map<string, number> {
  const sums = new Map<string, number>();
  for (let node = 1; node < size; ++node) sums.set(key(node), (sums.get(key(node)) ?? 0) + value(node));
  return sums;
}

describe("decodeTree", () => {
  it("reads the columns and gives the root no parent", async () => {
    const column = (values: number[]) => packColumn(values);
    const tree = await decodeTree(
      { metric: "time", unit: "time", name: column([0, 1]), parent: column([0, 0]), kind: column([0, 3]), count: column([0, 2]), total: column([5, 5]), self: column([0, 5]), folded: 1 },
      ["all", "mm"],
    );
    expect([...tree.parent]).toEqual([-1, 0]);
    expect(nameOf(tree, 1)).toBe("mm");
    expect(tree.folded).toBe(1);
  });
});

describe("invert", () => {
  it("gives each name the sum of its self values, with its callers below", () => {
    const inverted = invert(treeOf([[0, "a", 1, 1], [1, "b", 9, 2]]));
    const rows = openRows(childrenOf(inverted, "heaviest"), new Set([1, 2, 3])).map(({ node, level }) => [
      nameOf(inverted, node), level, inverted.total[node], inverted.self[node], inverted.count[node],
    ]);
    expect(rows).toEqual([["b", 1, 9, 9, 2], ["a", 2, 9, 0, 2], ["a", 1, 1, 1, 1]]);
  });

  it("keeps the sum of self per name on random trees", () => {
    for (const tree of kTrees) {
      const inverted = invert(tree);
      const wanted = sumsBy(tree.name.length, (node) => nameOf(tree, node), (node) => tree.self[node]!);
      const found = sumsBy(inverted.name.length, (node) => nameOf(inverted, node), (node) => inverted.self[node]!);
      expect(found).toEqual(wanted);
    }
  });

  it("has so many levels as fit, with the same values in them", () => {
    for (const tree of kTrees) {
      const [whole, cut] = [invert(tree), invert(tree, { nodes: 2 * tree.name.length, steps: Infinity })];
      expect(cut.name.length).toBeLessThanOrEqual(2 * tree.name.length);
      const deepest = cut.deepest ?? Infinity;
      const inLevels = (each: CallTree) => sumsBy(each.name.length, (node) => pathTo(each, node).map((at) => nameOf(each, at)).join("/"), (node) => each.total[node]!);
      const shown = [...inLevels(whole)].filter(([path]) => path.split("/").length <= deepest);
      expect(inLevels(cut)).toEqual(new Map(shown));
    }
    expect(kTrees.some((tree) => invert(tree, { nodes: 2 * tree.name.length, steps: Infinity }).deepest !== undefined)).toBe(true);
    expect(invert(kTrees[20]!, { nodes: Infinity, steps: 1 }).deepest).toBe(1);
  });

  it("gives a caller path the self values of the paths that end with it, as brute force finds them", () => {
    for (const tree of kTrees.slice(0, 12)) {
      const inverted = invert(tree);
      const paths = Array.from(tree.name, (_, node) => pathTo(tree, node).map((at) => nameOf(tree, at)));
      for (let node = 1; node < inverted.name.length; ++node) {
        const callers = pathTo(inverted, node).map((at) => nameOf(inverted, at)).reverse();
        let sum = 0;
        paths.forEach((path, at) => {
          if (at > 0 && path.slice(-callers.length).join("/") === callers.join("/")) sum += tree.self[at]!;
        });
        expect(inverted.total[node]).toBe(sum);
      }
    }
  });

  it("leaves names without a value out, except in the tree of time", () => {
    const time = treeOf([[0, "a", 0, 1], [1, "b", 9, 2]]);
    expect(openRows(childrenOf(invert(time), "heaviest"), new Set()).length).toBe(2);
    expect(openRows(childrenOf(invert({ ...time, metric: "memory" }), "heaviest"), new Set()).length).toBe(1);
  });
});

describe("keepKinds", () => {
  it("adds what it leaves out to the nearest caller that stays", () => {
    const tree = treeOf([[0, "a", 1, 1, 5], [1, "f", 2, 1, 3], [2, "b", 4, 1, 5]]);
    const python = keepKinds(tree, new Set([5]));
    expect(Array.from(python.name, (_, node) => [nameOf(python, node), python.total[node], python.self[node]])).toEqual([
      ["all", 7, 0], ["a", 7, 3], ["b", 4, 4],
    ]);
  });

  it("keeps the total of the tree on random trees", () => {
    for (const tree of kTrees) expect(keepKinds(tree, new Set([3])).total[0]).toBe(tree.total[0]);
  });
});

describe("childrenOf", () => {
  it("orders the heaviest first and ties by name", () => {
    const tree = treeOf([[0, "c", 2, 1], [0, "b", 5, 1], [0, "a", 2, 1]]);
    expect(Array.from(childrenOf(tree, "heaviest").list, (node) => nameOf(tree, node))).toEqual(["b", "a", "c"]);
    expect(Array.from(childrenOf(tree, "document").list, (node) => nameOf(tree, node))).toEqual(["c", "b", "a"]);
  });

  it("lists each node once, below its parent", () => {
    for (const tree of kTrees) {
      const { first, list } = childrenOf(tree, "heaviest");
      expect([...list].sort((a, b) => a - b)).toEqual(Array.from({ length: tree.name.length - 1 }, (_, i) => i + 1));
      for (let node = 0; node < tree.name.length; ++node) {
        const siblings = [...list.subarray(first[node], first[node + 1])];
        expect(siblings.every((child) => tree.parent[child] === node)).toBe(true);
        const weights = siblings.map((child) => tree.total[child]!);
        expect(weights).toEqual(weights.toSorted((a, b) => b - a));
      }
    }
  });
});

describe("openRows", () => {
  it("shows the children of open nodes only", () => {
    const tree = treeOf([[0, "a", 1, 1], [1, "b", 1, 1], [2, "c", 1, 1]]);
    const children = childrenOf(tree, "heaviest");
    expect(openRows(children, new Set([2]))).toEqual([{ node: 1, level: 1, isOpen: false }]);
    expect(openRows(children, new Set([1]))).toEqual([{ node: 1, level: 1, isOpen: true }, { node: 2, level: 2, isOpen: false }]);
    expect(openRows(children, new Set([1, 2])).at(-1)).toEqual({ node: 3, level: 3, isOpen: null });
  });

  it("has no row for a tree without nodes", () => {
    expect(openRows({ first: new Int32Array(1), list: new Int32Array(0) }, new Set())).toEqual([]);
  });
});

describe("matchedTotal", () => {
  it("adds up the self values of all nodes that match or lie below a match, on random trees", () => {
    for (const tree of kTrees) {
      for (const wanted of ["f1", "f", "none"]) {
        const isMatch = (name: number) => tree.strings[name]!.includes(wanted);
        let sum = 0;
        for (let node = 1; node < tree.name.length; ++node) {
          if (pathTo(tree, node).some((each) => isMatch(tree.name[each]!))) sum += tree.self[node]!;
        }
        expect(matchedTotal(tree, isMatch)).toBe(sum);
      }
    }
  });
});
