// SPDX-License-Identifier: Apache-2.0
#include "import/chrome_json_scan.h"

#include <bit>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace opscope {
namespace {

struct StringEnd {
  const char* at;  // the closing quote, or the end of the input
  bool plain;
};

// The scan of strings is where most bytes of a trace pass: 16 at a time.
StringEnd FindStringEnd(const char* at, const char* end) {
  bool plain = true;
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i space = _mm_set1_epi8(' ');
  while (end - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const auto quotes = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, quote)));
    const auto slashes = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, backslash)));
    // Signed comparison: control characters and bytes above 0x7f are both less than a blank.
    const auto odd = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmplt_epi8(bytes, space)));
    const uint32_t stop = quotes | slashes;
    if (stop == 0) {
      plain = plain && odd == 0;
      at += 16;
      continue;
    }
    const int first = std::countr_zero(stop);
    plain = plain && (odd & ((1u << first) - 1)) == 0;
    at += first;
    if (*at == '"') return {at, plain};
    plain = false;
    if (end - at < 2) return {end, false};
    at += 2;
  }
#endif
  while (at < end && *at != '"') {
    if (*at == '\\') {
      plain = false;
      ++at;
      if (at == end) break;
    } else if (static_cast<unsigned char>(*at) < 0x20 || static_cast<unsigned char>(*at) > 0x7f) {
      plain = false;
    }
    ++at;
  }
  return {at, plain};
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

void JsonScanner::SkipBlankRun() {
  ++at_;
#if defined(__SSE2__)
  // Indentation of pretty-printed files.
  const __m128i space = _mm_set1_epi8(' ');
  while (end_ - at_ >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at_));
    const auto blanks = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, space)));
    if (blanks != 0xffff) {
      at_ += std::countr_one(blanks);
      return;
    }
    at_ += 16;
  }
#endif
}

bool JsonScanner::Fail(const char* complaint) {
  truncated_ = at_ == end_;
  failed_ = offset();
  complaint_ = complaint;
  return false;
}

bool JsonScanner::Expect(char wanted, const char* complaint) {
  if (Peek() != wanted || at_ == end_) return Fail(complaint);
  ++at_;
  return true;
}

bool JsonScanner::ReadString(JsonValue* out) {
  const char* start = at_ + 1;
  const StringEnd found = FindStringEnd(start, end_);
  if (found.at == end_) {
    at_ = end_;
    return Fail("the string does not end");
  }
  out->kind = JsonValue::Kind::kString;
  out->plain = found.plain;
  out->text = {start, static_cast<size_t>(found.at - start)};
  at_ = found.at + 1;
  return true;
}

bool JsonScanner::ReadNumber(JsonValue* out) {
  const char* start = at_;
  if (*at_ == '-') ++at_;
  if (at_ != end_ && (*at_ == 'I' || *at_ == 'i' || *at_ == 'n' || *at_ == 'N')) {
    if (!ReadWord(out)) return false;
    out->text = {start, static_cast<size_t>(at_ - start)};
    return out->kind == JsonValue::Kind::kNotFinite || Fail("no JSON value");
  }
  const char* digits = at_;
  while (at_ != end_ && IsDigit(*at_))
    ++at_;
  if (at_ == digits || (*digits == '0' && at_ - digits > 1)) return Fail("no JSON number");
  if (at_ != end_ && *at_ == '.') {
    const char* fraction = ++at_;
    while (at_ != end_ && IsDigit(*at_))
      ++at_;
    if (at_ == fraction) return Fail("no digit after the decimal point");
  }
  if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
    ++at_;
    if (at_ != end_ && (*at_ == '+' || *at_ == '-')) ++at_;
    const char* exponent = at_;
    while (at_ != end_ && IsDigit(*at_))
      ++at_;
    if (at_ == exponent) return Fail("no digit in the exponent");
  }
  out->kind = JsonValue::Kind::kNumber;
  out->plain = true;
  out->text = {start, static_cast<size_t>(at_ - start)};
  return true;
}

