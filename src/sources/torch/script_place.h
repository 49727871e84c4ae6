// Where TorchScript's interpreter stands on this thread: its call stack and the modules that it is in. In a program
// without TorchScript both cost a look at a thread-local.
//
// Thread rule: any thread, for itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace opscope {

// Puts before the JSON members of a payload what kStacks and kModules (torch_source_flags) ask for; nothing outside of
// the interpreter. See payload_fields::kKeywords. May throw.
void AddScriptPlace(uint32_t flags, std::string* members);

}  // namespace opscope
