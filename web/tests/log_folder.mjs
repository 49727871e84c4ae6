// Opens the page of `opscope view` on a log folder, chooses each run, worker and window, and tells as JSON what each shows.
// Arguments: Chromium, the address.
// SPDX-License-Identifier: Apache-2.0
import { openBrowser, openPage } from "./browser.mjs";

const [program, address] = process.argv.slice(2);
const browser = await openBrowser(program);
const page = await openPage(browser);
const isOver = () => page.waitForSelector('html[data-state="ready"], html[data-state="error"]');
const box = (name) => page.getByRole("combobox", { name, exact: true });
const options = async (name) => ((await box(name).count()) === 0 ? [] : box(name).locator("option").allTextContents());

async function choose(name, label) {
  if ((await box(name).locator("option:checked").textContent()) === label) return;
  await Promise.all([page.waitForEvent("load"), box(name).selectOption({ label })]);
  await isOver();
}

await page.goto(address);
await isOver();
const shown = { files: await box("File").count(), windows: [] };
for (const run of (shown.runs = await options("Run"))) {
  await choose("Run", run);
  for (const worker of await options("Worker")) {
    await choose("Worker", worker);
    const windows = await options("Window");
    for (const window of windows.length > 0 ? windows : [""]) {
      if (window !== "") await choose("Window", window);
      shown.windows.push([run, worker, window, (await page.title()).replace(/ - opscope$/, "")]);
    }
  }
}
await browser.close();
console.log(JSON.stringify(shown));
