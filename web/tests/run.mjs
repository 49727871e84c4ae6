// Opens report pages in one Chromium and checks what it promises to users: node web/tests/run.mjs MANIFEST.
// The manifest is JSON: {"chromium": PATH, "pages": [{"name", "path", "title", "tabs", "tables", "spans", "search"}]}; it
// prints one JSON array of {"page", "check", "failure"}, with "" where a check holds (python/tests/test_report_page.py).
// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { openBrowser, openPage, watchPage } from "./browser.mjs";
import { kChecks } from "./checks.mjs";

const manifest = JSON.parse(readFileSync(process.argv[2], "utf8"));
const browser = await openBrowser(manifest.chromium);
const results = [];
for (const expected of manifest.pages) {
  const context = await browser.newContext({ colorScheme: "light" });
  await watchPage(context);
  const complaints = [];
  const page = await openPage(context, { complain: (text) => complaints.push(text) });
  const address = pathToFileURL(expected.path).href;
  page.on("dialog", (dialog) => (complaints.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== address && !/^(data|blob):/.test(request.url())) complaints.push(`request: ${request.url()}`);
  });
  const open = async (fragment = "") => {
    await page.goto("about:blank");
    await page.goto(address + fragment);
    await page.waitForSelector('html[data-state="ready"]');
  };
  const showTab = (name) => page.getByRole("tab", { name, exact: true }).click();
  for (const [check, run] of Object.entries(kChecks)) {
    let failure = "";
    try {
      await page.setViewportSize({ width: 1280, height: 800 });
      await open();
      await run({ page, expected, open, showTab });
      complaints.push(...(await page.evaluate(() => window.violations)));
      if (complaints.length > 0) throw new Error(complaints.join("\n"));
    } catch (error) {
      failure = String(error.message ?? error);
    }
    complaints.length = 0;
    results.push({ page: expected.name, check, failure });
  }
  await context.close();
}
await browser.close();
console.log(JSON.stringify(results));
