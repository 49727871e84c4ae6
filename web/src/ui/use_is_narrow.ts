// Whether the window is as narrow as that of a phone, as the style sheets have it.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";

const kNarrow = "(max-width: 640px)";

export function useIsNarrow(): boolean {
  const [isNarrow, setIsNarrow] = useState(() => matchMedia(kNarrow).matches);
  useEffect(() => {
    const media = matchMedia(kNarrow);
    const update = () => setIsNarrow(media.matches);
    update();
    media.addEventListener("change", update);
    return () => media.removeEventListener("change", update);
  }, []);
  return isNarrow;
}
