// The tab Operators: the rows of `opscope summary`, by name or by name and one more key, and those of `opscope roofline`.
// Filter, order and key are in the address.
//
// The roofline is a table of its own. Its rows are by name, shapes and type, and each moment of an operator counts in one
// of them, so that their times are neither the total nor the self times of the summary.
// SPDX-License-Identifier: Apache-2.0
import { useId, useMemo } from "preact/hooks";
import { type Group, kGroups, kGroupTables, kGroupTitles } from "../model/grouping.ts";
import { visibleText } from "../model/numbers.ts";
import { Choice } from "./choice.tsx";
import { DataTable } from "./data_table.tsx";
import { useTable, whyEmpty } from "./document_table.tsx";
import { Figure } from "./figure.tsx";
import { useAddress, usePage } from "./page_context.ts";

const kFirstSort = { key: "self_ns", falling: true };

export function Operators() {
  const { document, store } = usePage();
  const id = useId();
  const chosen = useAddress((state) => state.group);
  const filter = useAddress((state) => state.filter);
  const sort = useAddress((state) => state.sort);
  const reasons = useMemo(() => kGroups.map((group) => [group, whyEmpty(document, kGroupTables[group])] as const), [document]);
  const absent = reasons.filter(([, reason]) => reason !== "");
  const group = absent.some(([key]) => key === chosen) ? "name" : chosen;
  const table = useTable(kGroupTables[group]);
  const shown = useMemo(() => (table === null ? 0 : filter === "" ? table.size : table.rows(null, filter).length), [table, filter]);
  if (table === null) return null;
  return (
    <>
      <DataTable
        key={group}
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
        <Choice
          label="Group by"
          value={group}
          options={reasons.map(([key, reason]) => ({ value: key, title: kGroupTitles[key], isDisabled: reason !== "" }))}
          describedBy={absent.length > 0 ? id : undefined}
          onChange={(value) => store.set({ group: value as Group })}
        />
        <p class="count">
          <Figure value={shown} unit="number" /> of <Figure value={table.size} unit="number" />
        </p>
      </DataTable>
      {absent.length > 0 && (
        <p class="hint" id={id}>
          {absent.map(([key, reason]) => (
            <span key={key}>
              Group by {kGroupTitles[key].toLowerCase()}: {visibleText(reason)}{" "}
            </span>
          ))}
        </p>
      )}
      <Roofline filter={filter} />
    </>
  );
}

function Roofline({ filter }: { filter: string }) {
  const { document } = usePage();
  const table = useTable("roofline");
  const shown = useMemo(() => table?.pick(document.tables.roofline!.columns.filter((column) => column.shown !== false).map((column) => column.key)) ?? null, [table]);
  if (shown === null || whyEmpty(document, "roofline") !== "") return null;
  return (
    <section class="table">
      <DataTable name="Roofline" table={shown} firstSort={{ key: "time_ns", falling: true }} filter={filter} hasHues />
      <p class="hint">
        The work of operators with known shapes against what the machine can reach. Each moment counts in one row, that of the innermost operator with a formula, so the times differ from those above.
      </p>
    </section>
  );
}
