// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { childrenOf, invert, nameOf } from "../model/call_tree.ts";
import { randomTree, treeOf } from "../model/tree_for_test.ts";
import { adjacentFrame, frameAt, layoutFlame } from "./flame_layout.ts";

describe("layoutFlame", () => {
  it("puts children side by side and leaves the self value free at the right", () => {
    const tree = treeOf([[0, "a", 1, 1], [1, "b", 6, 1], [1, "c", 3, 1]]);
    const { frames } = layoutFlame(tree, childrenOf(tree, "document"), 0, 100, 0.5);
    expect(frames[2]!.map(({ node, left, width }) => [nameOf(tree, node), left, width])).toEqual([["b", 0, 60], ["c", 60, 30]]);
  });

  it("covers exactly the width of the parent with the children and its self value, on random trees in all directions", () => {
    for (let seed = 0; seed < 40; ++seed) {
      const random = randomTree(seed, 150);
      for (const tree of [random, invert(random)]) {
        const children = childrenOf(tree, seed % 2 === 0 ? "document" : "heaviest");
        const { frames } = layoutFlame(tree, children, 0, 1000, 0);
        const byNode = new Map(frames.flat().map((frame) => [frame.node, frame]));
        for (const frame of byNode.values()) {
          const below = (frames[frame.row + 1] ?? []).filter((child) => tree.parent[child.node] === frame.node);
          let at = frame.left;
          for (const child of below) {
            expect(child.left).toBeCloseTo(at, 6);
            at += child.width;
          }
          const covered = below.reduce((sum, child) => sum + tree.total[child.node]!, 0);
          expect(at).toBeCloseTo(frame.left + (frame.width * covered) / tree.total[frame.node]!, 6);
          expect(at).toBeLessThanOrEqual(frame.left + frame.width + 1e-6);
        }
        const shown = [...tree.total].filter((total) => total > 0).length;
        expect(byNode.size).toBe(shown);
      }
    }
  }, 30_000);

  it("orders a left-heavy graph by falling width", () => {
    const tree = randomTree(5, 200);
    for (const row of layoutFlame(tree, childrenOf(tree, "heaviest"), 0, 1000, 0).frames) {
      for (let i = 1; i < row.length; ++i) {
        if (tree.parent[row[i]!.node] === tree.parent[row[i - 1]!.node]) {
          expect(row[i]!.width).toBeLessThanOrEqual(row[i - 1]!.width);
        }
      }
    }
  });

  it("gives the focus and its callers the whole width", () => {
    const tree = treeOf([[0, "a", 1, 1], [1, "b", 6, 1], [2, "c", 3, 1], [0, "d", 50, 1]]);
    const { frames, focusRow } = layoutFlame(tree, childrenOf(tree, "document"), 2, 90, 0.5);
    expect(focusRow).toBe(2);
    expect(frames.map((row) => row.map(({ node, width }) => [nameOf(tree, node), width]))).toEqual([
      [["all", 90]], [["a", 90]], [["b", 90]], [["c", 30]],
    ]);
  });

  it("joins neighbours that are too narrow into one block", () => {
    const tree = treeOf([[0, "a", 96, 1], [0, "b", 1, 1], [0, "c", 1, 1], [0, "d", 2, 1]]);
    const { frames } = layoutFlame(tree, childrenOf(tree, "document"), 0, 100, 2);
    expect(frames[1]!.map(({ node, width }) => [node, width])).toEqual([[1, 96], [-1, 2], [4, 2]]);
  });

  it("shows the root alone if nothing has a value", () => {
    const tree = treeOf([[0, "a", 0, 1]]);
    expect(layoutFlame(tree, childrenOf(tree, "document"), 0, 100, 0.5).frames.length).toBe(1);
  });
});

describe("frameAt", () => {
  it("finds what a search through all frames finds", () => {
    const tree = randomTree(11, 120);
    const layout = layoutFlame(tree, childrenOf(tree, "document"), 0, 500, 1);
    for (let row = 0; row <= layout.frames.length; ++row) {
      for (let x = 0; x < 510; x += 3.7) {
        const wanted = layout.frames[row]?.find((frame) => x >= frame.left && x < frame.left + frame.width) ?? null;
        expect(frameAt(layout, row, x)).toBe(wanted);
      }
    }
  });
});

describe("adjacentFrame", () => {
  it("leads to the caller, the first frame below and the neighbours, and stays at the ends", () => {
    const tree = treeOf([[0, "a", 1, 1], [1, "b", 6, 1], [1, "c", 3, 1]]);
    const layout = layoutFlame(tree, childrenOf(tree, "document"), 0, 100, 0.5);
    expect(adjacentFrame(layout, tree, 1, "down")).toBe(2);
    expect(adjacentFrame(layout, tree, 2, "right")).toBe(3);
    expect(adjacentFrame(layout, tree, 3, "right")).toBe(3);
    expect(adjacentFrame(layout, tree, 3, "left")).toBe(2);
    expect(adjacentFrame(layout, tree, 3, "up")).toBe(1);
    expect(adjacentFrame(layout, tree, 0, "up")).toBe(0);
    expect(adjacentFrame(layout, tree, 3, "down")).toBe(3);
  });
});
