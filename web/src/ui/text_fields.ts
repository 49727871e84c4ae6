// Keys of the page must not act while someone types.
// SPDX-License-Identifier: Apache-2.0

// Whether keys that are typed into this element become text.
export function takesText(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLTextAreaElement ||
    (target instanceof HTMLInputElement && !/^(button|checkbox|radio|range|reset|submit)$/.test(target.type)) ||
    (target instanceof HTMLElement && target.isContentEditable)
  );
}
