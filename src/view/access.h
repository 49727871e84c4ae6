// Who may ask what: the token, and the checks of a request in their order (docs/reference/view_server.md).
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

// Takes as long for any two texts of one length, so that its time says nothing about where they differ.
[[nodiscard]] bool EqualInConstantTime(std::string_view a, std::string_view b);

struct AccessRules {
  uint16_t port = 0;
  std::string token;
  bool (*is_path)(std::string_view path) = nullptr;  // there is something to serve there
};

// The answer to a request that is refused, judged by its head; nullopt: it may go on.
[[nodiscard]] std::optional<HttpResponse> CheckAccess(const HttpRequest& request, const AccessRules& rules);

}  // namespace opscope
