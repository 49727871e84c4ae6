// Brings step functions onto common times: a value holds until the next time of its curve, null before the first. And
// compares a whole with its parts.
// SPDX-License-Identifier: Apache-2.0

export interface StepCurve {
  times: Float64Array;
  values: Float64Array;
}

export function alignCurves(curves: readonly StepCurve[]): { times: number[]; values: (number | null)[][] } {
  const times = [...new Set(curves.flatMap((curve) => [...curve.times]))].sort((a, b) => a - b);
  const values = curves.map((curve) => {
    let next = 0;
    return times.map((time) => {
      while (next < curve.times.length && curve.times[next]! <= time) ++next;
      return next === 0 ? null : curve.values[next - 1]!;
    });
  });
  return { times, values };
}

// Whether the parts together have more than the whole and `error` at some time. `whole`, `parts`: of alignCurves.
export function exceedWhole(whole: readonly (number | null)[], parts: readonly (readonly (number | null)[])[], error: number): boolean {
  return whole.some((all, at) => all !== null && parts.reduce((sum, part) => sum + (part[at] ?? 0), 0) > all + error);
}
