// Parses a JSON text of a recording with simdjson's on-demand parser. Without memory simdjson returns an error like that
// of wrong JSON, or writes decoded strings to a null pointer; here both are std::bad_alloc.
//
// Thread rule: one thread at a time; what Get gives is valid as long as the object.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <simdjson.h>

#include <new>
#include <string_view>

namespace opscope {

class ParsedJson {
 public:
  explicit ParsedJson(std::string_view text) : padded_(text) {
    if (padded_.data() == nullptr) throw std::bad_alloc();
    error_ = parser_.iterate(padded_).get(static_cast<simdjson::ondemand::document&>(document_));
    const bool has_strings = error_ != simdjson::SUCCESS || document_.has_string_buffer();
    if (error_ == simdjson::MEMALLOC || !has_strings) throw std::bad_alloc();
  }

  // Root: simdjson::ondemand::object or array. False: the text is damaged, or another type of value. Call once.
  template <typename Root>
  [[nodiscard]] bool Get(Root* root) {
    return error_ == simdjson::SUCCESS && document_.get(*root) == simdjson::SUCCESS;
  }

 private:
  struct Document : simdjson::ondemand::document {
    bool has_string_buffer() { return iter.string_buf_loc() != nullptr; }
  };

  simdjson::padded_string padded_;
  simdjson::ondemand::parser parser_;
  Document document_;
  simdjson::error_code error_ = simdjson::UNINITIALIZED;
};

}  // namespace opscope
