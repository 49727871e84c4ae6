// Where the timeline has a step of a rank.
// SPDX-License-Identifier: Apache-2.0
import { useMemo } from "preact/hooks";
import type { Integer } from "../model/document.ts";
import { useTable } from "./document_table.tsx";

// `range` null: the timeline has the rank, and where the step is in it is not known.
export interface RankPlace {
  rank: number;
  range: readonly [Integer, Integer] | null;
}

// null: the timeline has no spans of the rank.
export type RankPlaces = (rank: number, step: number) => RankPlace | null;

export function useRankPlaces(inTimeline: ReadonlySet<number>): RankPlaces {
  const steps = useTable("steps");
  return useMemo(() => {
    const ranges = new Map<string, readonly [Integer, Integer]>();
    const [ranks, numbers] = [steps?.column("rank")?.values ?? [], steps?.column("step")?.values ?? []];
    ranks.forEach((rank, row) => {
      const key = `${rank}/${numbers[row]}`;
      const range = steps!.ranges[row];
      if (range != null && !ranges.has(key)) ranges.set(key, range);
    });
    return (rank, step) => (inTimeline.has(rank) ? { rank, range: ranges.get(`${rank}/${step}`) ?? null } : null);
  }, [steps, inTimeline]);
}
