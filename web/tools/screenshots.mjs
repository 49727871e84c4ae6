// Pictures of the tabs of reports: node web/tools/screenshots.mjs FOLDER REPORT.html[=TAB,...]... Light at a width of 1280 px;
// the overview and the timeline dark, too. Without TABs all that have data. `make screenshots` writes those of the
// documents.
// SPDX-License-Identifier: Apache-2.0
import { existsSync, mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const kDarkTabs = ["overview", "timeline"];
// Until what is drawn from large columns is there.
const kPicturesMs = 700;

const [folder, ...arguments_] = process.argv.slice(2);
const reports = arguments_.map((argument) => {
  const [path, tabs] = argument.split("=");
  return { path, tabs: tabs?.split(",") };
});
if (reports.length === 0 || !reports.every(({ path }) => existsSync(path))) {
  console.error("usage: node web/tools/screenshots.mjs FOLDER REPORT.html[=TAB,...]... (`opscope report` and `make demo` write reports)");
  process.exit(2);
}
const program = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
if (program === undefined) throw new Error("There is no Chromium here: tools/setup browser");
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
for (const { path, tabs } of reports) {
  for (const theme of ["light", "dark"]) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: theme });
    await page.goto(pathToFileURL(resolve(path)).href);
    await page.waitForSelector('html[data-state="ready"]');
    for (const tab of await page.getByRole("tab").all()) {
      await tab.click();
      const name = new URLSearchParams(new URL(page.url()).hash.slice(1)).get("tab");
      if (tabs !== undefined && !tabs.includes(name)) continue;
      const panel = page.getByRole("tabpanel");
      if ((theme === "dark" && !kDarkTabs.includes(name)) || (await panel.getAttribute("data-empty")) !== null) continue;
      await page.waitForTimeout(kPicturesMs);
      await page.screenshot({ path: `${folder}/${name}${theme === "dark" ? "_dark" : ""}.png` });
    }
    await page.close();
  }
}
await browser.close();
