// Starts the page: reads the data, draws the first picture, and then says `ready`.
// SPDX-License-Identifier: Apache-2.0
import { render } from "preact";
import { AddressStore, kTabs } from "./model/address.ts";
import { Origin, parseDocument } from "./model/document.ts";
import { App } from "./ui/app.tsx";
import { Failure, failureText } from "./ui/failure.tsx";
import { connectLocation } from "./ui/location.ts";
import "./ui/theme.css";
import "./ui/page.css";
import "./ui/controls.css";
import "./ui/table.css";
import "./ui/print.css";

function start(root: HTMLElement): void {
  const element = document.getElementById("opscope-data");
  const data = parseDocument(element?.textContent ?? "", element?.dataset["schema"] ?? null);
  const origin = new Origin(data.clock);
  const tabs = kTabs.filter((tab) => tab !== "compare" || data.tables.compare !== undefined);
  const store = new AddressStore(origin, location.hash, tabs);
  document.title = `${data.title} - opscope`;
  connectLocation(store);
  root.replaceChildren();
  render(<App page={{ document: data, origin, store }} />, root);
}

const root = document.getElementById("app");
if (root !== null) {
  try {
    start(root);
    requestAnimationFrame(() => requestAnimationFrame(() => (document.documentElement.dataset["state"] = "ready")));
  } catch (error) {
    root.replaceChildren();
    render(<Failure message={failureText(error)} />, root);
    document.documentElement.dataset["state"] = "error";
  }
}
