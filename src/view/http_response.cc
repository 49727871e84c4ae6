// The policy of the answers is that of the page, which its builder computed from the scripts in it: one source, so that
// the header cannot fall behind. A browser enforces the header and the page's own policy, and allows what both allow;
// so both get connect-src.
// SPDX-License-Identifier: Apache-2.0
#include "view/http_response.h"

#include "base/json_object.h"
#include "base/text.h"

namespace opscope {
namespace {

constexpr std::string_view kNothing = "default-src 'none'; base-uri 'none'; form-action 'none'";
constexpr std::string_view kConnect = "; connect-src 'self'";

// Where the policy stands in the page; npos: nowhere.
struct PolicyRange {
  size_t begin = std::string_view::npos, size = 0;
};

PolicyRange FindPolicy(std::string_view page) {
  constexpr std::string_view kMeta = "http-equiv=\"Content-Security-Policy\" content=\"";
  const size_t meta = page.find(kMeta);
  if (meta == std::string_view::npos) return {};
  const size_t begin = meta + kMeta.size(), end = page.find('"', begin);
  if (end == std::string_view::npos) return {};
  return {begin, end - begin};
}

std::string_view Reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 422:
      return "Unprocessable Content";
    case 431:
      return "Request Header Fields Too Large";
    default:
      return "Internal Server Error";
  }
}

}  // namespace

HttpResponse ErrorResponse(int status, std::string_view sentence) {
  HttpResponse response{.status = status};
  JsonObject object(&response.body);
  object.Text("error", sentence);
  object.Close();
  response.body += '\n';
  return response;
}

std::string ResponseBytes(const HttpResponse& response, std::string_view policy, bool is_head, bool is_kept_alive) {
  std::string bytes = "HTTP/1.1 ";
  AppendInt(&bytes, response.status);
  const auto header = [&](std::string_view name, std::string_view value) {
    bytes.append("\r\n").append(name).append(": ").append(value);
  };
  bytes.append(" ").append(Reason(response.status));
  header("Content-Type", response.content_type);
  header("Content-Length", std::to_string(response.body.size()));
  header("Content-Security-Policy", policy);
  header("X-Content-Type-Options", "nosniff");
  header("Referrer-Policy", "no-referrer");
  header("Cache-Control", "no-store");
  if (response.status == 405) header("Allow", "GET, HEAD, POST");
  header("Connection", is_kept_alive ? "keep-alive" : "close");
  bytes.append("\r\n\r\n");
  if (!is_head) bytes.append(response.body);
  return bytes;
}

std::string PageThatConnects(std::string_view page) {
  std::string connecting(page);
  const PolicyRange range = FindPolicy(page);
  if (range.size > 0) connecting.insert(range.begin + range.size, kConnect);
  return connecting;
}

std::string PolicyHeader(std::string_view page) {
  const PolicyRange range = FindPolicy(page);
  return std::string(range.size == 0 ? kNothing : page.substr(range.begin, range.size))
      .append(kConnect)
      .append("; frame-ancestors 'none'");
}

}  // namespace opscope