bool JsonScanner::ReadWord(JsonValue* out) {
  struct Word {
    std::string_view text;
    JsonValue::Kind kind;
  };
  static constexpr Word kWords[] = {
      {"true", JsonValue::Kind::kTrue},          {"false", JsonValue::Kind::kFalse},
      {"null", JsonValue::Kind::kNull},          {"NaN", JsonValue::Kind::kNotFinite},
      {"Infinity", JsonValue::Kind::kNotFinite}, {"nan", JsonValue::Kind::kNotFinite},
      {"inf", JsonValue::Kind::kNotFinite},
  };
  const std::string_view rest{at_, static_cast<size_t>(end_ - at_)};
  for (const Word& word : kWords) {
    if (rest.starts_with(word.text)) {
      out->kind = word.kind;
      out->plain = word.kind != JsonValue::Kind::kNotFinite;
      out->text = rest.substr(0, word.text.size());
      at_ += word.text.size();
      return true;
    }
    if (word.text.starts_with(rest)) at_ = end_;  // cut inside the word
  }
  return Fail("no JSON value");
}

bool JsonScanner::ReadScalar(JsonValue* out) {
  switch (*at_) {
    case '"':
      return ReadString(out);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
      return ReadNumber(out);
    default:
      return ReadWord(out);
  }
}

bool JsonScanner::ReadValue(JsonValue* out) {
  const char next = Peek();
  if (at_ == end_) return Fail("a value is missing");
  if (next == '{' || next == '[') return ReadNested(out);
  return ReadScalar(out);
}

// Walks an object or array without recursion: a bit per level says which of the two is open.
bool JsonScanner::ReadNested(JsonValue* out) {
  const char* start = at_;
  uint64_t is_object[kMaxDepth / 64] = {};
  int depth = 0;
  bool plain = true;
  JsonValue item;
  while (true) {
    // Here a value is due.
    const char next = Peek();
    if (at_ == end_) return Fail("a value is missing");
    bool opened = false;
    if (next == '{' || next == '[') {
      if (depth == kMaxDepth) return Fail("nested too deeply");
      const uint64_t bit = uint64_t{1} << (depth % 64);
      uint64_t& word = is_object[depth / 64];
      word = next == '{' ? word | bit : word & ~bit;
      ++depth;
      ++at_;
      opened = true;
    } else {
      if (!ReadScalar(&item)) return false;
      plain = plain && item.plain;
    }
    // Close what ends here, then stand before the next value.
    while (true) {
      const bool object = (is_object[(depth - 1) / 64] >> ((depth - 1) % 64)) & 1;
      char after = Peek();
      if (after == (object ? '}' : ']')) {
        ++at_;
        opened = false;
        if (--depth == 0) {
          const bool outer_object = is_object[0] & 1;
          out->kind = outer_object ? JsonValue::Kind::kObject : JsonValue::Kind::kArray;
          out->plain = plain;
          out->text = {start, static_cast<size_t>(at_ - start)};
          return true;
        }
        continue;
      }
      if (!opened) {
        if (after != ',') return Fail(object ? "',' or '}' is missing" : "',' or ']' is missing");
        ++at_;
        after = Peek();
      }
      if (object) {
        if (after != '"') return Fail("the name of a member is missing");
        if (!ReadString(&item)) return false;
        plain = plain && item.plain;
        if (!Expect(':', "':' is missing")) return false;
      }
      break;
    }
  }
}

bool JsonScanner::ReadMembers(std::vector<JsonMember>* out) {
  out->clear();
  ++at_;
  if (Peek() == '}') {
    ++at_;
    return true;
  }
  JsonMember member;
  while (true) {
    if (Peek() != '"') return Fail("the name of a member is missing");
    if (!ReadString(&member.key) || !Expect(':', "':' is missing") || !ReadValue(&member.value)) return false;
    JsonMember* earlier = nullptr;
    for (JsonMember& other : *out) {
      if (other.key.text == member.key.text) {
        earlier = &other;
        break;
      }
    }
    if (earlier != nullptr) {
      *earlier = member;
    } else {
      if (out->size() == 4096) return Fail("too many members in one object");
      out->push_back(member);
    }
    const char next = Peek();
    if (next == '}') {
      ++at_;
      return true;
    }
    if (next != ',') return Fail("',' or '}' is missing");
    ++at_;
  }
}

}  // namespace opscope
