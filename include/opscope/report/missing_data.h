// Why an input lacks what an answer is made of, and what records it: parts of sentences, which the command line puts
// behind the name of the file.
//
// Thread rule: constants.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace opscope {

inline constexpr const char* kNoShapes = "no input shapes were recorded; that takes record_shapes=True";
inline constexpr const char* kNoStacks = "no call stacks were recorded; that takes with_stack=True (torch)";
inline constexpr const char* kNoModules =
    "no modules were recorded; that takes with_modules=True or with_stack=True (torch) or with_scopes=True (MegEngine)";
inline constexpr const char* kNoAllocations =
    "no allocations were recorded; that takes profile_memory=True (torch, Paddle)";

}  // namespace opscope
