// The tabs: one tab stop, arrow keys move and activate.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef } from "preact/hooks";
import type { Tab } from "../model/address.ts";
import { useAddress, usePage } from "./page_context.ts";

const kTitles: Record<Tab, string> = {
  overview: "Overview",
  timeline: "Timeline",
  ranks: "Ranks",
  flame: "Flame graph",
  operators: "Operators",
  kernels: "Kernels",
  memory: "Memory",
  modules: "Modules",
  compare: "Compare",
  about: "About",
};

export function TabList() {
  const { store } = usePage();
  const current = useAddress((state) => state.tab);
  const list = useRef<HTMLDivElement>(null);

  // On narrow screens the list scrolls; the address may name a tab that is out of view.
  useEffect(() => {
    list.current?.querySelector(`#tab-${current}`)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [current]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const count = store.tabs.length;
    const at = store.tabs.indexOf(current);
    const targets: Record<string, number> = {
      ArrowRight: (at + 1) % count,
      ArrowLeft: (at + count - 1) % count,
      ArrowDown: (at + 1) % count,
      ArrowUp: (at + count - 1) % count,
      Home: 0,
      End: count - 1,
    };
    const target = targets[event.key];
    if (target === undefined) return;
    event.preventDefault();
    const tab = store.tabs[target]!;
    store.set({ tab });
    list.current?.querySelector<HTMLElement>(`#tab-${tab}`)?.focus();
  };

  return (
    <div class="tabs" role="tablist" aria-label="Views" ref={list} onKeyDown={onKeyDown}>
      {store.tabs.map((tab) => (
        <button
          key={tab}
          type="button"
          role="tab"
          id={`tab-${tab}`}
          aria-controls={`panel-${tab}`}
          aria-selected={tab === current}
          tabIndex={tab === current ? 0 : -1}
          onClick={() => store.set({ tab })}
        >
          {kTitles[tab]}
        </button>
      ))}
    </div>
  );
}
