// The path from the whole flame graph to the frame that fills it; each part is a button that zooms there.
// SPDX-License-Identifier: Apache-2.0
import { type CallTree, nameOf, pathTo } from "../model/call_tree.ts";
import { visibleText } from "../model/numbers.ts";

export function Breadcrumb(props: { tree: CallTree; focus: number; onZoom: (node: number) => void }) {
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
