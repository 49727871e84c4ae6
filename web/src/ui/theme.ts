// The theme: `auto` follows the system at once; `data-theme` of the root is the theme in effect. Print is light.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { type Colours, themeColours } from "../draw/colours.ts";

export type ThemeChoice = "auto" | "light" | "dark";

// The choice of `opscope report --theme`.
function writtenChoice(): ThemeChoice {
  const choice = document.documentElement.dataset["themeChoice"];
  return choice === "light" || choice === "dark" ? choice : "auto";
}

let printing = false;

export function isPrinting(): boolean {
  return printing;
}

export function useTheme(): [ThemeChoice, (choice: ThemeChoice) => void] {
  const [choice, setChoice] = useState(writtenChoice);
  // Before the next picture, so that no picture has the colours of the theme before.
  useLayoutEffect(() => {
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    const apply = () => {
      const isDark = !printing && (choice === "auto" ? system.matches : choice === "dark");
      document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
    };
    // The colours of a canvas follow no style sheet for print, so the theme in effect changes.
    const beginPrint = () => ((printing = true), apply());
    const endPrint = () => ((printing = false), apply());
    apply();
    system.addEventListener("change", apply);
    window.addEventListener("beforeprint", beginPrint);
    window.addEventListener("afterprint", endPrint);
    return () => {
      system.removeEventListener("change", apply);
      window.removeEventListener("beforeprint", beginPrint);
      window.removeEventListener("afterprint", endPrint);
    };
  }, [choice]);
  return [choice, setChoice];
}

// Calls `onChange` when the theme in effect changes: for canvases, which have to draw again. Returns the function that
// ends it.
export function watchTheme(onChange: () => void): () => void {
  const observer = new MutationObserver(onChange);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => observer.disconnect();
}

// The colours of the theme in effect, for canvases.
export function useColours(): Colours {
  const [theme, setTheme] = useState(0);
  useEffect(() => watchTheme(() => setTheme((count) => count + 1)), []);
  return useMemo(themeColours, [theme]);
}
