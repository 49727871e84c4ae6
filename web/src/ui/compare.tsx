// The tab Compare: the difference to the baseline by call path as a flame graph, and by name, the rows of `opscope diff`.
// SPDX-License-Identifier: Apache-2.0
import { useMemo, useState } from "preact/hooks";
import { childrenOf, kMetricTitles, type Metric } from "../model/call_tree.ts";
import { decodeTreeDiff, type TreeDiff, vanished } from "../model/tree_diff.ts";
import { Choice } from "./choice.tsx";
import { DocumentTable } from "./document_table.tsx";
import { Failure } from "./failure.tsx";
import { Figure } from "./figure.tsx";
import { FlameView } from "./flame_view.tsx";
import { usePage } from "./page_context.ts";
import { useLoaded } from "./use_loaded.ts";
import "./compare.css";
import "./flame.css";

type Widths = "run" | "base";

// By step of the change plus kMaxChange, as kChangeSteps has them.
const kLegend = ["gone, −33 % or less", "−9 %", "−2 %", "about the same", "+2 %", "+10 %", "+50 % or more, new"];

export function Compare() {
  return (
    <>
      <DifferenceGraph />
      <DocumentTable name="Compare" table="compare" hasHues />
      <p class="hint">
        A is the baseline, B is this run. Delta is the self time per step in B less that in A, or of the whole run without steps. Low and High bound it with 95 % confidence.
      </p>
    </>
  );
}

function DifferenceGraph() {
  const { document } = usePage();
  const trees = useMemo(() => (document.tree_diffs ?? []).filter((tree) => tree.name.n > 1), [document]);
  const [metric, setMetric] = useState<Metric>(trees[0]?.metric ?? "time");
  const [widths, setWidths] = useState<Widths>("run");
  const { data: diff, failure } = useLoaded(() => {
    const data = trees.find((tree) => tree.metric === metric);
    return data === undefined ? null : decodeTreeDiff(data, document.strings);
  }, [trees, metric]);
  const tree = diff === null ? null : diff[widths];
  const childList = useMemo(() => (tree === null ? null : childrenOf(tree, "document")), [tree]);

  if (failure !== "") return <Failure message={failure} />;
  if (trees.length === 0) return null;
  return (
    <section class="difference" aria-label="Difference by call path">
      <header>
        <h2>Difference flame graph</h2>
      </header>
      <div class="choices">
        <Choice
          label="Metric"
          value={metric}
          options={trees.map((each) => ({ value: each.metric, title: kMetricTitles[each.metric] }))}
          onChange={(value) => setMetric(value as Metric)}
        />
        <Choice
          label="Widths"
          value={widths}
          options={[
            { value: "run", title: "This run" },
            { value: "base", title: "Baseline" },
          ]}
          onChange={(value) => setWidths(value as Widths)}
        />
      </div>
      <Legend />
      {diff !== null && tree !== null && childList !== null && (
        <>
          <FlameView key={`${metric} ${widths}`} label="Difference flame graph" tree={tree} childList={childList} diff={diff} />
          <Notes diff={diff} widths={widths} />
        </>
      )}
    </section>
  );
}

function Legend() {
  return (
    <ul class="legend" aria-label="Colours: the total of this run compared with the baseline">
      {kLegend.map((text, step) => (
        <li key={text}>
          <i class={`change change-${step}`} aria-hidden="true" />
          {text}
        </li>
      ))}
    </ul>
  );
}

// What the graph cannot show.
function Notes({ diff, widths }: { diff: TreeDiff; widths: Widths }) {
  const { paths, self } = useMemo(() => vanished(diff), [diff]);
  return (
    <>
      {paths > 0 && widths === "run" && (
        <p class="hint">
          <Figure value={paths} unit="number" /> call paths are in the baseline alone and have no width here. They took{" "}
          <Figure value={self} unit={diff.run.unit} /> of their own. Widths of the baseline show them.
        </p>
      )}
      {diff.run.folded > 0 && (
        <p class="hint">
          <Figure value={diff.run.folded} unit="number" /> call paths are too small for this page; their values count as those of their callers.
        </p>
      )}
    </>
  );
}
