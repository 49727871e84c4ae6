// Text under construction. Room is asked for once per event, then pieces are copied without checks:
// a million events are two dozen million appends, and the check and the call of std::string::append
// cost more than the bytes.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace opscope {

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

  // Overwrites one byte with a blank.
  void Blank(size_t at) { data_[at] = ' '; }

  // Makes room for `bytes` more.
  void Reserve(size_t bytes) {
    if (capacity_ - size_ < bytes) Grow(bytes);
  }
  // Make room, then copy.
  void Append(std::string_view text) {
    Reserve(text.size());
    Put(text);
  }

  // REQUIRES: room, for numbers 24 bytes.
  void Put(std::string_view text) {
    if (text.empty()) return;  // its data may be null
    std::memcpy(data_ + size_, text.data(), text.size());
    size_ += text.size();
  }
  void PutUint(uint64_t value) {
    char digits[20];
    char* at = digits + sizeof(digits);
    while (value >= 100) {
      at -= 2;
      std::memcpy(at, kPairs + (value % 100) * 2, 2);
      value /= 100;
    }
    if (value >= 10) {
      at -= 2;
      std::memcpy(at, kPairs + value * 2, 2);
    } else {
      *--at = static_cast<char>('0' + value);
    }
    Put({at, static_cast<size_t>(digits + sizeof(digits) - at)});
  }
  void PutInt(int64_t value) {
    if (value >= 0) return PutUint(static_cast<uint64_t>(value));
    Put("-");
    PutUint(0 - static_cast<uint64_t>(value));
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
    data_[size_++] = '.';
    data_[size_++] = static_cast<char>('0' + rest / 100);
    std::memcpy(data_ + size_, kPairs + (rest % 100) * 2, 2);
    size_ += 2;
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
    if (larger == nullptr) throw std::bad_alloc();
    data_ = static_cast<char*>(larger);
    capacity_ = capacity;
  }

  static constexpr char kPairs[] =
      "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354"
      "55565758596061626364656667686970717273747576777879808182838485868788899091929394959697989900";

  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace opscope
