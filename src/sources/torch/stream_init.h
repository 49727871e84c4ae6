// std::basic_ios<char>::init(streambuf*) once more. Autograd names the range of each node that is watched by a string
// stream, and three fifths of what that takes is finding the facets of the locale, which are the same every time. Here
// those of the classic locale are known; a stream of any other goes to the library's own.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ios>
#include <streambuf>

namespace opscope::drop_in {

using InitStream = void (*)(std::ios* self, std::streambuf* buffer);

// Null: the C++ library in this process makes streams differently, as far as one that it makes tells.
// The first call decides.
InitStream FindInitStream();

}  // namespace opscope::drop_in
