// Puts a data document into the built page, as `opscope report` does: node tools/fill.mjs DATA.json OUT.html [THEME]
// SPDX-License-Identifier: Apache-2.0
import { readFileSync, writeFileSync } from "node:fs";

const [dataPath, outPath, theme = "auto"] = process.argv.slice(2);
if (dataPath === undefined || outPath === undefined) {
  console.error("usage: node tools/fill.mjs DATA.json OUT.html [auto|light|dark]");
  process.exit(2);
}
const data = readFileSync(dataPath, "utf8").trim().replaceAll("<", "\\u003c");
const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const empty = '<script type="application/json" id="opscope-data" data-schema="opscope.web/1"></script>';
const page = readFileSync(new URL("../page.html", import.meta.url), "utf8");
if (!page.includes(empty)) throw new Error("page.html has no empty data element; run `npm run build`.");
writeFileSync(
  outPath,
  page
    .replace(empty, () => empty.replace("</script>", `${data}</script>`))
    .replace("<title>opscope</title>", () => `<title>${escape(JSON.parse(data).title)} - opscope</title>`)
    .replace('data-theme-choice="auto"', `data-theme-choice="${theme}"`),
);
