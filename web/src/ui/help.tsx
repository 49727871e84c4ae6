// The button and the key `?` that open a dialog with the keys of the page.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef } from "preact/hooks";
import { usePage } from "./page_context.ts";
import { takesText } from "./text_fields.ts";

const kTimelineKeys: [string[], string][] = [
  [["w", "s"], "zoom in, zoom out"],
  [["a", "d"], "pan left, pan right"],
  [["0"], "show all"],
  [["f"], "zoom to the selection"],
  [[".", ","], "next, previous span of the track"],
  [["↑", "↓"], "parent, first child"],
  [["r"], "select the range of the selected span"],
  [["Escape"], "clear the selection"],
];

const kPageKeys: [string[], string][] = [
  [["/"], "go to Search"],
  [["Enter", "Shift Enter"], "next, previous match, in Search"],
  [["Escape"], "empty Search"],
  [["←", "→"], "previous, next tab, in the tabs"],
  [["?"], "open this help"],
];

const kPointer: [string[], string][] = [
  [["Ctrl wheel"], "zoom about the pointer"],
  [["drag"], "pan"],
  [["Shift drag"], "select a range"],
];

const kRankKeys: [string[], string][] = [
  [["←", "→", "↑", "↓"], "from cell to cell"],
  [["Home", "End"], "first, last step"],
  [["Page Up", "Page Down"], "a tenth of the ranks up, down"],
  [["m"], "the longest duration in comparison"],
  [["Enter"], "open the cell in the timeline"],
];

export function Help() {
  const { store } = usePage();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "?" || event.ctrlKey || event.altKey || event.metaKey || takesText(event.target)) return;
      event.preventDefault();
      if (dialog.current?.open === false) dialog.current.showModal();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);

  return (
    <>
      <button
        type="button"
        class="icon"
        aria-label="Help"
        title="Help (?)"
        aria-keyshortcuts="?"
        onClick={() => dialog.current?.showModal()}
      >
        ?
      </button>
      <dialog ref={dialog} aria-labelledby="help-title" class="help">
        {/* An open dialog focuses its first button and scrolls to it, so Close stands at the top. */}
        <header>
          <h2 id="help-title">Help</h2>
          <button type="button" onClick={() => dialog.current?.close()}>
            Close
          </button>
        </header>
        <KeyList title="Anywhere" keys={kPageKeys} />
        <KeyList title="In the timeline" keys={kTimelineKeys} />
        <KeyList title="With the pointer, in the timeline" keys={kPointer} />
        {store.tabs.includes("ranks") && <KeyList title="In the picture of steps by ranks" keys={kRankKeys} />}
      </dialog>
    </>
  );
}

function KeyList(props: { title: string; keys: [string[], string][] }) {
  return (
    <section>
      <h3>{props.title}</h3>
      <dl>
        {props.keys.map(([keys, action]) => (
          <div key={action}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{action}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
