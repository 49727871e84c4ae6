// Every length is compared with the bytes that are left before a pointer moves, and a failure keeps the byte where it
// happened. Whether the end that was hit is that of the file or of the message decides between "cut" and "damaged".
// SPDX-License-Identifier: Apache-2.0
#include "import/text/proto_reader.h"

#include <protozero/exception.hpp>
#include <protozero/types.hpp>
#include <protozero/varint.hpp>

namespace opscope {
namespace {

constexpr char kCutMessage[] = "the file ends in the middle of a message";

}  // namespace

bool ProtoReader::Fail(const char* at, const char* complaint, bool truncated) {
  complaint_ = complaint;
  truncated_ = truncated;
  failed_offset_ = static_cast<size_t>(at - file_.data());
  return false;
}

bool ProtoReader::ReadVarint(uint64_t* value) {
  try {
    *value = protozero::decode_varint(&at_, end_);
    return true;
  } catch (const protozero::end_of_buffer_exception&) {
    return ends_with_file() ? Fail(end_, "the file ends in a number", true)
                            : Fail(at_, "a number goes past the end of its message", false);
  } catch (const protozero::exception&) {
    return Fail(at_, "a number has more than ten bytes", false);
  }
}

bool ProtoReader::ReadFixed(size_t size) {
  if (static_cast<size_t>(end_ - at_) < size) {
    return ends_with_file() ? Fail(end_, "the file ends in a number", true)
                            : Fail(at_, "a number goes past the end of its message", false);
  }
  number_ = 0;
  for (size_t i = 0; i < size; ++i)
    number_ |= uint64_t{static_cast<unsigned char>(at_[i])} << (8 * i);
  at_ += size;
  return true;
}

bool ProtoReader::ReadBytes() {
  const char* const length_at = at_;
  uint64_t length = 0;
  if (!ReadVarint(&length)) return false;
  const auto left = static_cast<uint64_t>(end_ - at_);
  if (length > left) {
    if (!ends_with_file()) return Fail(length_at, "a length goes past the end of its message", false);
    Fail(end_, kCutMessage, true);
    is_cut_ = true;
    length = left;
  }
  bytes_ = {at_, static_cast<size_t>(length)};
  at_ += length;
  return true;
}

bool ProtoReader::Next() {
  if (failed()) return false;
  if (at_ == end_) return lacks_end_ && Fail(end_, kCutMessage, true);
  field_at_ = at_;
  uint64_t tag = 0;
  if (!ReadVarint(&tag)) return false;
  if (tag >> 3 == 0 || tag > UINT32_MAX) return Fail(field_at_, "a field has no valid number", false);
  field_ = static_cast<uint32_t>(tag >> 3);
  const auto type = static_cast<protozero::pbf_wire_type>(tag & 7);
  is_bytes_ = type == protozero::pbf_wire_type::length_delimited;
  switch (type) {
    case protozero::pbf_wire_type::varint:
      return ReadVarint(&number_);
    case protozero::pbf_wire_type::fixed64:
      return ReadFixed(8);
    case protozero::pbf_wire_type::fixed32:
      return ReadFixed(4);
    case protozero::pbf_wire_type::length_delimited:
      return ReadBytes();
    default:
      return Fail(field_at_, "a field is of no known wire type", false);
  }
}

}  // namespace opscope
