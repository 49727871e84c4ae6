// The tab Operators: the rows of `opscope summary`. Filter and order are in the address.
// SPDX-License-Identifier: Apache-2.0
import type { WebDocument } from "../model/document.ts";
import { DataTable } from "./data_table.tsx";
import { useTable, whyEmpty } from "./document_table.tsx";
import { Figure } from "./figure.tsx";
import { useAddress, usePage } from "./page_context.ts";

const kFirstSort = { key: "self_ns", falling: true };

// Why the tab has no data; "": it has.
export function operatorsEmpty(document: WebDocument): string {
  return whyEmpty(document, "operators");
}

export function Operators() {
  const { store } = usePage();
  const table = useTable("operators");
  const filter = useAddress((state) => state.filter);
  const sort = useAddress((state) => state.sort);
  if (table === null) return null;
  const shown = filter === "" ? table.size : table.rows(null, filter).length;
  return (
    <DataTable
      name="Operators"
      table={table}
      firstSort={kFirstSort}
      sort={sort}
      onSort={(next) => store.set({ sort: next })}
      filter={filter}
      hasHues
    >
      <input
        type="search"
        class="filter"
        aria-label="Filter operators"
        placeholder="Filter operators"
        autocomplete="off"
        spellcheck={false}
        value={filter}
        onInput={(event) => store.set({ filter: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key === "Escape") store.set({ filter: "" });
        }}
      />
      <p class="count">
        <Figure value={shown} unit="number" /> of <Figure value={table.size} unit="number" />
      </p>
    </DataTable>
  );
}
