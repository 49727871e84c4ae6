// The order of the checks matters: a page of another site that reaches this server by a name of its own (DNS rebinding)
// has the wrong Host and learns nothing else, not even which paths there are; who lacks the token does not learn it
// either.
// SPDX-License-Identifier: Apache-2.0
#include "view/access.h"

#include <sys/random.h>

#include <cerrno>

#include "base/system_error.h"

namespace opscope {
namespace {

bool HasToken(const HttpRequest& request, std::string_view token) {
  constexpr std::string_view kScheme = "Bearer ";
  const auto value = request.Header("authorization");
  if (!value || value->size() <= kScheme.size() || !value->starts_with(kScheme)) return false;
  return EqualInConstantTime(value->substr(kScheme.size()), token);
}

bool IsPageRequest(const HttpRequest& request) {
  return request.path == "/" && (request.method == "GET" || request.method == "HEAD");
}

}  // namespace

Result<std::string> CreateToken() {
  unsigned char bytes[16];
  for (size_t got = 0; got < sizeof(bytes);) {
    const ssize_t more = getrandom(bytes + got, sizeof(bytes) - got, 0);
    if (more < 0 && errno != EINTR) return SystemErrorFor("no random numbers", errno, ErrorCode::kIo);
    if (more > 0) got += static_cast<size_t>(more);
  }
  std::string token;
  for (const unsigned char byte : bytes) {
    token += "0123456789abcdef"[byte >> 4];
    token += "0123456789abcdef"[byte & 15];
  }
  return token;
}

bool EqualInConstantTime(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char different = 0;
  for (size_t i = 0; i < a.size(); ++i)
    different = static_cast<unsigned char>(different | (a[i] ^ b[i]));
  return different == 0;
}

std::optional<HttpResponse> CheckAccess(const HttpRequest& request, const AccessRules& rules) {
  const auto host = request.Header("host");
  const std::string port = ":" + std::to_string(rules.port);
  if (!host || (*host != "127.0.0.1" + port && *host != "localhost" + port))
    return ErrorResponse(403, "The request is for another host.");
  bool has_origin = false;
  const auto origin = request.Header("origin", &has_origin);
  if (has_origin && (!origin || *origin != "http://" + std::string(*host)))
    return ErrorResponse(403, "The request comes from a page of another origin.");
  if (request.method != "GET" && request.method != "HEAD" && request.method != "POST")
    return ErrorResponse(405, "The server knows GET, HEAD and POST.");
  if (!IsPageRequest(request) && !HasToken(request, rules.token))
    return ErrorResponse(403, "The token is missing or wrong. Open the address that `opscope view` printed.");
  if (!rules.is_path(request.path)) return ErrorResponse(404, "There is nothing at this path.");
  return std::nullopt;
}

}  // namespace opscope
