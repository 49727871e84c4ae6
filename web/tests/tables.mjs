// Copies the tables of report pages in every order that their buttons give: node web/tests/tables.mjs MANIFEST.
// The manifest is JSON: {"chromium": PATH, "pages": [{"name", "path", "tables": [{"name", "tab", "group", "sorted"}]}]};
// "sorted" has the keys of the columns whose buttons are pressed, null for all. It prints JSON: by page and table
// {"headings", "rowCount", "shown", "orders"}; an order is [key, aria-sort, CSV], and `shown` has the cells of the rows
// that exist in the page, by aria-rowindex. Also what the tooltips, the flame graphs and the
// groups of Operators show (python/tests/test_report_tables.py compares all of it with the verbs).
// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { openBrowser, openPage, watchPage } from "./browser.mjs";
import { lookAtFlame, lookAtOperators, lookAtTooltips } from "./pictures.mjs";

// In the page: presses the button of each column of `sorted` twice and copies the table after each press.
async function pressHeadings(table, { copy, sorted: keys }) {
  const frame = () => new Promise((done) => requestAnimationFrame(() => done()));
  const cells = (row) => Array.from(row.cells, (cell) => cell.dataset.value);
  const headings = () => Array.from(table.querySelectorAll("[data-column]"));
  const csv = async () => {
    window.copied.length = 0;
    copy.click();
    for (let i = 0; window.copied.length === 0 && i < 1000; ++i) await frame();
    return window.copied[0];
  };
  const found = { headings: headings().map((heading) => heading.dataset.column), rowCount: table.getAttribute("aria-rowcount"), orders: [] };
  found.first = await csv();
  found.shown = Array.from(table.querySelectorAll("tbody [aria-rowindex]"), (row) => [row.getAttribute("aria-rowindex"), cells(row)]);
  for (const key of keys ?? found.headings) {
    for (let press = 0; press < 2; ++press) {
      headings().find((heading) => heading.dataset.column === key).querySelector("button").click();
      await frame();
      const sorted = headings().filter((heading) => heading.hasAttribute("aria-sort"));
      if (sorted.length !== 1 || sorted[0].dataset.column !== key) throw new Error(`${key} is not the sorted column`);
      found.orders.push([key, sorted[0].getAttribute("aria-sort"), await csv()]);
    }
  }
  return found;
}

async function tableOf(page, address, { name, tab, group, sorted }) {
  await page.goto("about:blank");
  await page.goto(`${address}#tab=${tab}${group ? `&group=${group}` : ""}`);
  await page.waitForSelector('html[data-state="ready"]');
  const table = page.getByRole("table", { name, exact: true });
  if ((await table.count()) === 0) return null;
  const copy = await page.getByRole("button", { name: `Copy ${name} as CSV`, exact: true }).elementHandle();
  return table.evaluate(pressHeadings, { copy, sorted });
}

const manifest = JSON.parse(readFileSync(process.argv[2], "utf8"));
const browser = await openBrowser(manifest.chromium);
const results = {};
for (const { name, path, tables } of manifest.pages) {
  const complaints = [];
  const page = await openPage(browser, { complain: (text) => complaints.push(text) });
  await watchPage(page);
  const address = pathToFileURL(path).href;
  const found = { tables: {}, complaints };
  for (const wanted of tables) found.tables[wanted.group ? `${wanted.name} by ${wanted.group}` : wanted.name] = await tableOf(page, address, wanted);
  const open = async (fragment) => {
    await page.goto("about:blank");
    await page.goto(address + fragment);
    await page.waitForSelector('html[data-state="ready"]');
  };
  found.operators = await lookAtOperators(page, open);
  found.flame = await lookAtFlame(page, open);
  found.tooltips = await lookAtTooltips(page, open);
  results[name] = found;
  await page.close();
}
await browser.close();
console.log(JSON.stringify(results));
