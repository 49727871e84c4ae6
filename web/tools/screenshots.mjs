// One picture of every tab of a report: node web/tools/screenshots.mjs REPORT.html FOLDER. Light at a width of 1280 px; the
// overview and the timeline dark, too. `make screenshots` writes those of the documents.
// SPDX-License-Identifier: Apache-2.0
import { existsSync, mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const kDarkTabs = ["overview", "timeline"];

const [report, folder] = process.argv.slice(2);
if (report === undefined || folder === undefined || !existsSync(report)) {
  console.error("usage: node web/tools/screenshots.mjs REPORT.html FOLDER (`opscope report` and `make demo` write reports)");
  process.exit(2);
}
const program = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
if (program === undefined) throw new Error("There is no Chromium here: tools/setup browser");
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
for (const theme of ["light", "dark"]) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: theme });
  await page.goto(pathToFileURL(resolve(report)).href);
  await page.waitForSelector('html[data-state="ready"]');
  for (const tab of await page.getByRole("tab").all()) {
    await tab.click();
    const name = new URLSearchParams(new URL(page.url()).hash.slice(1)).get("tab");
    const panel = page.getByRole("tabpanel");
    if ((theme === "dark" && !kDarkTabs.includes(name)) || (await panel.getAttribute("data-empty")) !== null) continue;
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    await page.screenshot({ path: `${folder}/${name}${theme === "dark" ? "_dark" : ""}.png` });
  }
  await page.close();
}
await browser.close();
