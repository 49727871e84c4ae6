// Opens a report with a selection and tells as JSON the rows of the table Selection that are in view. Arguments: Chromium,
// the page, the range as A..B.
// SPDX-License-Identifier: Apache-2.0
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { openBrowser, openPage } from "./browser.mjs";

const [program, path, range] = process.argv.slice(2);
const browser = await openBrowser(program);
const complaints = [];
const page = await openPage(browser, { height: 900, complain: (text) => complaints.push(text) });
await page.goto(`${pathToFileURL(resolve(path)).href}#tab=timeline&sel=${range}`);
const table = page.getByRole("table", { name: "Selection" });
await table.waitFor();
const rows = await table.locator("tbody:not([aria-hidden]) tr").evaluateAll((all) =>
  all.map((row) => [...row.children].map((cell) => ({ value: cell.dataset.value, error: cell.dataset.error ?? "0", text: cell.textContent }))),
);
const folded = await page.getByRole("note", { name: "Folded" }).getAttribute("data-value");
await browser.close();
console.log(JSON.stringify({ rows, complaints, folded: Number(folded) }));
