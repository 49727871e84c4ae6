// Reads the fields of a protobuf message, one after the other, from a file that may be truncated, damaged or hostile.
// protozero decodes the numbers. In addition this reader compares lengths as 64-bit numbers with the rest of the
// message (protozero's own reader keeps 32 bits of them), returns a value only as its wire type, never throws, and
// gives every error an offset in the file.
//
// A field whose length exceeds the file is cut: a message that holds events may still be read for its complete events;
// any other cut field is not a value. The reader of a cut message always fails at its end, so an event without its last
// fields is never taken for complete. A field whose length exceeds its message makes only that message damaged; the
// reader of the message around it continues behind it.
//
// Thread rule: one thread at a time; views are valid as long as the file's bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace opscope {

class ProtoReader {
 public:
  // Reads the complete file as one message.
  explicit ProtoReader(std::string_view file) : ProtoReader(file, file) {}
  // REQUIRES: message is a part of file
  ProtoReader(std::string_view message, std::string_view file, bool lacks_end = false)
      : at_(message.data()), end_(message.data() + message.size()), file_(file), lacks_end_(lacks_end) {}

  // Reads the next field, which may be cut: is_cut(). False at the end of the message and at damage.
  bool Next();
  // The same, but false at a cut field, too.
  bool NextWhole() { return Next() && !is_cut_; }

  uint32_t field() const { return field_; }
  bool is_number() const { return !is_bytes_; }
  bool is_bytes() const { return is_bytes_; }
  bool is_cut() const { return is_cut_; }

  // REQUIRES: is_number(). A floating-point number is returned as its bits.
  uint64_t number() const { return number_; }
  int64_t signed_number() const { return static_cast<int64_t>(number_); }
  double float64() const { return std::bit_cast<double>(number_); }
  float float32() const { return std::bit_cast<float>(static_cast<uint32_t>(number_)); }
  // REQUIRES: is_bytes()
  std::string_view bytes() const { return bytes_; }
  ProtoReader message() const { return {bytes_, file_, is_cut_}; }
  size_t offset() const { return static_cast<size_t>(at_ - file_.data()); }  // of the next byte to read

  // Valid after Next() returned false.
  bool failed() const { return complaint_ != nullptr; }
  bool truncated() const { return failed() && truncated_; }  // failed because the file ends
  const char* complaint() const { return complaint_; }
  size_t failed_offset() const { return failed_offset_; }

 private:
  bool Fail(const char* at, const char* complaint, bool truncated);
  bool ReadVarint(uint64_t* value);
  bool ReadFixed(size_t size);
  bool ReadBytes();
  bool ends_with_file() const { return end_ == file_.data() + file_.size(); }

  const char* at_;
  const char* end_;
  std::string_view file_;
  bool lacks_end_ = false;
  const char* field_at_ = nullptr;
  uint64_t number_ = 0;
  std::string_view bytes_;
  uint32_t field_ = 0;
  bool is_bytes_ = false;
  bool is_cut_ = false;
  bool truncated_ = false;
  const char* complaint_ = nullptr;
  size_t failed_offset_ = 0;
};

}  // namespace opscope
