// Answers of HTTP, with the headers that every answer of the viewer has.
//
// Thread rule: plain values and pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace opscope {

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body = {};
};

// {"error": "SENTENCE"}
[[nodiscard]] HttpResponse ErrorResponse(int status, std::string_view sentence);

// The bytes of an answer. `policy`: the Content-Security-Policy. is_head: without the body, with its length.
[[nodiscard]] std::string ResponseBytes(const HttpResponse& response, std::string_view policy, bool is_head,
                                        bool is_kept_alive);

// The page, with requests to its own server added to what its <meta http-equiv="Content-Security-Policy"> allows.
[[nodiscard]] std::string PageThatConnects(std::string_view page);
// The header for such a page: its policy, or one that allows nothing if it has none, with requests to its own server.
// Also forbids other pages to show it in a frame.
[[nodiscard]] std::string PolicyHeader(std::string_view page);

}  // namespace opscope
