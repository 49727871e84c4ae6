// The controls on every tab: Search with its results and buttons, the theme, and help.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { adjacentMatch } from "../model/matches.ts";
import { countMatches, decodeNames, type NameCounts } from "../model/names.ts";
import { countText } from "../model/numbers.ts";
import { failureText } from "./failure.tsx";
import { FileSelect } from "./file_select.tsx";
import { Help } from "./help.tsx";
import { useAddress, usePage } from "./page_context.ts";
import { takesText } from "./text_fields.ts";
import { type ThemeChoice, useTheme } from "./theme.ts";

export function Controls() {
  return (
    <div class="controls" role="group" aria-label="Search and appearance">
      <FileSelect />
      <Search />
      <ThemeSelect />
      <Help />
    </div>
  );
}

function Search() {
  const { document: data, store } = usePage();
  const query = useAddress((state) => state.query);
  const [names, setNames] = useState<NameCounts | null>(null);
  const [failure, setFailure] = useState("");
  const field = useRef<HTMLInputElement>(null);

  useEffect(() => {
    if (query === "" || names !== null) return;
    decodeNames(data).then(setNames, (error: unknown) => setFailure(failureText(error)));
  }, [query === "", names === null]);

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

  const go = async (step: 1 | -1) => {
    try {
      const span = await adjacentMatch(data, store.state.query, store.state.span, step);
      if (span !== null) store.set({ span, tab: "timeline" });
    } catch (error) {
      setFailure(failureText(error));
    }
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") {
      event.preventDefault();
      void go(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      event.preventDefault();
      store.set({ query: "" });
    }
  };

  const matches = names === null ? 0 : countMatches(names, query);
  const leftOut = query === "" ? 0 : (data.timeline.names.left_out_spans ?? 0);
  const text = `${leftOut > 0 ? "≈ " : ""}${countText(matches)} ${matches === 1 ? "match" : "matches"}`;
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
          data-value={matches}
          data-error={leftOut > 0 ? leftOut : undefined}
        >
          {query === "" ? "" : failure || text}
        </output>
      </div>
      <button type="button" class="icon" aria-label="Previous match" title="Previous match (Shift+Enter)" onClick={() => void go(-1)}>
        ↑
      </button>
      <button type="button" class="icon" aria-label="Next match" title="Next match (Enter)" onClick={() => void go(1)}>
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
