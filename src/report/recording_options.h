// The options of a recording for people: "at most 1.00 GiB, at the cap: stop, clock: TSC".
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace opscope {

// `options_json`: TraceInfo::options_json, a JSON object of any members; a damaged one gives what can be read of it.
// Known members get a phrase, others their name and value. The measured overheads ("own_cost") are left out: they are
// results, which `opscope info` prints by themselves. "": no options.
[[nodiscard]] std::string OptionsInWords(std::string_view options_json);

}  // namespace opscope
