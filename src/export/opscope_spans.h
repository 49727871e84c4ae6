// The spans of a Trace as kTable blocks: slices of at most one second and 65,536 rows, so that a cut
// file loses no more than that. Within a slice rows stand by track.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "opscope/trace.h"
#include "wire/footer.h"

namespace opscope {

// Called per block; offset and type are left to the receiver.
using SpanBlockSink = std::function<void(const std::string& payload, FooterBlock block)>;
void WriteSpanBlocks(const Trace& trace, const SpanBlockSink& sink);

[[nodiscard]] std::vector<FooterSum> SumByName(const SpanColumns& spans);

}  // namespace opscope
