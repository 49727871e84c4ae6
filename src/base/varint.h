// The encoding of integers in files: variable-length integers (LEB128, least significant group first), zigzag, which
// maps small negative numbers to small unsigned ones, and fixed little-endian ones; and a bounds-checked reader of
// them.
//
//   AppendVarint(&bytes, 300);                           // ac 02
//   ByteReader reader(std::as_bytes(std::span(bytes)));
//   const uint64_t number = reader.Varint();             // 300
//   if (!reader.ok()) return Error{ErrorCode::kMalformed, ...};
//
// Thread rule: pure functions; a ByteReader one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace opscope {

constexpr uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t UnZigZag(uint64_t value) {
  return static_cast<int64_t>((value >> 1) ^ (0 - (value & 1)));
}

// `Bytes` is std::string or a Column<char>.
template <typename Bytes>
void AppendVarint(Bytes* out, uint64_t value) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

// Reads numbers from untrusted bytes. After the first read past the end, or of a malformed number, ok() is false and
// every read gives 0 or no bytes.
class ByteReader {
 public:
  ByteReader() = default;
  explicit ByteReader(std::span<const std::byte> bytes)
      : begin_(bytes.data()), at_(begin_), end_(begin_ + bytes.size()) {}

  bool ok() const { return ok_; }
  bool at_end() const { return at_ == end_; }
  size_t remaining() const { return static_cast<size_t>(end_ - at_); }
  size_t position() const { return static_cast<size_t>(at_ - begin_); }

  uint64_t Varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) break;
      const auto byte = static_cast<uint64_t>(*at_++);
      if (shift == 63 && byte > 1) break;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    Fail();
    return 0;
  }

  template <typename T>
  T Fixed() {
    T value{};
    if (remaining() < sizeof(T)) {
      Fail();
      return value;
    }
    std::memcpy(&value, at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }

  std::span<const std::byte> Bytes(uint64_t size) {
    if (size > remaining()) {
      Fail();
      return {};
    }
    const std::span<const std::byte> bytes(at_, static_cast<size_t>(size));
    at_ += size;
    return bytes;
  }

  std::string_view Text(uint64_t size) {
    const std::span<const std::byte> bytes = Bytes(size);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  void Fail() {
    ok_ = false;
    at_ = end_;
  }

  const std::byte* begin_ = nullptr;
  const std::byte* at_ = nullptr;
  const std::byte* end_ = nullptr;
  bool ok_ = true;
};

// Appends the bytes of the value, as ByteReader::Fixed reads them.
template <typename T>
void AppendFixed(std::string* out, T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out->append(bytes, sizeof(T));
}

}  // namespace opscope
