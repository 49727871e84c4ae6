// The part of a scrolling box that is in view.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";

// CSS pixels.
export interface View {
  width: number;
  height: number;
  scrollTop: number;
}

// The width is that of `picture`, which lies in `box`; the rest is of the box.
export function useView(box: { current: HTMLElement | null }, picture: { current: HTMLElement | null }): View {
  const [view, setView] = useState<View>({ width: 0, height: 0, scrollTop: 0 });
  useEffect(() => {
    const [outer, inner] = [box.current, picture.current];
    if (outer === null || inner === null) return;
    const update = () => setView({ width: inner.clientWidth, height: outer.clientHeight, scrollTop: outer.scrollTop });
    const observer = new ResizeObserver(update);
    observer.observe(outer);
    if (inner !== outer) observer.observe(inner);
    outer.addEventListener("scroll", update, { passive: true });
    return () => {
      observer.disconnect();
      outer.removeEventListener("scroll", update);
    };
  }, []);
  return view;
}
