// Reads HTTP requests incrementally. A library would read them, too, but gives a thread to each connection, answers
// unknown methods before anything else is checked, and brings TLS into every process that loads it; what a server on
// the loopback needs of HTTP is this file.
//
// A head is parsed once its empty line has arrived. Bodies are taken out of the buffer as they come, so that a
// connection holds at most a head and the allowed body.
// SPDX-License-Identifier: Apache-2.0
#include "view/http_request.h"

#include <algorithm>
#include <cstring>

#include "base/parse_whole.h"
#include "base/text.h"

namespace opscope {
namespace {

constexpr size_t kMaxChunkLine = 256, kMaxTrailerBytes = 4096;

// RFC 9110: what names of headers and methods are made of.
bool IsTokenCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (c != '\0' && std::strchr("!#$%&'*+-.^_`|~", c) != nullptr);
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenCharacter);
}

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// A number of at most 18 digits.
std::optional<uint64_t> DecimalNumber(std::string_view text) {
  return text.size() <= 18 ? ParseWhole<uint64_t>(text) : std::nullopt;
}

std::optional<std::string> PercentDecoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = HexDigit(text[i + 1]), low = HexDigit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

}  // namespace

std::optional<std::string_view> HttpRequest::Header(std::string_view lower_name, bool* is_present) const {
  std::optional<std::string_view> found;
  size_t count = 0;
  for (const auto& [name, value] : headers) {
    if (name != lower_name) continue;
    ++count;
    found = value;
  }
  if (is_present != nullptr) *is_present = count > 0;
  return count == 1 ? found : std::nullopt;
}

bool HttpRequest::IsKeptAlive() const {
  bool closes = minor_version == 0;
  for (const auto& [name, value] : headers) {
    if (name != "connection") continue;
    const std::string lower = LowerCase(value);
    if (lower.find("close") != std::string::npos) return false;
    if (lower.find("keep-alive") != std::string::npos) closes = false;
  }
  return !closes;
}

std::optional<std::string> HttpRequest::QueryValue(std::string_view key) const {
  std::string_view rest = query;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view member = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t equals = member.find('=');
    if (equals != std::string_view::npos && member.substr(0, equals) == key)
      return PercentDecoded(member.substr(equals + 1));
  }
  return std::nullopt;
}

ReadState RequestReader::Feed(std::string_view bytes) {
  buffer_.append(bytes);
  return Advance();
}

ReadState RequestReader::ReadBody(size_t max_bytes) {
  max_body_ = max_bytes;
  if (!is_chunked_ && length_ > max_bytes) return state_ = ReadState::kBodyTooLarge;
  reads_body_ = true;
  state_ = ReadState::kNeedsMore;
  return Advance();
}

ReadState RequestReader::StartNext() {
  request_ = {};
  state_ = ReadState::kNeedsMore;
  has_head_ = reads_body_ = is_chunked_ = has_length_ = false;
  length_ = chunk_left_ = 0;
  chunk_part_ = ChunkPart::kSize;
  scanned_ = trailer_bytes_ = 0;
  return Advance();
}

ReadState RequestReader::Advance() {
  if (state_ == ReadState::kNeedsMore) state_ = ReadOn();
  buffer_.erase(0, at_);
  at_ = 0;
  return state_;
}

ReadState RequestReader::ReadOn() {
  if (!has_head_) return ReadHead();
  if (!reads_body_) return ReadState::kHead;
  if (is_chunked_) return ReadChunks();
  AppendToBody(length_ - request_.body.size());
  return request_.body.size() == length_ ? ReadState::kComplete : ReadState::kNeedsMore;
}

void RequestReader::AppendToBody(uint64_t max_bytes) {
  const std::string_view bytes = rest().substr(0, max_bytes);
  request_.body.append(bytes);
  at_ += bytes.size();
}

ReadState RequestReader::ReadHead() {
  // Empty lines in front of a request are allowed (RFC 9112, 2.2).
  while (rest().starts_with("\r\n"))
    at_ += 2;
  const size_t end = rest().find("\r\n\r\n", scanned_);
  if (std::min(end, rest().size()) > kMaxHeadBytes) return ReadState::kHeadTooLarge;
  if (end == std::string::npos) {
    scanned_ = rest().size() < 3 ? 0 : rest().size() - 3;
    return ReadState::kNeedsMore;
  }
  const bool is_well_formed = ParseHead(rest().substr(0, end + 2));
  at_ += end + 4;
  if (!is_well_formed) return ReadState::kMalformed;
  has_head_ = true;
  return ReadState::kHead;
}

