// The page: heading, verdict, controls, tabs and their panels.
// SPDX-License-Identifier: Apache-2.0
import type { ComponentType } from "preact";
import type { Tab } from "../model/address.ts";
import type { TableName, WebDocument } from "../model/document.ts";
import { visibleText } from "../model/numbers.ts";
import { About } from "./about.tsx";
import { Compare } from "./compare.tsx";
import { Controls } from "./controls.tsx";
import { whyEmpty } from "./document_table.tsx";
import { FlameGraph, flameEmpty } from "./flame.tsx";
import { Failure } from "./failure.tsx";
import { Foot } from "./foot.tsx";
import { Kernels } from "./kernels.tsx";
import { Memory, memoryEmpty } from "./memory.tsx";
import { Modules } from "./modules.tsx";
import { Operators } from "./operators.tsx";
import { Overview, overviewEmpty } from "./overview.tsx";
import { type Page, PageContext } from "./page_context.ts";
import { Panel } from "./panel.tsx";
import { DataQuality } from "./quality.tsx";
import { Ranks, ranksEmpty } from "./ranks.tsx";
import { TabList } from "./tab_list.tsx";
import { Timeline, timelineEmpty } from "./timeline.tsx";

// Tabs that a partial document has, too.
const kFirstTabs: readonly Tab[] = ["overview", "timeline", "ranks", "about"];

const emptyTable = (table: TableName) => (document: WebDocument) => whyEmpty(document, table);

// `empty`: why the tab has no data; "": it has some.
const kViews: Record<Tab, { View: ComponentType; empty: (document: WebDocument) => string }> = {
  overview: { View: Overview, empty: overviewEmpty },
  timeline: { View: Timeline, empty: timelineEmpty },
  ranks: { View: Ranks, empty: ranksEmpty },
  flame: { View: FlameGraph, empty: flameEmpty },
  operators: { View: Operators, empty: emptyTable("operators") },
  kernels: { View: Kernels, empty: emptyTable("kernels") },
  memory: { View: Memory, empty: memoryEmpty },
  modules: { View: Modules, empty: emptyTable("modules") },
  compare: { View: Compare, empty: emptyTable("compare") },
  about: { View: About, empty: () => "" },
};

export function App({ page }: { page: Page }) {
  return (
    <PageContext.Provider value={page}>
      {page.notice !== "" && <Failure message={page.notice} />}
      <header class="head">
        <h1>{visibleText(page.document.title)}</h1>
        <Controls />
      </header>
      <div class="always">
        <DataQuality />
        <nav aria-label="Views of the trace">
          <TabList />
        </nav>
      </div>
      <main>
        {page.store.tabs.map((tab) => {
          const { View, empty } = kViews[tab];
          const pending = kFirstTabs.includes(tab) ? "" : page.pending;
          return (
            <Panel key={tab} tab={tab} pending={pending} empty={pending === "" ? empty(page.document) : ""}>
              {() => <View />}
            </Panel>
          );
        })}
      </main>
      <Foot />
    </PageContext.Provider>
  );
}
