// Reads a pickle of plain values without Python: None, bool, int, float, str, bytes, tuple, list and dict, of protocols
// 0 to 5. An opcode that could call, import or look up anything is refused by name and offset; nothing in the file is
// ever executed. Values before a cut or damage are returned; lists and dicts that were not closed are marked.
//
// Values are stored flat and refer to containers by number, so nesting needs no recursion. Pickles share values and may
// even contain themselves, so the caller must limit its walk. Memory is bounded by the size of the file, about 60 bytes
// for each byte.
//
// Thread rule: one thread at a time; texts are valid as long as the reader and the file's bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/arena.h"

namespace opscope {

struct PickleValue {
  enum class Kind : uint8_t {
    kNone,
    kFalse,
    kTrue,
    kInteger,
    kUnsigned,
    kLarge,
    kFloat,
    kText,
    kBytes,
    kTuple,
    kList,
    kDict
  };
  Kind kind = Kind::kNone;
  uint32_t offset = 0;         // of its opcode; UINT32_MAX: at that offset or a larger one
  uint64_t bits = 0;           // a number's value, a container's number, or a text's length
  const char* data = nullptr;  // of a text

  bool is_container() const { return kind >= Kind::kTuple; }
  bool is_list() const { return kind == Kind::kList || kind == Kind::kTuple; }
  std::string_view text() const { return {data, static_cast<size_t>(bits)}; }
};

class PickleReader {
 public:
  explicit PickleReader(std::string_view file) : file_(file) {}

  enum class End : uint8_t { kWhole, kCut, kDamaged, kRefused, kOverLimit };
  // max_bytes: of all values; 0: no limit.
  End Read(uint64_t max_bytes);
  uint64_t memory_bytes() const { return bytes_; }
  const std::string& complaint() const { return complaint_; }
  size_t offset() const { return offset_; }  // of the end, or of the error

  const PickleValue& root() const { return root_; }
  // Elements of a list or tuple; alternating keys and values of a dict. REQUIRES: is_container()
  const std::vector<PickleValue>& items(const PickleValue& value) const { return containers_[value.bits].items; }
  bool is_closed(const PickleValue& value) const { return !containers_[value.bits].open; }

 private:
  struct Container {
    std::vector<PickleValue> items;
    bool open = false;
  };
  using Kind = PickleValue::Kind;

  bool Step(uint8_t opcode);
  bool StepNumber(uint8_t opcode);
  bool StepText(uint8_t opcode);
  bool StepContainer(uint8_t opcode);
  bool StepMemo(uint8_t opcode);
  bool StepLine(uint8_t opcode);
  bool Fail(End end, std::string complaint);
  bool Take(size_t size, std::string_view* bytes);
  bool TakeNumber(size_t size, uint64_t* number);
  // Reads a length of `size_of_length` bytes, then so many bytes. what: named in the error if the length is too large.
  bool TakeSized(size_t size_of_length, const char* what, std::string_view* bytes);
  bool TakeLine(std::string_view* line);
  bool PushText(Kind kind, size_t size_of_length);
  bool PushLong(size_t size_of_length);
  bool PushDecimal(std::string_view digits);
  bool PushDecoded(std::string_view escaped, bool is_unicode);
  bool Push(PickleValue value);
  bool PushContainer(Kind kind, std::vector<PickleValue> items);
  bool PopMark(size_t* first);
  bool PushSlice(Kind kind, size_t first);
  bool Extend(Kind kind, size_t first);
  bool Remember(uint64_t index);
  bool Recall(uint64_t index);
  void FoldOpen();
  void FoldOneByOne();

  std::string_view file_;
  size_t at_ = 0, opcode_at_ = 0, offset_ = 0;
  uint64_t bytes_ = 0, max_bytes_ = 0;
  End end_ = End::kWhole;
  std::string complaint_;
  bool stopped_ = false;
  std::vector<PickleValue> stack_;
  std::vector<size_t> marks_;  // heights of the stack
  std::vector<Container> containers_;
  std::unordered_map<uint64_t, PickleValue> memo_;
  Arena decoded_;  // texts that had to be decoded
  PickleValue root_;
};

}  // namespace opscope
