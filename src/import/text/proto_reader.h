// The fields of one protobuf message, one after the other, out of a file that may be cut, damaged or hostile.
// protozero decodes the numbers; what it leaves to its caller is done here: lengths are compared as 64-bit numbers with
// what is left of the message (protozero's own reader keeps 32 bits of them), values are looked at only as what their
// wire type says, nothing throws, and every complaint has its place in the file.
//
// A field whose length goes past the end of the file is cut: a message that holds events may still be entered and gives
// its whole ones, anything else is not a value. The reader of such a message fails at its end, wherever the cut lies,
// so an event that lacks its last fields never looks whole. One whose length goes past its message is damage of that
// message alone; the reader of the message around it goes on behind it.
//
// Thread rule: one thread at a time; views live as long as the file's bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace opscope {

class ProtoReader {
 public:
  // All of a file.
  explicit ProtoReader(std::string_view file) : ProtoReader(file, file) {}
  // REQUIRES: message lies in file
  ProtoReader(std::string_view message, std::string_view file, bool lacks_end = false)
      : at_(message.data()), end_(message.data() + message.size()), file_(file), lacks_end_(lacks_end) {}

  // The next field, which may be bytes that are cut: is_cut(). False at the end of the message and at damage.
  bool Next();
  // Likewise, and false too where a field is cut.
  bool NextWhole() { return Next() && !is_cut_; }

  uint32_t field() const { return field_; }
  bool is_number() const { return !is_bytes_; }
  bool is_bytes() const { return is_bytes_; }
  bool is_cut() const { return is_cut_; }

  // REQUIRES: is_number(). Numbers of the wire, the bits of floating point ones.
  uint64_t number() const { return number_; }
  int64_t signed_number() const { return static_cast<int64_t>(number_); }
  double float64() const { return std::bit_cast<double>(number_); }
  float float32() const { return std::bit_cast<float>(static_cast<uint32_t>(number_)); }
  // REQUIRES: is_bytes()
  std::string_view bytes() const { return bytes_; }
  ProtoReader message() const { return {bytes_, file_, is_cut_}; }
  size_t offset() const { return static_cast<size_t>(at_ - file_.data()); }  // of the byte that is read next

  // After Next() returned false.
  bool failed() const { return complaint_ != nullptr; }
  bool truncated() const { return failed() && truncated_; }  // failed, because the file ends
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
