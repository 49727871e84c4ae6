// The options of a recording as text: "at most 1.00 GiB, at the cap: stop, clock: TSC".
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace opscope {

// `options_json`: TraceInfo::options_json, a JSON object with any members; a damaged one gives its readable part. Known
// members become phrases, others "name value". Measured overheads ("own_cost") are omitted: `opscope info` prints them
// separately. Returns "" if there are no options.
[[nodiscard]] std::string DescribeOptions(std::string_view options_json);

}  // namespace opscope
