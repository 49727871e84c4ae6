// A growing text buffer. A writer reserves room once per event and then copies pieces without bounds checks: a million
// events are two dozen million appends, and the check and call of std::string::append would cost more than the copy.
//
//   ChromeCursor at = buffer.Begin(64 + name.size());
//   at.Put(name);
//   at.PutMicros(ns);
//   buffer.End(at);
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/allocation_failure.h"

namespace opscope {

// The write position. It is a local value so that the compiler keeps it in a register: a position behind a pointer
// might alias the bytes that are written and would be reloaded after each.
class ChromeCursor {
 public:
  explicit ChromeCursor(char* at) : at_(at) {}
  char* at() const { return at_; }

  // REQUIRES: the reserved room suffices; a number takes up to 24 bytes.
  void Put(std::string_view text) {
    if (text.empty()) return;  // its data may be null
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }
  void PutUint(uint64_t value) {
    at_ += DigitCount(value);
    char* at = at_;
    while (value >= 100) {
      at -= 2;
      std::memcpy(at, kPairs + (value % 100) * 2, 2);
      value /= 100;
    }
    if (value >= 10) {
      std::memcpy(at - 2, kPairs + value * 2, 2);
    } else {
      at[-1] = static_cast<char>('0' + value);
    }
  }
  void PutInt(int64_t value) {
    if (value >= 0) return PutUint(static_cast<uint64_t>(value));
    Put("-");
    PutUint(0 - static_cast<uint64_t>(value));
  }
  // Zero-padded to six digits. REQUIRES: value < 1,000,000.
  void PutSixDigits(uint32_t value) {
    std::memcpy(at_, kPairs + value / 10000 * 2, 2);
    std::memcpy(at_ + 2, kPairs + value / 100 % 100 * 2, 2);
    std::memcpy(at_ + 4, kPairs + value % 100 * 2, 2);
    at_ += 6;
  }
  // Nanoseconds as microseconds with three decimals.
  void PutMicros(int64_t ns) {
    uint64_t magnitude = static_cast<uint64_t>(ns);
    if (ns < 0) {
      Put("-");
      magnitude = 0 - magnitude;
    }
    PutUint(magnitude / 1000);
    const uint64_t rest = magnitude % 1000;
    at_[0] = '.';
    at_[1] = static_cast<char>('0' + rest / 100);
    std::memcpy(at_ + 2, kPairs + (rest % 100) * 2, 2);
    at_ += 4;
  }

 private:
  static size_t DigitCount(uint64_t value) {
    // 1233 / 4096 is the logarithm of 2; the estimate is right or one too small.
    const auto estimate = static_cast<size_t>(std::bit_width(value | 1)) * 1233 >> 12;
    return estimate + (value >= kPowers[estimate] ? 1 : 0);
  }

  // Class scope: as a local constexpr array GCC copies it to the stack for each number.
  static constexpr uint64_t kPowers[] = {0,
                                         10,
                                         100,
                                         1000,
                                         10000,
                                         100000,
                                         1000000,
                                         10000000,
                                         100000000,
                                         1000000000,
                                         10000000000,
                                         100000000000,
                                         1000000000000,
                                         10000000000000,
                                         100000000000000,
                                         1000000000000000,
                                         10000000000000000,
                                         100000000000000000,
                                         1000000000000000000,
                                         10000000000000000000u};
  static constexpr char kPairs[] =
      "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354"
      "55565758596061626364656667686970717273747576777879808182838485868788899091929394959697989900";

  char* at_;
};

class ChromeBuffer {
 public:
  ChromeBuffer() = default;
  ChromeBuffer(ChromeBuffer&& other) noexcept { swap(other); }
  ChromeBuffer& operator=(ChromeBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~ChromeBuffer() { std::free(data_); }

  std::string_view text() const { return {data_, size_}; }
  size_t size() const { return size_; }
  void clear() { size_ = 0; }

  // Replaces the byte at `at` by a space.
  void Blank(size_t at) { data_[at] = ' '; }

  // Makes room for `bytes` more.
  void Reserve(size_t bytes) {
    if (capacity_ - size_ < bytes) Grow(bytes);
  }
  // Reserves, then copies.
  void Append(std::string_view text) {
    Reserve(text.size());
    Put(text);
  }

  // Reserves `bytes` and returns a cursor that may write so many; End(cursor) commits them.
  ChromeCursor Begin(size_t bytes) {
    Reserve(bytes);
    return ChromeCursor(data_ + size_);
  }
  void End(const ChromeCursor& cursor) { size_ = static_cast<size_t>(cursor.at() - data_); }

  // As the cursor's functions. REQUIRES: the reserved room suffices.
  void Put(std::string_view text) {
    ChromeCursor cursor(data_ + size_);
    cursor.Put(text);
    End(cursor);
  }
  void PutUint(uint64_t value) {
    ChromeCursor cursor(data_ + size_);
    cursor.PutUint(value);
    End(cursor);
  }
  void PutInt(int64_t value) {
    ChromeCursor cursor(data_ + size_);
    cursor.PutInt(value);
    End(cursor);
  }
  void PutMicros(int64_t ns) {
    ChromeCursor cursor(data_ + size_);
    cursor.PutMicros(ns);
    End(cursor);
  }

  void swap(ChromeBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  void Grow(size_t bytes) {
    size_t capacity = capacity_ + capacity_ / 2;
    if (capacity < size_ + bytes) capacity = size_ + bytes + 4096;
    void* larger = std::realloc(data_, capacity);
    if (larger == nullptr) throw AllocationFailure(capacity);
    data_ = static_cast<char*>(larger);
    capacity_ = capacity;
  }

  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace opscope
