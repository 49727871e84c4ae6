// Brings step functions onto common times: a value holds until the next time of its curve, null before the first.
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
