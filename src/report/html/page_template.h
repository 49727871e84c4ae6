// The built page, web/page.html, without data. The build embeds it (cmake/EmbedText.cmake).
// Thread rule: a constant.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace opscope {

extern const std::string_view kPageTemplate;

}  // namespace opscope
