// Lets the search of the site work in pages that are opened as files: browsers start no Worker from a file: address,
// so here a hidden frame runs the worker's script. Served pages keep the browser's own Worker.
// SPDX-License-Identifier: Apache-2.0
class FrameWorker extends EventTarget {
  constructor(url) {
    super();
    this.frame = document.body.appendChild(document.createElement("iframe"));
    this.frame.hidden = true;
    const inner = this.frame.contentWindow;
    inner.postMessage = (data) => this.deliver(data);
    inner.importScripts = (...urls) => urls.reduce((before, each) => before.then(() => this.load(each)), Promise.resolve());
    this.loaded = this.load(url);
  }

  load(url) {
    const script = this.frame.contentDocument.createElement("script");
    script.src = url;
    return new Promise((done, failed) => {
      Object.assign(script, { onload: done, onerror: failed });
      this.frame.contentDocument.body.append(script);
    });
  }

  deliver(data) {
    const event = new MessageEvent("message", { data });
    this.dispatchEvent(event);
    this.onmessage?.(event);
  }

  postMessage(data) {
    const inner = this.frame.contentWindow;
    this.loaded.then(() => inner.dispatchEvent(new inner.MessageEvent("message", { data: structuredClone(data) })));
  }

  terminate() {
    this.frame.remove();
  }
}
if (location.protocol === "file:") window.Worker = FrameWorker;
