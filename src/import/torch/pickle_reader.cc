// A pickle is a program for a stack machine. This machine implements the opcodes that build plain values and refuses,
// by a table of names, those that could import or call something. All containers are in one list, and a value refers to
// its container by number, so shared and cyclic values cost nothing and nothing recurses.
// SPDX-License-Identifier: Apache-2.0
#include "import/torch/pickle_reader.h"

#include <algorithm>
#include <utility>

namespace opscope {
namespace {

struct Refused {
  uint8_t opcode;
  const char* name;
};

// Opcodes that could run code, or refer to objects outside of the file.
constexpr Refused kRefused[] = {
    {'c', "GLOBAL"}, {0x93, "STACK_GLOBAL"}, {'R', "REDUCE"},     {'b', "BUILD"},        {'i', "INST"},
    {'o', "OBJ"},    {0x81, "NEWOBJ"},       {0x92, "NEWOBJ_EX"}, {0x82, "EXT1"},        {0x83, "EXT2"},
    {0x84, "EXT4"},  {'P', "PERSID"},        {'Q', "BINPERSID"},  {0x97, "NEXT_BUFFER"}, {0x98, "READONLY_BUFFER"}};

}  // namespace

bool PickleReader::Fail(End end, std::string complaint) {
  end_ = end;
  complaint_ = std::move(complaint);
  return false;
}

bool PickleReader::Take(size_t size, std::string_view* bytes) {
  if (file_.size() - at_ < size) {
    offset_ = file_.size();
    return Fail(End::kCut, "the file ends in the middle of a value");
  }
  *bytes = file_.substr(at_, size);
  at_ += size;
  return true;
}

bool PickleReader::TakeNumber(size_t size, uint64_t* number) {
  std::string_view bytes;
  if (!Take(size, &bytes)) return false;
  *number = 0;
  for (size_t i = 0; i < size; ++i)
    *number |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return true;
}

bool PickleReader::TakeSized(size_t size_of_length, const char* what, std::string_view* bytes) {
  uint64_t size = 0;
  if (!TakeNumber(size_of_length, &size)) return false;
  if (size <= file_.size()) return Take(static_cast<size_t>(size), bytes);
  offset_ = file_.size();
  return Fail(End::kCut, std::string(what) + " is longer than the file");
}

bool PickleReader::Push(PickleValue value) {
  bytes_ += sizeof value;
  value.offset = static_cast<uint32_t>(std::min<size_t>(opcode_at_, UINT32_MAX));
  stack_.push_back(value);
  return true;
}

bool PickleReader::PushText(Kind kind, size_t size_of_length) {
  std::string_view bytes;
  if (!TakeSized(size_of_length, "a text", &bytes)) return false;
  return Push({.kind = kind, .bits = bytes.size(), .data = bytes.data()});
}

// Two's complement, the lowest byte first, of any length.
bool PickleReader::PushLong(size_t size_of_length) {
  std::string_view bytes;
  if (!TakeSized(size_of_length, "a number", &bytes)) return false;
  const bool negative = !bytes.empty() && (bytes.back() & '\x80') != 0;
  uint64_t bits = negative ? UINT64_MAX : 0;
  for (size_t i = 0; i < std::min<size_t>(bytes.size(), 8); ++i)
    bits = (bits & ~(uint64_t{0xff} << (8 * i))) | uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  Kind kind = Kind::kInteger;
  if (bytes.size() > 8) {
    const bool only_sign =
        std::all_of(bytes.begin() + 8, bytes.end(), [&](char c) { return c == (negative ? '\xff' : 0); });
    const bool fits = only_sign && negative == ((bits >> 63) != 0);
    kind = fits ? Kind::kInteger : only_sign && !negative ? Kind::kUnsigned : Kind::kLarge;
  }
  return Push({.kind = kind, .bits = bits});
}

bool PickleReader::PushContainer(Kind kind, std::vector<PickleValue> items) {
  bytes_ += sizeof(Container) + items.size() * sizeof(PickleValue);
  containers_.push_back({std::move(items), false});
  return Push({.kind = kind, .bits = containers_.size() - 1});
}

bool PickleReader::PopMark(size_t* first) {
  if (marks_.empty()) return Fail(End::kDamaged, "a list ends that did not begin");
  *first = std::min(marks_.back(), stack_.size());
  marks_.pop_back();
  return true;
}

// Makes a new container of everything from `first` on.
bool PickleReader::PushSlice(Kind kind, size_t first) {
  if (stack_.size() < first) return Fail(End::kDamaged, "a value is missing");
  if (kind == Kind::kDict && (stack_.size() - first) % 2 != 0) return Fail(End::kDamaged, "a key has no value");
  std::vector<PickleValue> items(stack_.begin() + static_cast<ptrdiff_t>(first), stack_.end());
  stack_.resize(first);
  return PushContainer(kind, std::move(items));
}

// Moves everything from `first` on into the container before it.
bool PickleReader::Extend(Kind kind, size_t first) {
  if (first == 0 || stack_.size() < first || stack_[first - 1].kind != kind)
    return Fail(End::kDamaged, "APPEND or SETITEM on a value that is not a list or dict");
  if (kind == Kind::kDict && (stack_.size() - first) % 2 != 0) return Fail(End::kDamaged, "a key has no value");
  std::vector<PickleValue>& items = containers_[stack_[first - 1].bits].items;
  items.insert(items.end(), stack_.begin() + static_cast<ptrdiff_t>(first), stack_.end());
  bytes_ += (stack_.size() - first) * sizeof(PickleValue);
  stack_.resize(first);
  return true;
}

bool PickleReader::Remember(uint64_t index) {
  if (stack_.empty()) return Fail(End::kDamaged, "a value is missing");
  bytes_ += 64;  // approximate size of an entry
  memo_[index] = stack_.back();
  return true;
}

bool PickleReader::Recall(uint64_t index) {
  const auto found = memo_.find(index);
  if (found == memo_.end()) return Fail(End::kDamaged, "a value is referred to that was not remembered");
  return Push(found->second);
}

bool PickleReader::StepNumber(uint8_t opcode) {
  uint64_t bits = 0;
  switch (opcode) {
    case 'N':
      return Push({});
    case 0x88:
      return Push({.kind = Kind::kTrue});
    case 0x89:
      return Push({.kind = Kind::kFalse});
    case 'K':
      return TakeNumber(1, &bits) && Push({.kind = Kind::kInteger, .bits = bits});
    case 'M':
      return TakeNumber(2, &bits) && Push({.kind = Kind::kInteger, .bits = bits});
    case 'J':
      if (!TakeNumber(4, &bits)) return false;
      return Push({.kind = Kind::kInteger, .bits = static_cast<uint64_t>(int64_t{static_cast<int32_t>(bits)})});
    case 0x8a:
      return PushLong(1);
    case 0x8b:
      return PushLong(4);
    default:  // 'G', big-endian
      return TakeNumber(8, &bits) && Push({.kind = Kind::kFloat, .bits = __builtin_bswap64(bits)});
  }
}

bool PickleReader::StepText(uint8_t opcode) {
  switch (opcode) {
    case 0x8c:
      return PushText(Kind::kText, 1);
    case 'X':
      return PushText(Kind::kText, 4);
    case 0x8d:
      return PushText(Kind::kText, 8);
    case 'U':  // str of Python 2
      return PushText(Kind::kText, 1);
    case 'T':
      return PushText(Kind::kText, 4);
    case 'C':
      return PushText(Kind::kBytes, 1);
    case 'B':
      return PushText(Kind::kBytes, 4);
    default:  // BINBYTES8, BYTEARRAY8
      return PushText(Kind::kBytes, 8);
  }
}

bool PickleReader::StepContainer(uint8_t opcode) {
  size_t first = 0;
  switch (opcode) {
    case '(':
      bytes_ += sizeof(size_t);
      marks_.push_back(stack_.size());
      return true;
    case ']':
      return PushContainer(Kind::kList, {});
    case '}':
      return PushContainer(Kind::kDict, {});
    case ')':
      return PushContainer(Kind::kTuple, {});
    case 'l':
      return PopMark(&first) && PushSlice(Kind::kList, first);
    case 'd':
      return PopMark(&first) && PushSlice(Kind::kDict, first);
    case 't':
      return PopMark(&first) && PushSlice(Kind::kTuple, first);
    case 'e':
      return PopMark(&first) && Extend(Kind::kList, first);
    case 'u':
      return PopMark(&first) && Extend(Kind::kDict, first);
    case 'a':
      return Extend(Kind::kList, std::max<size_t>(stack_.size(), 1) - 1);
    case 's':
      return Extend(Kind::kDict, std::max<size_t>(stack_.size(), 2) - 2);
    default: {  // TUPLE1 to TUPLE3
      const size_t count = opcode - 0x84u;
      if (stack_.size() < count) return Fail(End::kDamaged, "a value is missing");
      return PushSlice(Kind::kTuple, stack_.size() - count);
    }
  }
}

bool PickleReader::StepMemo(uint8_t opcode) {
  uint64_t index = 0;
  if (opcode == 0x94) return Remember(memo_.size());
  if (!TakeNumber(opcode == 'q' || opcode == 'h' ? 1 : 4, &index)) return false;
  if (opcode == 'q' || opcode == 'r') return Remember(index);
  return Recall(index);
}

bool PickleReader::Step(uint8_t opcode) {
  constexpr std::string_view kNumbers = "NKMJG\x88\x89\x8a\x8b", kTexts = "XTUBC\x8c\x8d\x8e\x96";
  constexpr std::string_view kContainers = "(]})ldteuas\x85\x86\x87", kMemos = "qrhj\x94", kLines = "IFLVSpg";
  const char c = static_cast<char>(opcode);
  uint64_t ignored = 0;
  if (kNumbers.find(c) != std::string_view::npos) return StepNumber(opcode);
  if (kTexts.find(c) != std::string_view::npos) return StepText(opcode);
  if (kContainers.find(c) != std::string_view::npos) return StepContainer(opcode);
  if (kMemos.find(c) != std::string_view::npos) return StepMemo(opcode);
  if (kLines.find(c) != std::string_view::npos) return StepLine(opcode);
  if (opcode == 0x80) {
    if (!TakeNumber(1, &ignored)) return false;
    return ignored <= 5 || Fail(End::kDamaged, "a pickle of a protocol later than 5");
  }
  if (opcode == 0x95) return TakeNumber(8, &ignored);  // frames only group
  if (opcode == '1') {
    size_t first = 0;
    if (!PopMark(&first)) return false;
    stack_.resize(first);
    return true;
  }
  if (opcode == '.' || opcode == '0' || opcode == '2') {
    if (stack_.empty()) return Fail(End::kDamaged, "a value is missing");
    if (opcode == '2') return Push(PickleValue(stack_.back()));
    if (opcode == '.') root_ = stack_.back();
    stopped_ = opcode == '.';
    if (opcode == '0') stack_.pop_back();
    return true;
  }
  for (const Refused& refused : kRefused) {
    if (refused.opcode == opcode)
      return Fail(End::kRefused, std::string("opcode ") + refused.name + " could run code and is refused");
  }
  return Fail(End::kDamaged, "unknown opcode " + std::to_string(opcode));
}

// After a cut, moves the values waiting on the stack to where they would have gone.
void PickleReader::FoldOpen() {
  if (file_.starts_with('(')) FoldOneByOne();
  const auto close = [&](size_t first) {
    // A list of one element waits next to it, without a mark.
    for (size_t i = stack_.size(); i-- > first + 1;) {
      if (stack_[i - 1].kind != Kind::kList || !stack_[i].is_container() || i + 1 != stack_.size()) continue;
      Container& list = containers_[stack_[i - 1].bits];
      if (!list.items.empty()) continue;
      list.items.push_back(stack_[i]);
      list.open = true;
      stack_.pop_back();
    }
    if (first == 0 || first > stack_.size()) return;
    const PickleValue& owner = stack_[first - 1];
    if (owner.kind != Kind::kList && owner.kind != Kind::kDict) return stack_.resize(first);
    if (owner.kind == Kind::kDict && (stack_.size() - first) % 2 != 0) stack_.pop_back();
    Container& container = containers_[owner.bits];
    container.open = true;
    container.items.insert(container.items.end(), stack_.begin() + static_cast<ptrdiff_t>(first), stack_.end());
    stack_.resize(first);
  };
  while (!marks_.empty()) {
    const size_t first = std::min(marks_.back(), stack_.size());
    marks_.pop_back();
    close(first);
  }
  close(1);
  if (!stack_.empty()) root_ = stack_.front();
}

PickleReader::End PickleReader::Read(uint64_t max_bytes) {
  max_bytes_ = max_bytes;
  while (!stopped_) {
    offset_ = opcode_at_ = at_;
    if (at_ == file_.size()) {
      Fail(End::kCut, "the pickle does not end");
      break;
    }
    if (max_bytes_ != 0 && bytes_ > max_bytes_) {
      Fail(End::kOverLimit, {});
      break;
    }
    if (!Step(static_cast<uint8_t>(file_[at_++]))) break;
  }
  if (stopped_) {
    offset_ = at_;
  } else {
    FoldOpen();
  }
  return end_;
}

}  // namespace opscope
