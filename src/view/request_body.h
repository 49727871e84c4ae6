// The body of a POST: one JSON object with members that the server knows; others are ignored.
//
//   RequestBody body;
//   OPSCOPE_TRY(body.Parse(text));
//   OPSCOPE_TRY(body.ReadRange("range", &begin, &end));
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/result.h"

namespace opscope {

class RequestBody {
 public:
  RequestBody();
  ~RequestBody();

  // kInvalidArgument, as of the functions below: the message is a sentence for the client.
  [[nodiscard]] Status Parse(const std::string& text);
  [[nodiscard]] bool Has(std::string_view key) const;
  // Integers are numbers, or texts of digits beyond 2^53.
  [[nodiscard]] Status ReadInteger(std::string_view key, int64_t* value) const;
  [[nodiscard]] Status ReadText(std::string_view key, std::string* value) const;
  // [a, b]
  [[nodiscard]] Status ReadRange(std::string_view key, int64_t* begin, int64_t* end) const;
  [[nodiscard]] Status ReadIntegers(std::string_view key, std::vector<int64_t>* values) const;

 private:
  struct Parsed;
  std::unique_ptr<Parsed> parsed_;
};

}  // namespace opscope
