// What is under the pointer, or where the keyboard is, in a few words beside it. It has only text, takes no
// pointer events and stays inside the window. Escape hides it until it describes something else.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { placeTooltip, type Point } from "../layout/tooltip_place.ts";
import type { Unit } from "../model/document.ts";
import { exactText, visibleText, type Value } from "../model/numbers.ts";
import { Figure } from "./figure.tsx";
import "./tooltip.css";

// Longer names are cut; the details have them in full.
const kLongestName = 300;

export interface Fact {
  title: string;
  value: Value;
  unit: Unit;
  // In place of the text that follows from the unit.
  text?: string;
  // How the value has changed. `value` null: the text says it without a number.
  changes?: readonly { value: number | null; text: string }[];
}

export interface TooltipProps {
  id: string;
  name: string;
  facts: readonly Fact[];
  // The point it belongs to; null: it is out of sight.
  place: () => Point | null;
}

// Give it a key of what it is of.
export function Tooltip({ id, name, facts, place }: TooltipProps) {
  const element = useRef<HTMLDivElement>(null);
  const [isHidden, setIsHidden] = useState(false);

  const move = () => {
    const box = element.current;
    const point = place();
    if (box === null) return;
    box.style.visibility = point === null ? "hidden" : "visible";
    if (point === null) return;
    const { left, top } = placeTooltip(point, { width: box.offsetWidth, height: box.offsetHeight }, { width: window.innerWidth, height: window.innerHeight });
    box.style.left = `${left}px`;
    box.style.top = `${top}px`;
  };
  useLayoutEffect(move);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => event.key === "Escape" && setIsHidden(true);
    const hide = () => setIsHidden(true);
    window.addEventListener("keydown", onKeyDown);
    // What it belongs to has moved away.
    window.addEventListener("scroll", hide, { passive: true });
    window.addEventListener("resize", hide);
    return () => {
      window.removeEventListener("keydown", onKeyDown);
      window.removeEventListener("scroll", hide);
      window.removeEventListener("resize", hide);
    };
  }, []);

  if (isHidden) return null;
  const shown = visibleText(name.slice(0, kLongestName)) + (name.length > kLongestName ? "…" : "");
  return (
    <div ref={element} class="tooltip" role="tooltip" id={id}>
      <strong data-value={name}>{shown || "(no name)"}</strong>
      <ul>
        {facts.map((fact) => (
          <li key={fact.title}>
            <span class="fact">
              <span>{fact.title}</span> <FactText fact={fact} />
            </span>
            <FactChanges fact={fact} />
          </li>
        ))}
      </ul>
    </div>
  );
}

// The changes of a fact behind it, in parentheses.
export function FactChanges({ fact }: { fact: Fact }) {
  if (fact.changes === undefined) return null;
  return (
    <span class="delta">
      {" ("}
      {fact.changes.map(({ value, text }, at) => (
        <span key={at}>
          {at > 0 && ", "}
          {value === null ? text : <span data-value={exactText(value)}>{text}</span>}
        </span>
      ))}
      )
    </span>
  );
}

export function FactText({ fact }: { fact: Fact }) {
  if (fact.text === undefined) return <Figure value={fact.value} unit={fact.unit} />;
  return <span data-value={fact.value === null ? "" : String(fact.value)}>{fact.text}</span>;
}
