// Writes a document of tests, for a look at the page: node tools/write_sample.ts (empty|small|large) OUT.json
// SPDX-License-Identifier: Apache-2.0
import { writeFileSync } from "node:fs";
import { emptyDocument, sampleDocument } from "../src/model/document_for_test.ts";

const [kind, out] = process.argv.slice(2);
if (kind === undefined || out === undefined) {
  console.error("usage: node tools/write_sample.ts (empty|small|large) OUT.json");
  process.exit(2);
}
const document =
  kind === "empty"
    ? emptyDocument()
    : sampleDocument(kind === "large" ? { operators: 5000, hasBaseline: true, start: "1661203462584767001" } : { hasBaseline: true });
writeFileSync(out, JSON.stringify(document));
