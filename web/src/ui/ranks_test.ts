// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import type { WebDocument } from "../model/document.ts";
import { packTable, StringTable } from "../model/document_for_test.ts";
import { noStraggler } from "./ranks.tsx";

test("without collectives it is unknown who is a straggler", () => {
  const strings = new StringTable();
  const stragglers = { ...packTable(strings, ["name:text"], []), why_empty: "No collective has a counterpart." };
  const groups = (rows: string[][]) => packTable(strings, ["group_key:text"], rows);
  const empty = { tables: { stragglers, collective_groups: groups([]) } } as Pick<WebDocument, "tables">;
  expect(noStraggler(empty as WebDocument)).toEqual(["Unknown", "No collective has a counterpart."]);
  const some = { tables: { stragglers, collective_groups: groups([["/4/"]]) } } as Pick<WebDocument, "tables">;
  expect(noStraggler(some as WebDocument)[0]).toBe("None");
});
