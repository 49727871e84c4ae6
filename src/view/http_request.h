// Reads requests of HTTP/1.0 and 1.1 from the bytes of a connection, as they arrive.
//
//   RequestReader reader;
//   reader.Feed("GET / HTTP/1.1\r\nHost: ");       // kNeedsMore
//   reader.Feed("127.0.0.1:80\r\n\r\nGET /b");     // kHead: reader.request().path is "/"
//   reader.ReadBody(1 << 20);                      // kComplete; "GET /b" is of the next request
//   reader.StartNext();                            // reads on: kNeedsMore
//
// Ambiguous requests are malformed: lines that end by a single LF, folded headers, spaces before a colon, two lengths,
// a length beside chunks. So no two programs can divide the bytes of a connection into different requests.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opscope {

struct HttpRequest {
  std::string method;
  std::string target;  // as it was sent: "/api/files?x=1"
  std::string path;    // up to the first '?'; not decoded
  std::string query;   // after the '?'
  int minor_version = 1;
  std::vector<std::pair<std::string, std::string>> headers = {};  // names in lower case
  std::string body = {};

  // The value; nullopt if the header is absent or occurs several times. `is_present`: true in both other cases.
  [[nodiscard]] std::optional<std::string_view> Header(std::string_view lower_name, bool* is_present = nullptr) const;
  [[nodiscard]] bool IsKeptAlive() const;
  // The decoded value of a member of the query; nullopt: it has none, or a wrong escape.
  [[nodiscard]] std::optional<std::string> QueryValue(std::string_view key) const;
};

// The state of a reader.
enum class ReadState : uint8_t {
  kNeedsMore,
  kHead,       // the head is complete; ReadBody or StartNext goes on
  kComplete,   // the body is complete too
  kMalformed,  // answer 400 and close
  kHeadTooLarge,
  kBodyTooLarge,
};

class RequestReader {
 public:
  static constexpr size_t kMaxHeadBytes = size_t{32} << 10;
  static constexpr size_t kMaxHeaders = 128;

  // Adds bytes of the connection and parses them.
  ReadState Feed(std::string_view bytes);
  // After kHead: reads the body, at most `max_bytes`.
  ReadState ReadBody(size_t max_bytes);
  // After kComplete, or kHead of a request without a body: begins the next request.
  ReadState StartNext();

  [[nodiscard]] ReadState state() const { return state_; }
  [[nodiscard]] HttpRequest& request() { return request_; }
  // After kHead.
  [[nodiscard]] bool has_body() const { return is_chunked_ || length_ > 0; }
  [[nodiscard]] bool has_length() const { return is_chunked_ || has_length_; }
  // True if a part of the next request has arrived.
  [[nodiscard]] bool is_within_request() const { return has_head_ || !rest().empty(); }

 private:
  [[nodiscard]] std::string_view rest() const { return std::string_view(buffer_).substr(at_); }
  ReadState Advance();
  ReadState ReadOn();
  ReadState ReadHead();
  bool ParseHead(std::string_view head);
  bool ParseRequestLine(std::string_view line);
  bool ParseHeader(std::string_view line);
  bool ParseLengths();
  ReadState ReadChunks();
  // The next line, without CRLF; nullopt: it has not arrived. `is_malformed`: it is too long.
  std::optional<std::string_view> NextLine(size_t max_bytes, bool* is_malformed) const;
  void AppendToBody(uint64_t max_bytes);
  bool ReadChunkSize(std::string_view line);

  enum class ChunkPart : uint8_t { kSize, kData, kDataEnd, kTrailer };

  ReadState state_ = ReadState::kNeedsMore;
  HttpRequest request_;
  std::string buffer_;
  size_t at_ = 0;       // the bytes before it were parsed
  size_t scanned_ = 0;  // bytes of rest() that hold no end of a head
  bool has_head_ = false, reads_body_ = false;
  bool is_chunked_ = false, has_length_ = false;
  uint64_t length_ = 0;
  size_t max_body_ = 0;
  ChunkPart chunk_part_ = ChunkPart::kSize;
  uint64_t chunk_left_ = 0;
  size_t trailer_bytes_ = 0;
};

}  // namespace opscope
