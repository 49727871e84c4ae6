// What flame graphs, tooltips and the groups of Operators show, by roles, names and data attributes alone.
// SPDX-License-Identifier: Apache-2.0

import { rendered } from "./browser.mjs";

const press = async (page, key) => {
  await page.keyboard.press(key);
  await rendered(page);
};

const valuesOf = (element) =>
  element.evaluate((e) => Array.from(e.querySelectorAll("[data-value]"), (each) => [each.parentElement.textContent.replace(each.textContent, "").trim(), each.dataset.value]));

// The options of "Group by", and what the page says about those that the trace cannot offer.
export async function lookAtOperators(page, open) {
  await open("#tab=operators");
  const select = page.getByRole("combobox", { name: "Group by" });
  if ((await select.count()) === 0) return null;
  const options = await select.evaluate((e) => Array.from(e.options, (option) => [option.value, option.disabled]));
  const description = await select.evaluate((e) => document.getElementById(e.getAttribute("aria-describedby"))?.textContent ?? "");
  const offered = options.filter(([, isDisabled]) => !isDisabled).map(([value]) => value);
  await select.selectOption(offered.at(-1));
  const chosen = new URLSearchParams((await page.evaluate(() => location.hash)).slice(1)).get("group") ?? "name";
  const [denied] = options.find(([, isDisabled]) => isDisabled) ?? ["unknown"];
  await open(`#tab=operators&group=${denied}`);
  const fallback = await page.getByRole("combobox", { name: "Group by" }).inputValue();
  return { options, description, last: offered.at(-1), chosen, fallback };
}

// The tooltip of the frame at a part of the graph's width in the second row.
async function hover(page, graph) {
  const box = await graph.boundingBox();
  await page.mouse.move(box.x + 30, box.y + 21 + 10);
  await rendered(page);
  return page.getByRole("tooltip");
}

async function isInWindow(page, tooltip) {
  const box = await tooltip.boundingBox();
  const { width, height } = page.viewportSize();
  return box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height;
}

// The difference flame graph: what the details say of the whole, by keyboard and by pointer; what Search matches.
export async function lookAtFlame(page, open) {
  const found = {};
  for (const [tab, name] of [["flame", "Flame graph"], ["compare", "Difference flame graph"]]) {
    await open(`#tab=${tab}`);
    const frames = page.getByRole("application", { name: `${name}: frames` });
    if ((await frames.count()) === 0) continue;
    const region = page.getByRole("region", { name, exact: true });
    const details = region.getByRole("group", { name: "Frame" });
    const path = region.getByRole("navigation", { name: "Zoomed frame" }).getByRole("button");
    await frames.scrollIntoViewIfNeeded();
    await frames.focus();
    await press(page, "Home");
    const whole = await valuesOf(details);
    await press(page, "ArrowDown");
    const first = await valuesOf(details);
    const byKeyboard = await valuesOf(page.getByRole("tooltip"));
    const described = await frames.evaluate((e) => e.getAttribute("aria-describedby").split(" ").every((id) => document.getElementById(id) !== null));
    await press(page, "Enter");
    const zoomed = await path.evaluateAll((all) => all.map((e) => e.dataset.value));
    await press(page, "Escape");
    const back = await path.count();
    await page.getByRole("searchbox", { name: "Search", exact: true }).fill(first[0][1]);
    const matched = await valuesOf(region.getByRole("status", { name: "Matched part" }));
    await page.getByRole("searchbox", { name: "Search", exact: true }).fill("");
    const tooltip = await hover(page, frames);
    found[tab] = { whole, first, byKeyboard, described, zoomed, back, matched, hovered: await valuesOf(tooltip), isInWindow: await isInWindow(page, tooltip) };
    await page.mouse.move(2, 2);
    await rendered(page);
    found[tab].after = await page.getByRole("tooltip").count();
  }
  return found;
}

// In the timeline: the selected span by keyboard, on screen and in print.
export async function lookAtTooltips(page, open) {
  await open("#tab=timeline");
  const timeline = page.getByRole("application", { name: "Timeline" });
  if ((await timeline.count()) === 0) return null;
  await page.getByRole("searchbox", { name: "Search", exact: true }).fill("a");
  await page.getByRole("button", { name: "Next match" }).click();
  await page.waitForFunction(() => location.hash.includes("span="));
  await timeline.focus();
  await press(page, "w");
  const tooltip = page.getByRole("tooltip");
  const shown = await valuesOf(tooltip);
  const inWindow = await isInWindow(page, tooltip);
  const stealsPointer = await tooltip.evaluate((e) => getComputedStyle(e).pointerEvents !== "none" || e.querySelector("a, button, [tabindex]") !== null);
  const { details, startText } = await page.getByRole("region", { name: "Details" }).evaluate((region) => ({
    details: Object.fromEntries(Array.from(region.querySelectorAll("[data-field]"), (each) => [each.dataset.field, each.dataset.value])),
    startText: region.querySelector("[data-field=start_ns]").textContent,
  }));
  await page.emulateMedia({ media: "print" });
  const inPrint = await tooltip.isVisible();
  await page.emulateMedia({ media: "screen" });
  await press(page, "Escape");
  return { shown, inWindow, stealsPointer, details, startText, inPrint, afterEscape: await tooltip.count() };
}
