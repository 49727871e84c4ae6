// Looks at a page as a reader does: opens it in Chromium, takes a picture of every tab at 1280 px and 390 px in both
// themes, runs axe-core, and reports console errors, requests, sideways scrolling and violations.
//
//   node tools/look.ts PAGE.html PICTURES
// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium, type Page } from "playwright-core";

const [path, pictures] = process.argv.slice(2);
if (path === undefined || pictures === undefined) {
  console.error("usage: node tools/look.ts PAGE.html PICTURES");
  process.exit(2);
}
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const address = pathToFileURL(resolve(path)).href;
const findings: string[] = [];
mkdirSync(pictures, { recursive: true });

async function violations(page: Page): Promise<string[]> {
  // The page's policy forbids other scripts in elements; the debugger may run them.
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { target: unknown; failureSummary: string }[] }[] }> };
    };
    const { violations } = await axe.run();
    return violations.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes.length} x ${String(nodes[0]?.target)} ${nodes[0]?.failureSummary.replaceAll("\n", " ")}`);
  });
}

const browser = await chromium.launch({ executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  for (const width of [1280, 390]) {
    for (const theme of ["light", "dark"] as const) {
      const page = await browser.newPage({ viewport: { width, height: 860 }, colorScheme: theme });
      const where = `${width} ${theme}`;
      page.on("console", (message) => message.type() === "error" && findings.push(`${where}: ${message.text()}`));
      page.on("pageerror", (error) => findings.push(`${where}: ${error.message}`));
      page.on("request", (request) => request.url() !== address && !request.url().startsWith("data:") && findings.push(`request ${request.url()}`));
      await page.goto(address);
      await page.waitForFunction(() => document.documentElement.dataset["state"] !== "loading");
      for (const tab of await page.getByRole("tab").all()) {
        const name = (await tab.textContent()) ?? "";
        await tab.click();
        await page.waitForTimeout(150);
        const shown = `${where} ${name}`;
        findings.push(...(await violations(page)).map((text) => `${shown}: ${text}`));
        const isWide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
        if (isWide) findings.push(`${shown}: the page scrolls sideways`);
        await page.screenshot({ path: `${pictures}/${name.replace(" ", "_")}_${width}_${theme}.png` });
      }
      await page.close();
    }
  }
} finally {
  await browser.close();
}
console.log([...new Set(findings)].join("\n") || "nothing found");
process.exitCode = findings.some((text) => !/: (minor|moderate) /.test(text)) ? 1 : 0;
