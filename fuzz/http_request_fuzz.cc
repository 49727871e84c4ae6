// Any bytes through the reader of HTTP requests: it gives requests or an error, and the same ones however the bytes are
// divided. The bodies go through the reader of JSON.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <string_view>

#include "opscope/result.h"
#include "view/access.h"
#include "view/http_request.h"
#include "view/request_body.h"

namespace {

using namespace opscope;

constexpr size_t kMaxBody = 300;

void UseBody(const HttpRequest& request) {
  RequestBody body;
  if (!body.Parse(request.body).ok()) return;
  int64_t number = 0, end = 0;
  std::string text;
  static_cast<void>(body.ReadInteger("file", &number));
  static_cast<void>(body.ReadText("text", &text));
  if (body.ReadRange("range", &number, &end).ok()) OPSCOPE_CHECK(number <= end);
}

// The requests, one line each, and how it ended.
std::string ReadAll(std::string_view bytes, size_t piece) {
  RequestReader reader;
  std::string requests;
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, piece);
    bytes.remove_prefix(part.size());
    ReadState state = reader.Feed(part);
    while (state == ReadState::kHead || state == ReadState::kComplete) {
      HttpRequest& request = reader.request();
      if (state == ReadState::kHead) {
        static_cast<void>(CheckAccess(request, {1, "token", [](std::string_view path) { return path == "/"; }}));
        static_cast<void>(request.QueryValue("file"));
        state = reader.ReadBody(kMaxBody);
        continue;
      }
      OPSCOPE_CHECK(request.body.size() <= kMaxBody);
      UseBody(request);
      requests += request.method + " " + request.target + " " + std::to_string(request.headers.size()) + " " +
                  request.body + "\n";
      state = reader.StartNext();
    }
  }
  return requests + std::to_string(static_cast<int>(reader.state()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = ReadAll(bytes, SIZE_MAX);
  OPSCOPE_CHECK(ReadAll(bytes, 1) == whole);
  OPSCOPE_CHECK(ReadAll(bytes, 7) == whole);
  return 0;
}
