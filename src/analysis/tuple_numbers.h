// Numbers tuples of texts, such as the name and the shapes of an operator, in order of first appearance.
//
//   TupleNumbers tuples;
//   tuples.NumberOf({"aten::mm", "[2, 3]"});    // 0
//   tuples.NumberOf({"aten::mm", "[4, 3]"});    // 1
//   tuples.NumberOf({"aten::mm", "[2, 3]"});    // 0
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace opscope {

class TupleNumbers {
 public:
  // The number of the tuple. A new one gets the number of tuples so far. O(bytes)
  size_t NumberOf(std::span<const std::string_view> texts) {
    std::string key;  // a text may contain any byte, so each has its length in front
    for (const std::string_view text : texts)
      key.append(std::to_string(text.size())).append(":").append(text);
    return numbers_.try_emplace(std::move(key), numbers_.size()).first->second;
  }
  size_t NumberOf(std::initializer_list<std::string_view> texts) { return NumberOf(std::span(texts)); }

 private:
  std::unordered_map<std::string, size_t> numbers_;
};

}  // namespace opscope