bool RequestReader::ParseHead(std::string_view head) {
  for (bool is_first = true; !head.empty(); is_first = false) {
    const size_t end = head.find("\r\n");
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(end + 2);
    if (!(is_first ? ParseRequestLine(line) : ParseHeader(line))) return false;
  }
  return ParseLengths();
}

bool RequestReader::ParseRequestLine(std::string_view line) {
  const size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return false;
  const std::string_view method = line.substr(0, first), version = line.substr(last + 1);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  if (!IsToken(method) || method.size() > 32 || target.empty()) return false;
  if (!std::all_of(target.begin(), target.end(), [](char c) { return c > ' ' && c < '\x7f'; })) return false;
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return false;
  request_.method = method;
  request_.target = target;
  request_.minor_version = version.back() - '0';
  const size_t mark = target.find('?');
  request_.path = target.substr(0, mark);
  if (mark != std::string_view::npos) request_.query = target.substr(mark + 1);
  return true;
}

bool RequestReader::ParseHeader(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || request_.headers.size() == kMaxHeaders) return false;
  const std::string_view name = line.substr(0, colon), value = Trimmed(line.substr(colon + 1));
  const auto is_control = [](char c) { return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f'; };
  if (!IsToken(name) || std::any_of(value.begin(), value.end(), is_control)) return false;
  request_.headers.emplace_back(LowerCase(name), value);
  return true;
}

bool RequestReader::ParseLengths() {
  bool has_encoding = false, has_length = false;
  const auto encoding = request_.Header("transfer-encoding", &has_encoding);
  const auto length = request_.Header("content-length", &has_length);
  if (has_encoding) {
    if (has_length || !encoding || LowerCase(*encoding) != "chunked" || request_.minor_version == 0) return false;
    is_chunked_ = true;
  }
  if (has_length) {
    const auto number = length ? DecimalNumber(*length) : std::nullopt;
    if (!number) return false;
    has_length_ = true;
    length_ = *number;
  }
  return true;
}

std::optional<std::string_view> RequestReader::NextLine(size_t max_bytes, bool* is_malformed) const {
  const size_t end = rest().find("\r\n");
  *is_malformed = std::min(end, rest().size()) > max_bytes;
  if (end == std::string::npos || *is_malformed) return std::nullopt;
  return rest().substr(0, end);
}

bool RequestReader::ReadChunkSize(std::string_view line) {
  const std::string_view size = Trimmed(line.substr(0, line.find(';')));
  if (size.empty() || size.size() > 8) return false;
  chunk_left_ = 0;
  for (const char c : size) {
    if (HexDigit(c) < 0) return false;
    chunk_left_ = chunk_left_ * 16 + static_cast<uint64_t>(HexDigit(c));
  }
  chunk_part_ = chunk_left_ == 0 ? ChunkPart::kTrailer : ChunkPart::kData;
  return true;
}

ReadState RequestReader::ReadChunks() {
  while (true) {
    if (chunk_part_ == ChunkPart::kData) {
      const size_t before = request_.body.size();
      AppendToBody(chunk_left_);
      chunk_left_ -= request_.body.size() - before;
      if (chunk_left_ > 0) return ReadState::kNeedsMore;
      chunk_part_ = ChunkPart::kDataEnd;
    }
    bool is_malformed = false;
    const auto line = NextLine(kMaxChunkLine, &is_malformed);
    if (!line) return is_malformed ? ReadState::kMalformed : ReadState::kNeedsMore;
    at_ += line->size() + 2;
    if (chunk_part_ == ChunkPart::kDataEnd) {
      if (!line->empty()) return ReadState::kMalformed;
      chunk_part_ = ChunkPart::kSize;
    } else if (chunk_part_ == ChunkPart::kSize) {
      if (!ReadChunkSize(*line)) return ReadState::kMalformed;
      if (request_.body.size() + chunk_left_ > max_body_) return ReadState::kBodyTooLarge;
    } else {
      if (line->empty()) return ReadState::kComplete;
      trailer_bytes_ += line->size();
      if (trailer_bytes_ > kMaxTrailerBytes) return ReadState::kMalformed;
    }
  }
}

}  // namespace opscope
