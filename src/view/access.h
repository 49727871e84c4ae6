// Access control of the viewer: the token, and the checks of a request in their order (docs/reference/view_server.md).
//
// Thread rule: pure functions; CreateToken asks the system.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "opscope/result.h"
#include "view/http_request.h"
#include "view/http_response.h"

namespace opscope {

// 128 random bits as 32 hexadecimal digits.
[[nodiscard]] Result<std::string> CreateToken();

// Compares two texts in a time that depends only on their length, so the time does not reveal where they differ.
[[nodiscard]] bool EqualInConstantTime(std::string_view a, std::string_view b);

struct AccessRules {
  uint16_t port = 0;
  std::string token;
  bool (*is_path)(std::string_view path) = nullptr;  // true if the server has an answer for the path
};

// Checks the head of a request. Returns the answer to a refused request; nullopt: it is allowed.
[[nodiscard]] std::optional<HttpResponse> CheckAccess(const HttpRequest& request, const AccessRules& rules);

}  // namespace opscope
