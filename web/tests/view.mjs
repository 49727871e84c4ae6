// Opens the page that `opscope view` serves, and tells as JSON what it shows. Arguments: Chromium, the address.
// SPDX-License-Identifier: Apache-2.0
import { openBrowser, openPage } from "./browser.mjs";

const [program, address] = process.argv.slice(2);
const browser = await openBrowser(program);
const complaints = [];
const requests = [];
const page = await openPage(browser, { complain: (text) => complaints.push(text) });
page.on("request", (request) => requests.push(request.url()));
const isOver = () => page.waitForSelector('html[data-state="ready"], html[data-state="error"]');
const shown = { titles: [], selections: [] };

await page.goto(address);
await isOver();
const files = page.getByRole("combobox", { name: "File" });
shown.files = await files.locator("option").allTextContents();
for (const [at] of shown.files.entries()) {
  await Promise.all([page.waitForEvent("load"), files.evaluate((select, value) => ((select.selectedIndex = value), select.dispatchEvent(new Event("change", { bubbles: true }))), at)]);
  await isOver();
  shown.titles.push(await page.title());
  await page.getByRole("tab", { name: "Timeline" }).click();
  const timeline = page.getByRole("application", { name: "Timeline" });
  const [start, end] = await timeline.evaluate((element) => [Number(element.dataset.start), Number(element.dataset.end)]);
  const range = [start + Math.floor((end - start) / 4), end - Math.floor((end - start) / 4)];
  await page.evaluate(([a, b]) => (location.hash = `${location.hash}&sel=${a}..${b}`), range);
  const table = page.getByRole("table", { name: "Selection" });
  await table.waitFor();
  const rows = await table.locator("tbody tr").evaluateAll((list) => list.map((row) => [...row.children].map((cell) => cell.dataset.value)));
  shown.selections.push({ range, rows });
}
await page.goto("about:blank");
await page.goto(address.replace(/.{8}$/, "00000000"));
await isOver();
shown.alert = await page.getByRole("alert").textContent();
shown.foreign = requests.filter((url) => !url.startsWith("http://127.0.0.1:") && !/^(about|data|blob):/.test(url));
shown.withToken = requests.filter((url) => url.includes(address.slice(-8)) && !url.includes("#"));
shown.complaints = complaints.filter((text) => !text.includes("403"));
await browser.close();
console.log(JSON.stringify(shown));
