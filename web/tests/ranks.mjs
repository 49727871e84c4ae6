// Tells as JSON what the tab Ranks of a page shows: node web/tests/ranks.mjs MANIFEST. The manifest is JSON: {"chromium":
// PATH, "path": PAGE or "address": that of `opscope view`, "tables": [names]}. By roles, accessible names and data attributes alone
// (python/tests/test_report_ranks.py compares it with the verbs).
// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import axe from "axe-core";
import { openBrowser, openPage, rendered, watchPage } from "./browser.mjs";

const manifest = JSON.parse(readFileSync(process.argv[2], "utf8"));
const browser = await openBrowser(manifest.chromium);
const complaints = [];
const page = await openPage(browser, { complain: (text) => complaints.push(text) });
await watchPage(page);
const begin = manifest.address === undefined ? `${pathToFileURL(manifest.path).href}#` : `${manifest.address}&`;
const open = async (fragment) => {
  await page.goto("about:blank");
  await page.goto(begin + fragment);
  await page.waitForSelector('html[data-state="ready"]');
};
const table = (name) => page.getByRole("table", { name, exact: true });
const values = (locator) => locator.evaluate((e) => Array.from(e.querySelectorAll("[data-value]"), (each) => each.dataset.value));

// What the address and the timeline say.
async function timeline() {
  const list = page.getByRole("list", { name: "Tracks" });
  await list.waitFor();
  await rendered(page);
  const { token: _, ...hash } = await page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
  const tracks = await list.locator("[data-track]").evaluateAll((all) => all.map((e) => e.dataset.track));
  return { hash, tracks, chosen: await page.getByRole("combobox", { name: "Rank", exact: true }).inputValue() };
}

async function csvOf(name) {
  await page.evaluate(() => (window.copied.length = 0));
  await page.getByRole("button", { name: `Copy ${name} as CSV`, exact: true }).click();
  await page.waitForFunction(() => window.copied.length > 0);
  return page.evaluate(() => window.copied[0]);
}

const seen = { complaints, tables: {}, links: {}, cards: {} };
await open("tab=ranks");
seen.tabs = await page.getByRole("tab").allTextContents();
await table(manifest.tables[0]).waitFor();
for (const name of manifest.tables) seen.tables[name] = { csv: await csvOf(name), rowCount: await table(name).getAttribute("aria-rowcount") };
for (const name of manifest.tables) {
  if (name === "Collectives") continue;
  await open("tab=ranks");
  const link = table(name).getByRole("link").first();
  const text = await link.textContent();
  await link.click();
  seen.links[name] = { text, ...(await timeline()) };
}

if (manifest.path !== undefined) {
  await open("tab=ranks");
  const picture = page.getByRole("application", { name: "Step time by rank", exact: true });
  const details = page.getByRole("region", { name: "Cell" });
  const fields = () => details.evaluate((e) => Object.fromEntries(Array.from(e.querySelectorAll("[data-field]"), (each) => [each.dataset.field, each.dataset.value])));
  for (const card of await page.getByRole("tabpanel", { name: "Ranks" }).locator(".card").all()) seen.cards[await card.getByRole("heading").textContent()] = await values(card);

  // Row by row with the arrow keys; the first key selects the first cell.
  const walk = async (of) => {
    const cells = [];
    await of.focus();
    await page.keyboard.press("ArrowDown");
    for (;;) {
      const cell = await fields();
      cells.push(cell);
      await page.keyboard.press("ArrowRight");
      if ((await fields()).step !== cell.step) continue;
      await page.keyboard.press("Home");
      await page.keyboard.press("ArrowDown");
      if ((await fields()).rank === cell.rank) return cells;
    }
  };
  seen.measure = await page.getByRole("combobox", { name: "Measure" }).inputValue();
  seen.ownCells = await walk(page.getByRole("application", { name: "Step time without waiting by rank" }));
  await page.getByRole("combobox", { name: "Measure" }).selectOption("duration_ns");
  seen.cells = await walk(picture);
  await page.keyboard.press("m");
  seen.hottest = await fields();
  const tooltip = page.getByRole("tooltip");
  seen.tooltip = { shown: (await values(tooltip)).slice(1) };
  const described = (await picture.getAttribute("aria-describedby")).split(" ");
  seen.tooltip.isDescription = described.includes(await tooltip.getAttribute("id"));
  await page.keyboard.press("Enter");
  seen.links.cell = { text: seen.hottest.rank, ...(await timeline()) };
  await page.getByRole("tab", { name: "Ranks", exact: true }).click();
  await page.getByRole("combobox", { name: "Measure" }).selectOption("duration_ns");
  const box = await picture.boundingBox();
  await page.mouse.move(box.x + 64 + 8, box.y + 8);
  seen.tooltip.byPointer = (await values(tooltip)).slice(1, 3);

  await open("tab=timeline");
  const choice = page.getByRole("combobox", { name: "Rank", exact: true });
  seen.choice = { options: await choice.evaluate((e) => Array.from(e.options, (option) => option.value)) };
  await choice.selectOption("2");
  seen.choice.tracks = (await timeline()).tracks;
  await page.getByRole("searchbox", { name: "Search", exact: true }).fill("aten::mm");
  await page.getByRole("button", { name: "Next match" }).click();
  await page.waitForFunction(() => location.hash.includes("span=") && !location.hash.includes("rank="));
  const { hash, tracks } = await timeline();
  seen.choice.search = { track: hash.span.split("@")[0], rank: hash.rank ?? null, tracks };
  await page.getByRole("tab", { name: "Ranks", exact: true }).click();
  await table("Stragglers").getByRole("link").first().click();
  seen.choice.again = (await timeline()).chosen;
  await open("tab=timeline&rank=99");
  await page.waitForFunction(() => !location.hash.includes("rank="));
  seen.choice.wrong = (await timeline()).tracks.length;

  await open("tab=ranks");
  await table("Ranks").waitFor();
  const hosts = table("Ranks").locator("tbody tr > :nth-child(2)");
  seen.hosts = await hosts.allTextContents();
  seen.hostile = { elements: await page.locator("main img, main script, [onerror]").count(), done: (await page.evaluate(() => window.hostile)) ?? null };
  seen.axe = [];
  for (const theme of ["light", "dark"]) {
    await page.getByRole("combobox", { name: "Theme" }).selectOption(theme);
    await page.waitForSelector(`html[data-theme="${theme}"]`);
    await page.getByRole("application", { name: /^Step time/ }).focus();
    await page.keyboard.press("m");
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
    seen.axe.push(...violations.filter(({ impact }) => impact === "serious" || impact === "critical").map((v) => `${v.id}: ${v.help}: ${v.nodes[0].html.slice(0, 200)}`));
  }
  await page.setViewportSize({ width: 390, height: 800 });
  seen.narrow = await page.evaluate(() => document.documentElement.scrollWidth);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ media: "print" });
  seen.print = { tables: await page.getByRole("table").count(), controls: await page.getByRole("button", { name: /^Copy/ }).count() };
}
await browser.close();
console.log(JSON.stringify(seen));
