// Decodes the arguments of records to argument lists of the Trace. Many records have the same bytes, so each distinct
// byte string is decoded once.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "base/hash.h"
#include "base/varint.h"
#include "opscope/record.h"
#include "trace/builder.h"

namespace opscope {

struct EncodedArguments {
  std::span<const std::byte> bytes;
  uint16_t count = 0;
  uint64_t hash = 0;

  uint64_t Hash() const { return HashBytes(bytes) ^ count; }
  bool Same(const EncodedArguments& other) const {
    return count == other.count && bytes.size() == other.bytes.size() &&
           (bytes.empty() || std::memcmp(bytes.data(), other.bytes.data(), bytes.size()) == 0);
  }
};

class RecordingArguments {
 public:
  explicit RecordingArguments(TraceBuilder* builder) : builder_(builder) {}

  // nullopt: the bytes contradict the format. The bytes must stay valid as long as the object.
  // REQUIRES: arguments.hash == arguments.Hash(), arguments.count > 0.
  std::optional<ArgsId> Find(const EncodedArguments& arguments);

 private:
  struct Known {
    EncodedArguments arguments;
    std::optional<ArgsId> id;
  };

  std::optional<ArgsId> Decode(uint16_t count, std::span<const std::byte> bytes);
  bool DecodeOne(ByteReader* reader, ArgumentRow* row);
  bool DecodeTensor(uint32_t tag, ByteReader* reader, ArgumentRow* row);
  bool DecodeTensorList(uint32_t count, ByteReader* reader, ArgumentRow* row);
  bool DecodeList(uint32_t tag, ByteReader* reader, ArgumentRow* row);
  bool AppendScalar(uint32_t tag, ByteReader* reader, std::string* text);
  std::span<const int64_t> ReadIntegers(uint32_t count, bool wide, ByteReader* reader);

  TraceBuilder* builder_;
  tsl::robin_map<uint64_t, Known> known_;  // by hash
  // Of the list that is being decoded; deques, because rows hold views of them.
  std::deque<std::vector<int64_t>> integers_;
  std::deque<std::vector<ArgumentRow>> tensors_;
};

}  // namespace opscope
