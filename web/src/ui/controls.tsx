// The controls on every tab: Search with its results and buttons, the theme, and help.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef } from "preact/hooks";
import { countText } from "../model/numbers.ts";
import { FileSelect } from "./file_select.tsx";
import { Help } from "./help.tsx";
import { useAddress, usePage } from "./page_context.ts";
import { takesText } from "./text_fields.ts";
import { type ThemeChoice, useTheme } from "./theme.ts";
import { useLoaded } from "./use_loaded.ts";
import { useSteps } from "./use_steps.ts";

// The page asks a server when typing rests.
const kDelayMs = 100;

export function Controls() {
  const { files, chosen, open } = usePage();
  return (
    <div class="controls" role="group" aria-label="Search and appearance">
      <FileSelect files={files} chosen={chosen} open={open} />
      <Search />
      <ThemeSelect />
      <Help />
    </div>
  );
}

function Search() {
  const { source, store } = usePage();
  const query = useAddress((state) => state.query);
  const steps = useSteps({ tab: "timeline" });
  const counted = useLoaded((signal) => (query === "" ? null : source.count(query, signal)), [source, query], source.detail === null ? 0 : kDelayMs);
  const field = useRef<HTMLInputElement>(null);

  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "/" || event.ctrlKey || event.altKey || event.metaKey || takesText(event.target)) return;
      if (document.querySelector("dialog[open]") !== null) return;
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);

  const go = (step: 1 | -1) => steps.go((from) => source.adjacent(store.state.query, from, step));

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return; // the key ends the input of a character
    if (event.key === "Enter") {
      event.preventDefault();
      go(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      event.preventDefault();
      store.set({ query: "" });
    }
  };

  // The count of the text before stays until the new one is there.
  const { value: matches, error } = query === "" || counted.data === null ? { value: 0, error: 0 } : counted.data;
  const failure = counted.failure || steps.failure;
  const text = `${error > 0 ? "≈ " : ""}${countText(matches)} ${matches === 1 ? "match" : "matches"}`;
  return (
    <div class="search" role="search">
      <div class="field">
        <input
          ref={field}
          type="search"
          aria-label="Search"
          aria-keyshortcuts="/"
          placeholder="Search spans"
          autocomplete="off"
          spellcheck={false}
          value={query}
          onInput={(event) => store.set({ query: event.currentTarget.value })}
          onKeyDown={onKeyDown}
        />
        <output
          class="matches"
          role="status"
          aria-label="Search results"
          data-value={String(matches)}
          data-error={error > 0 ? error : undefined}
        >
          {query === "" ? "" : failure || text}
        </output>
      </div>
      <button type="button" class="icon" aria-label="Previous match" title="Previous match (Shift+Enter)" onClick={() => go(-1)}>
        ↑
      </button>
      <button type="button" class="icon" aria-label="Next match" title="Next match (Enter)" onClick={() => go(1)}>
        ↓
      </button>
    </div>
  );
}

function ThemeSelect() {
  const [choice, setChoice] = useTheme();
  return (
    <select
      aria-label="Theme"
      value={choice}
      onChange={(event) => setChoice(event.currentTarget.value as ThemeChoice)}
    >
      <option value="auto">auto</option>
      <option value="light">light</option>
      <option value="dark">dark</option>
    </select>
  );
}
