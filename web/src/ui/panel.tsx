// The panel of a tab. Its content is made when the tab is first shown and then stays, so that a tab that stays closed
// costs nothing and an opened one keeps its place.
// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import type { Tab } from "../model/address.ts";
import { FailureBoundary } from "./failure.tsx";
import { useAddress } from "./page_context.ts";

// `pending`: a sentence that is shown until the data are there; `empty`: a sentence that says why the tab has no data;
// "": there are data.
export function Panel(props: { tab: Tab; pending: string; empty: string; children: () => ComponentChildren }) {
  const isShown = useAddress((state) => state.tab) === props.tab;
  const wasShown = useRef(false);
  wasShown.current ||= isShown;
  return (
    <section
      class="panel"
      role="tabpanel"
      id={`panel-${props.tab}`}
      aria-labelledby={`tab-${props.tab}`}
      tabIndex={0}
      hidden={!isShown}
      aria-busy={props.pending !== "" || undefined}
      data-empty={props.empty === "" ? undefined : props.empty}
    >
      {props.pending !== "" ? (
        <p class="empty" role="status">
          {props.pending}
        </p>
      ) : props.empty !== "" ? (
        <p class="empty">{props.empty}</p>
      ) : (
        wasShown.current && <FailureBoundary>{props.children()}</FailureBoundary>
      )}
    </section>
  );
}
