// Counts the damage in a protobuf file as problem rows, and returns the first of it as the error for a file without
// events.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "import/text/malformed.h"
#include "import/text/proto_reader.h"
#include "trace/builder.h"

namespace opscope {

class ProtoDamage {
 public:
  explicit ProtoDamage(TraceBuilder* builder) : builder_(builder) {}

  // Records the failure of a reader, if it failed. The end of a damaged message is known from the length of the message
  // around it, so reading continues behind it. The end of the file is recorded once.
  void Note(const ProtoReader& reader) {
    if (!reader.failed()) return;
    if (first_ == nullptr) {
      first_ = reader.complaint();
      first_at_ = reader.failed_offset();
    }
    if (reader.truncated() && builder_->HasProblem("truncated")) return;
    builder_->AddProblem(reader.truncated() ? "truncated" : "damaged_record",
                         static_cast<int64_t>(reader.failed_offset()), 1, reader.complaint());
  }

  bool found() const { return first_ != nullptr; }
  Error FirstIn(std::string_view name) const { return MalformedAt(name, first_at_, first_); }  // REQUIRES: found()

 private:
  TraceBuilder* builder_;
  const char* first_ = nullptr;
  size_t first_at_ = 0;
};

}  // namespace opscope
