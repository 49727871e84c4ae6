// @vitest-environment happy-dom
// SPDX-License-Identifier: Apache-2.0
import { h, render } from "preact";
import { expect, test } from "vitest";
import type { WebDocument } from "../model/document.ts";
import { packTable, StringTable } from "../model/document_for_test.ts";
import { noStraggler, RankNames } from "./ranks.tsx";

test("without collectives it is unknown who is a straggler", () => {
  const strings = new StringTable();
  const stragglers = { ...packTable(strings, ["name:text"], []), why_empty: "No collective has a counterpart." };
  const groups = (rows: string[][]) => packTable(strings, ["group_key:text"], rows);
  const empty = { tables: { stragglers, collective_groups: groups([]) } } as Pick<WebDocument, "tables">;
  expect(noStraggler(empty as WebDocument)).toEqual(["Unknown", "No collective has a counterpart."]);
  const some = { tables: { stragglers, collective_groups: groups([["/4/"]]) } } as Pick<WebDocument, "tables">;
  expect(noStraggler(some as WebDocument)[0]).toBe("None");
});

test("each number of a list of ranks has its exact value", () => {
  const listed = (ranks: number[]) => {
    render(null, document.body);
    render(h(RankNames, { ranks }), document.body);
    return [document.body.textContent, Array.from(document.querySelectorAll("[data-value]"), (each) => each.getAttribute("data-value"))];
  };
  expect(listed([2, 1003])).toEqual(["2, 1003", ["2", "1003"]]);
  const [text, values] = listed(Array.from({ length: 1025 }, (_, rank) => rank));
  expect(text).toMatch(/^0, 1, 2, .* 19 and 1,005 more$/);
  expect(values).toEqual([...Array.from({ length: 20 }, (_, rank) => String(rank)), "1005"]);
});
