// Builds the page without writing it and compares it with the committed web/page.html, which users get: they have no
// Node. Says how large the code is for them, too, and fails above the limit. `npm run compare`; `npm run build` mends.
// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "vite";

const kMaxGzippedBytes = 150 * 1024;

const root = fileURLToPath(new URL("..", import.meta.url));
const built = await build({ root, logLevel: "error", build: { write: false } });
const html = built.output.find((file) => file.fileName === "index.html");
const expected = Buffer.from(html.source);
const committed = readFileSync(`${root}/page.html`);
const gzipped = gzipSync(committed, { level: 9 }).length;
console.log(`web/page.html: ${committed.length} bytes, ${gzipped} gzipped`);
if (!expected.equals(committed)) {
  console.error(`web/page.html is not what web/ builds (${expected.length} bytes). Run \`make web\` and commit it.`);
  process.exitCode = 1;
} else if (gzipped > kMaxGzippedBytes) {
  console.error(`The page has ${gzipped} bytes gzipped; ${kMaxGzippedBytes} are the limit.`);
  process.exitCode = 1;
}
