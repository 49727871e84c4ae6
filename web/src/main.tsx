// Starts the page: reads the data, draws the first picture, and then says `ready`. A report has the data in the
// page; the page of `opscope view` asks the server for it.
// SPDX-License-Identifier: Apache-2.0
import { render } from "preact";
import { AddressStore, kTabs, type Tab } from "./model/address.ts";
import { DocumentError, Origin, parseDocument, type WebDocument } from "./model/document.ts";
import { documentSource } from "./model/document_source.ts";
import { failedText, openFirst } from "./model/first_file.ts";
import { kServerEnded, pingInterval, type ServedFile, TraceServer, tokenOf } from "./model/server.ts";
import { serverSource } from "./model/server_source.ts";
import type { SpanSource } from "./model/span_source.ts";
import { WindowCache } from "./model/window_cache.ts";
import { App } from "./ui/app.tsx";
import { Failure, failureText, NoFile } from "./ui/failure.tsx";
import { connectLocation } from "./ui/location.ts";
import { keepSizesInPrint } from "./ui/print_pictures.ts";
import "./ui/theme.css";
import "./ui/page.css";
import "./ui/controls.css";
import "./ui/table.css";
import "./ui/print.css";

// Parts of the timeline that are kept, together.
const kMaxWindowBytes = 64 * 2 ** 20;
const kComputing = "Being computed. Overview and Timeline are ready.";
const kChosenFile = "opscope-file";

interface Served {
  files: ServedFile[];
  chosen: string;
  notice: string;
}

function openFile(id: string): void {
  sessionStorage.setItem(kChosenFile, id);
  location.hash = `token=${tokenOf(location.hash)}`;
  location.reload();
}

// Draws the page, and returns what shows another document of the same trace in its place.
function start(root: HTMLElement, data: WebDocument, source: SpanSource, served: Served = { files: [], chosen: "", notice: "" }) {
  const origin = new Origin(data.clock);
  const isThere: Partial<Record<Tab, boolean>> = { compare: data.tables.compare !== undefined, ranks: data.ranks !== undefined };
  const tabs = kTabs.filter((tab) => isThere[tab] !== false);
  const store = new AddressStore(origin, location.hash, tabs);
  document.title = `${data.title} - opscope`;
  connectLocation(store);
  keepSizesInPrint();
  const show = (shown: WebDocument, from: SpanSource, pending: string) =>
    render(<App page={{ document: shown, pending, origin, store, source: from, ...served, open: openFile }} />, root);
  root.replaceChildren();
  show(data, source, data.is_partial === true ? kComputing : "");
  // A task that a frame posts runs once the frame is drawn, and does not wait for the next one.
  requestAnimationFrame(() => setTimeout(() => (document.documentElement.dataset["state"] = "ready")));
  return show;
}

function fail(root: HTMLElement, error: unknown): void {
  root.replaceChildren();
  render(<Failure message={failureText(error)} />, root);
  document.documentElement.dataset["state"] = "error";
}

// Of the file that was chosen in this window before, else of the first one, or of the next one that can be read.
async function startFromServer(root: HTMLElement, schema: string | null): Promise<void> {
  const server = new TraceServer(tokenOf(location.hash));
  const { files, idleSeconds } = await server.files();
  if (files.length === 0) throw new Error("opscope view has no traces");
  const first = await openFirst(files, sessionStorage.getItem(kChosenFile), async ({ id }) => parseDocument(await server.data(id, "overview"), schema));
  const notice = failedText(first);
  if (first.opened === null) {
    root.replaceChildren();
    render(<NoFile message={notice} files={files} open={openFile} />, root);
    document.documentElement.dataset["state"] = "error";
    return;
  }
  const { file: chosen, data } = first.opened;
  const windows = new WindowCache(kMaxWindowBytes);
  const source = serverSource(data, server, chosen.id, windows);
  const show = start(root, data, source, { files, chosen: chosen.id, notice });
  // While the page is visible the server stays; when it has gone, the page says so and keeps what it shows.
  let isAsking = false; // a busy server answers late, and a browser opens few connections
  const ping = () => {
    if (document.visibilityState !== "visible" || isAsking) return;
    isAsking = true;
    server
      .ping()
      .catch((error: unknown) => sayOnce(failureText(error)))
      .finally(() => (isAsking = false));
  };
  const timer = setInterval(ping, pingInterval(idleSeconds));
  document.addEventListener("visibilitychange", ping);
  const sayOnce = (message: string) => {
    clearInterval(timer);
    document.removeEventListener("visibilitychange", ping);
    server.onEnd = () => {};
    if (document.querySelector("#server-ended") !== null) return;
    const place = root.insertBefore(document.createElement("div"), root.firstChild);
    place.id = "server-ended";
    render(<Failure message={message} />, place);
  };
  server.onEnd = () => sayOnce(kServerEnded);
  if (data.is_partial !== true) return;
  try {
    const whole = parseDocument(await server.data(chosen.id, "whole"), schema);
    show(whole, serverSource(whole, server, chosen.id, windows), "");
  } catch (error) {
    show(data, source, failureText(error));
  }
}

const root = document.getElementById("app");
if (root !== null) {
  const element = document.getElementById("opscope-data");
  const text = element?.textContent ?? "";
  const schema = element?.dataset["schema"] ?? null;
  if (text.trim() === "" && tokenOf(location.hash) !== "") {
    startFromServer(root, schema).catch((error: unknown) => fail(root, error));
  } else if (text.trim() === "" && location.protocol === "http:") {
    fail(root, new DocumentError("This address lacks the token of opscope view. Open the whole address that it printed."));
  } else {
    try {
      const data = parseDocument(text, schema);
      start(root, data, documentSource(data));
    } catch (error) {
      fail(root, error);
    }
  }
}
