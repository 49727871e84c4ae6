// The spans of a Trace as kTable blocks: slices of at most one second and 65,536 rows, so that a cut
// file loses no more than that. Within a slice rows stand by track.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "export/opscope_plan.h"
#include "opscope/trace.h"
#include "wire/footer.h"

namespace opscope {

void PlanSpanBlocks(const Trace& trace, std::vector<PlannedBlock>* blocks);

[[nodiscard]] std::vector<FooterSum> SumByName(const SpanColumns& spans);

}  // namespace opscope
