// The tab Flame graph: what to show, the graph, and the call tree as a table.
// SPDX-License-Identifier: Apache-2.0
import { useMemo, useState } from "preact/hooks";
import { childrenOf, decodeTree, invert, keepKinds, kKinds, kMetricTitles, type Metric } from "../model/call_tree.ts";
import type { WebDocument } from "../model/document.ts";
import { CallTreeTable } from "./call_tree.tsx";
import { Choice } from "./choice.tsx";
import { Failure } from "./failure.tsx";
import { Figure } from "./figure.tsx";
import { FlameView } from "./flame_view.tsx";
import { usePage } from "./page_context.ts";
import { useLoaded } from "./use_loaded.ts";
import "./flame.css";

const kDirections = ["top-down", "bottom-up", "left-heavy"] as const;
type Direction = (typeof kDirections)[number];

const kKindTitles: Partial<Record<(typeof kKinds)[number], string>> = {
  operator: "Operators",
  range: "Ranges",
  python: "Python calls",
  module: "Modules",
};

// Why the tab has no data; "": it has.
export function flameEmpty(document: WebDocument): string {
  return document.trees.some((tree) => tree.name.n > 1) ? "" : "No call paths: the trace has no spans on threads.";
}

export function FlameGraph() {
  const { document } = usePage();
  const metrics = useMemo(() => document.trees.filter((tree) => tree.name.n > 1).map((tree) => tree.metric), [document]);
  const [metric, setMetric] = useState<Metric>(metrics[0] ?? "time");
  const [direction, setDirection] = useState<Direction>("top-down");
  const [kind, setKind] = useState("all");
  const { data: decoded, failure } = useLoaded(() => {
    const data = document.trees.find((tree) => tree.metric === metric);
    return data === undefined ? null : decodeTree(data, document.strings);
  }, [document, metric]);

  const kinds = useMemo(() => (decoded === null ? [] : kKinds.filter((title, at) => title in kKindTitles && decoded.kind.includes(at))), [decoded]);
  const shown = useMemo(() => {
    if (decoded === null) return null;
    const at = kKinds.findIndex((title) => title === kind);
    const kept = at < 0 ? decoded : keepKinds(decoded, new Set([at]));
    const tree = direction === "bottom-up" ? invert(kept) : kept;
    const heaviest = childrenOf(tree, "heaviest");
    return { tree, heaviest, graph: direction === "top-down" ? childrenOf(tree, "document") : heaviest };
  }, [decoded, direction, kind]);

  if (failure !== "") return <Failure message={failure} />;
  return (
    <>
      <div class="choices">
        <Choice label="Direction" value={direction} options={kDirections.map((name) => ({ value: name, title: name }))} onChange={(value) => setDirection(value as Direction)} />
        <Choice label="Metric" value={metric} options={metrics.map((name) => ({ value: name, title: kMetricTitles[name] }))} onChange={(value) => setMetric(value as Metric)} />
        {kinds.length > 1 && (
          <Choice
            label="Frames"
            value={kind}
            options={[{ value: "all", title: "All" }, ...kinds.map((name) => ({ value: name, title: kKindTitles[name] ?? name }))]}
            onChange={setKind}
          />
        )}
      </div>
      {shown !== null && (
        <>
          <FlameView key={`graph ${metric} ${direction} ${kind}`} label="Flame graph" tree={shown.tree} childList={shown.graph} />
          {shown.tree.folded > 0 && (
            <p class="empty">
              <Figure value={shown.tree.folded} unit="number" /> call paths are too small for this page; their values count
              as those of their callers.
            </p>
          )}
          {shown.tree.deepest !== undefined && (
            <p class="empty">
              The call paths are too long to show all callers: each has those up to <Figure value={shown.tree.deepest} unit="number" /> levels up.
            </p>
          )}
          <CallTreeTable key={`tree ${metric} ${direction} ${kind}`} tree={shown.tree} childList={shown.heaviest} />
        </>
      )}
    </>
  );
}
