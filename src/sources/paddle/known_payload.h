// Compares an operator's arguments with a payload that is already in the chunk, as a sink of VisitArguments. So equal
// calls share a payload without building it first.
//
// Thread rule: the stream is the calling thread's own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "opscope/recorder.h"
#include "sources/paddle/visit_arguments.h"

namespace opscope {

// Accepts each name and value that equals the next one of the payload.
class KnownPayload {
 public:
  KnownPayload(const Stream* stream, uint32_t payload) {
    const char* chunk = reinterpret_cast<const char*>(stream->chunk);
    std::memcpy(&header_, chunk + payload, sizeof(header_));
    uint32_t name;
    std::memcpy(&name, chunk + payload + sizeof(header_), sizeof(name));
    NameEntry entry;
    std::memcpy(&entry, chunk + name, sizeof(entry));
    letter_ = chunk + name + sizeof(entry);
    end_of_letters_ = letter_ + entry.size;
    word_ = reinterpret_cast<const uint32_t*>(chunk + payload + kFixedBytesOfArguments);
    end_of_words_ = reinterpret_cast<const uint32_t*>(chunk + payload + header_.bytes);
  }

  bool AddName(const char* name, size_t tensors) {
    if (!Separate(',')) return false;
    for (; *name != '\0'; ++name) {
      if (!Has(*name)) return false;
    }
    return tensors == 1 || HasCount(tensors);
  }
  bool AddTensor(const paddle_layout::Dims& dims) {
    ++count_;
    return VisitTensor(dims, [this](uint32_t word) { return word_ != end_of_words_ && *word_++ == word; });
  }
  void BeginAttributes() { is_first_of_attributes_ = true; }
  bool AddAttribute(std::string_view name, std::string_view text) {
    return Separate(',') && Has(name) && (text.empty() || (Has('=') && Has(text)));
  }
  bool AddValue(const paddle_layout::Attribute& attribute) {
    uint32_t words[kMaxWordsOfValue];
    const size_t size = WordsOf(attribute);
    if (size > kMaxWordsOfValue || static_cast<size_t>(end_of_words_ - word_) < size) return false;
    WriteAttribute(attribute, words);
    ++count_;
    const bool is_alike = std::equal(words, words + size, word_);
    word_ += size;
    return is_alike;
  }
  // True: the payload has no further arguments.
  bool IsAtEnd() const {
    return letter_ == end_of_letters_ && count_ == header_.arg_count && end_of_words_ - word_ < 2;  // padding
  }

 private:
  static constexpr size_t kMaxWordsOfValue = 32;  // longer lists are always written again

  bool Has(char letter) { return letter_ != end_of_letters_ && *letter_++ == letter; }
  bool Has(std::string_view text) {
    if (static_cast<size_t>(end_of_letters_ - letter_) < text.size() || !SameBytes(letter_, text.data(), text.size()))
      return false;
    letter_ += text.size();
    return true;
  }
  bool HasCount(size_t count) {
    char digits[kMaxDigits];
    return Has('*') && Has(DigitsOf(count, digits));
  }
  bool Separate(char letter) {
    const bool is_first = is_first_;
    is_first_ = false;
    if (OPSCOPE_UNLIKELY(is_first_of_attributes_)) {
      is_first_of_attributes_ = false;
      return Has(';');
    }
    return is_first || Has(letter);
  }

  PayloadHeader header_;
  const char* letter_;
  const char* end_of_letters_;
  const uint32_t* word_;
  const uint32_t* end_of_words_;
  size_t count_ = 0;
  bool is_first_ = true;
  bool is_first_of_attributes_ = false;
};

}  // namespace opscope
