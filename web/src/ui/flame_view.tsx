// A flame graph: its canvas, the path to the zoomed frame, what Search matches, the details of a frame, pointer and keys.
//
// The canvas is as large as what is in view and stays in place while its box scrolls; an empty element below it gives the
// scroll bar the height of the whole graph, since a canvas of thousands of rows would not fit into memory.
// SPDX-License-Identifier: Apache-2.0
import { useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { drawFlame, kFlameRow } from "../draw/flame_canvas.ts";
import { adjacentFrame, type Direction, frameAt, layoutFlame } from "../layout/flame_layout.ts";
import type { Point } from "../layout/tooltip_place.ts";
import { type CallTree, type Children, matchedTotal, nameOf, pathTo } from "../model/call_tree.ts";
import { getOrMake } from "../model/memo.ts";
import { foldCase } from "../model/names.ts";
import { visibleText } from "../model/numbers.ts";
import { hueOf, kHues } from "../model/palette.ts";
import { changeStep, kMaxChange, shortChange, type TreeDiff } from "../model/tree_diff.ts";
import { Breadcrumb } from "./breadcrumb.tsx";
import { Figure } from "./figure.tsx";
import { changesOf, factsOf } from "./frame_facts.ts";
import { useAddress } from "./page_context.ts";
import { useColours } from "./theme.ts";
import { type Fact, FactChanges, FactText, Tooltip } from "./tooltip.tsx";
import { useView } from "./use_view.ts";

// Narrower frames are joined into blocks, in CSS pixels.
const kNarrowest = 0.7;
// Height of the box, at least, and what its frame adds, in CSS pixels.
const kFewestRows = 8;
const kBorders = 3;
const kArrows: Record<string, Direction> = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" };

// `tree`: its totals are the widths. `diff`: the colours are changes, not names.
export function FlameView(props: { label: string; tree: CallTree; childList: Children; diff?: TreeDiff }) {
  const { tree, childList, diff } = props;
  const [focus, setFocus] = useState(0);
  const [hovered, setHovered] = useState(-1);
  const [pointer, setPointer] = useState<Point>({ x: 0, y: 0 });
  const [current, setCurrent] = useState(0);
  const [hasFocus, setHasFocus] = useState(false);
  // The keyboard is in use, so the tooltip belongs to the current frame.
  const [usesKeys, setUsesKeys] = useState(false);
  const query = useAddress((state) => state.query);
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const view = useView(box, box);
  const colours = useColours();
  const id = useId();

  const layout = useMemo(() => layoutFlame(tree, childList, focus, view.width, kNarrowest), [tree, childList, focus, view.width]);
  // A low graph has a low box. Zooming into a frame does not change its height.
  const highest = useRef<{ of: Children; rows: number }>({ of: childList, rows: 0 });
  if (highest.current.of !== childList) highest.current = { of: childList, rows: 0 };
  highest.current.rows = Math.max(highest.current.rows, layout.frames.length, kFewestRows);
  const matches = useMemo(() => matcherOf(tree, query), [tree, query]);
  const style = useMemo(
    () => ({
      fillOf: (node: number) => {
        if (diff !== undefined) return colours.changes[kMaxChange + changeStep(diff.run.total[node]!, diff.base.total[node]!)]!;
        return colours.hues[node === 0 ? kHues - 1 : hueOf(nameOf(tree, node))]!;
      },
      labelOf: (node: number) => (diff === undefined ? nameOf(tree, node) : `${shortChange(diff.run.total[node]!, diff.base.total[node]!)} ${nameOf(tree, node)}`),
    }),
    [tree, diff, colours],
  );

  useLayoutEffect(() => {
    if (canvas.current !== null) drawFlame(canvas.current, { tree, layout, colours, ...style, matches, hovered, current, hasFocus, ...view });
  }, [tree, layout, colours, style, matches, hovered, current, hasFocus, view]);

  const zoom = (node: number) => {
    setFocus(node);
    setCurrent(node);
    box.current?.scrollTo({ top: Math.max(0, (pathTo(tree, node).length - 3) * kFlameRow) });
  };
  const nodeAt = (event: MouseEvent) => {
    const corner = canvas.current?.getBoundingClientRect();
    if (corner === undefined) return -1;
    const row = Math.floor((event.clientY - corner.top + view.scrollTop) / kFlameRow);
    return frameAt(layout, row, event.clientX - corner.left)?.node ?? -1;
  };
  // Below the visible part of a frame.
  const placeOf = (node: number): Point | null => {
    const corner = canvas.current?.getBoundingClientRect();
    const row = pathTo(tree, node).length;
    const frame = layout.frames[row]?.find((each) => each.node === node);
    const top = row * kFlameRow - view.scrollTop;
    if (corner === undefined || frame === undefined || top < 0 || top > view.height) return null;
    return { x: corner.left + frame.left + Math.min(24, frame.width / 2), y: corner.top + top + kFlameRow - 6 };
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const direction = kArrows[event.key];
    if (direction !== undefined) {
      const node = adjacentFrame(layout, tree, current, direction);
      setCurrent(node);
      const top = pathTo(tree, node).length * kFlameRow;
      if (box.current !== null && (top < view.scrollTop || top + kFlameRow > view.scrollTop + view.height)) {
        box.current.scrollTop = top - view.height / 2;
      }
    } else if (event.key === "Enter") {
      zoom(current);
    } else if (event.key === "Escape" && focus > 0) {
      zoom(tree.parent[focus]!);
    } else if (event.key === "Home") {
      zoom(0);
    } else {
      return;
    }
    setHovered(-1);
    setUsesKeys(true);
    event.preventDefault();
  };

  const tipped = hovered >= 0 ? hovered : usesKeys && hasFocus ? current : -1;
  const facts = (node: number): Fact[] => (diff === undefined ? factsOf(tree, node) : changesOf(diff, node));
  return (
    <section class="flame" aria-label={props.label}>
      <Breadcrumb tree={tree} focus={focus} onZoom={zoom} />
      <div
        ref={box}
        class="flame-box"
        style={{ maxHeight: `${highest.current.rows * kFlameRow + kBorders}px` }}
        role="application"
        aria-label={`${props.label}: frames`}
        aria-describedby={tipped >= 0 ? `${id}-keys ${id}-tip` : `${id}-keys`}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onFocus={(event) => {
          setHasFocus(true);
          setUsesKeys(event.currentTarget.matches(":focus-visible"));
        }}
        onBlur={() => setHasFocus(false)}
      >
        <canvas
          ref={canvas}
          class={hovered >= 0 ? "over" : ""}
          onPointerMove={(event) => {
            setHovered(nodeAt(event));
            setPointer({ x: event.clientX, y: event.clientY });
            setUsesKeys(false);
          }}
          onPointerLeave={() => setHovered(-1)}
          onClick={(event) => {
            const node = nodeAt(event);
            if (node >= 0) zoom(node);
          }}
        />
        {/* Gives the scroll bar the height of the graph, less what the canvas takes. */}
        <div style={{ height: `${Math.max(0, layout.frames.length * kFlameRow - view.height)}px` }} />
      </div>
      {tipped >= 0 && (
        <Tooltip key={tipped} id={`${id}-tip`} name={nameOf(tree, tipped)} facts={facts(tipped)} place={() => (hovered >= 0 ? pointer : placeOf(tipped))} />
      )}
      {matches !== null && <MatchedShare tree={tree} matches={matches} />}
      <FrameDetails name={nameOf(tree, tipped >= 0 ? tipped : current)} facts={facts(tipped >= 0 ? tipped : current)} />
      <p id={`${id}-keys`} class="hint keys">
        Click or Enter zooms into a frame, Escape zooms out, arrow keys move. Search highlights frames.
      </p>
    </section>
  );
}

// Whether a name, by its index, contains the text of Search; null: there is no text.
function matcherOf(tree: CallTree, query: string): ((name: number) => boolean) | null {
  const wanted = foldCase(query);
  if (wanted === "") return null;
  const known = new Map<number, boolean>();
  return (name) => getOrMake(known, name, () => foldCase(tree.strings[name] ?? "").includes(wanted));
}

function MatchedShare(props: { tree: CallTree; matches: (name: number) => boolean }) {
  const { tree, matches } = props;
  const sum = useMemo(() => matchedTotal(tree, matches), [tree, matches]);
  const whole = tree.total[0]!;
  return (
    <p class="matched" role="status" aria-label="Matched part">
      Search matches <Figure value={sum} unit={tree.unit} />
      {whole > 0 && (
        <>
          , <Figure value={sum / whole} unit="share" /> of all
        </>
      )}
      .
    </p>
  );
}

function FrameDetails(props: { name: string; facts: readonly Fact[] }) {
  return (
    <div class="frame-details" role="group" aria-label="Frame" aria-live="polite">
      <strong data-value={props.name}>{visibleText(props.name) || "(no name)"}</strong>
      {props.facts.map((fact) => (
        <span key={fact.title}>
          <span>
            {fact.title} <FactText fact={fact} />
          </span>
          <FactChanges fact={fact} />
        </span>
      ))}
    </div>
  );
}
