// The flame graph: its canvas, the path to the zoomed frame, the details of a frame, pointer and keys.
//
// The canvas is as large as what is in view and stays in place while its box scrolls; an empty element below it gives the
// scroll bar the height of the whole graph, since a canvas of thousands of rows would not fit into memory.
// SPDX-License-Identifier: Apache-2.0
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { drawFlame, kFlameRow } from "../draw/flame_canvas.ts";
import { adjacentFrame, type Direction, frameAt, layoutFlame } from "../layout/flame_layout.ts";
import { type CallTree, type Children, nameOf, pathTo } from "../model/call_tree.ts";
import { foldCase } from "../model/names.ts";
import { visibleText } from "../model/numbers.ts";
import { Figure } from "./figure.tsx";
import { useAddress } from "./page_context.ts";
import { useColours } from "./theme.ts";
import { useView } from "./use_view.ts";

// Narrower frames are joined into blocks, in CSS pixels.
const kNarrowest = 0.7;
const kArrows: Record<string, Direction> = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" };

export function FlameView({ tree, childList }: { tree: CallTree; childList: Children }) {
  const [focus, setFocus] = useState(0);
  const [hovered, setHovered] = useState(-1);
  const [current, setCurrent] = useState(0);
  const [hasFocus, setHasFocus] = useState(false);
  const query = useAddress((state) => state.query);
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const view = useView(box, box);
  const colours = useColours();

  const layout = useMemo(() => layoutFlame(tree, childList, focus, view.width, kNarrowest), [tree, childList, focus, view.width]);
  const matches = useMemo(() => {
    const wanted = foldCase(query);
    if (wanted === "") return null;
    const known = new Map<number, boolean>();
    return (name: number) => {
      let isMatch = known.get(name);
      if (isMatch === undefined) known.set(name, (isMatch = foldCase(tree.strings[name] ?? "").includes(wanted)));
      return isMatch;
    };
  }, [tree, query]);

  useLayoutEffect(() => {
    if (canvas.current !== null) drawFlame(canvas.current, { tree, layout, colours, matches, hovered, current, hasFocus, ...view });
  }, [tree, layout, colours, matches, hovered, current, hasFocus, view]);

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
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const direction = kArrows[event.key];
    if (direction !== undefined) {
      const node = adjacentFrame(layout, tree, current, direction);
      setCurrent(node);
      setHovered(-1);
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
    event.preventDefault();
  };

  return (
    <section class="flame" aria-label="Flame graph">
      <Breadcrumb tree={tree} focus={focus} onZoom={zoom} />
      <div
        ref={box}
        class="flame-box"
        role="application"
        aria-label="Frames"
        aria-describedby="flame-keys"
        tabIndex={0}
        onKeyDown={onKeyDown}
        onFocus={() => setHasFocus(true)}
        onBlur={() => setHasFocus(false)}
      >
        <canvas
          ref={canvas}
          class={hovered >= 0 ? "over" : ""}
          onPointerMove={(event) => setHovered(nodeAt(event))}
          onPointerLeave={() => setHovered(-1)}
          onClick={(event) => {
            const node = nodeAt(event);
            if (node >= 0) zoom(node);
          }}
        />
        {/* Gives the scroll bar the height of the graph, less what the canvas takes. */}
        <div style={{ height: `${Math.max(0, layout.frames.length * kFlameRow - view.height)}px` }} />
      </div>
      <FrameDetails tree={tree} node={hovered >= 0 ? hovered : current} />
      <p id="flame-keys" class="hint">
        Click or Enter zooms into a frame, Escape zooms out, arrow keys move. Search highlights frames.
      </p>
    </section>
  );
}

function Breadcrumb(props: { tree: CallTree; focus: number; onZoom: (node: number) => void }) {
  const { tree, focus } = props;
  const path = [0, ...pathTo(tree, focus)];
  // Long paths keep their ends.
  const shown = path.length <= 6 ? path : [path[0]!, -1, ...path.slice(-4)];
  return (
    <div class="crumbs" role="navigation" aria-label="Zoomed frame">
      <ol>
        {shown.map((node) =>
          node < 0 ? (
            <li key="gap">…</li>
          ) : (
            <li key={node}>
              <button type="button" aria-current={node === focus ? "location" : undefined} data-value={nameOf(tree, node)} onClick={() => props.onZoom(node)}>
                {visibleText(nameOf(tree, node)) || "(no name)"}
              </button>
            </li>
          ),
        )}
      </ol>
    </div>
  );
}

function FrameDetails(props: { tree: CallTree; node: number }) {
  const { tree, node } = props;
  const whole = tree.total[0]!;
  return (
    <div class="frame-details" role="group" aria-label="Frame" aria-live="polite">
      <strong data-value={nameOf(tree, node)}>{visibleText(nameOf(tree, node)) || "(no name)"}</strong>
      <span>
        total <Figure value={tree.total[node]!} unit={tree.unit} />
      </span>
      {whole > 0 && (
        <span>
          <Figure value={tree.total[node]! / whole} unit="share" /> of all
        </span>
      )}
      <span>
        self <Figure value={tree.self[node]!} unit={tree.unit} />
      </span>
      {node > 0 && (
        <span>
          count <Figure value={tree.count[node]!} unit="number" />
        </span>
      )}
    </div>
  );
}
