// Reproduces Python's textwrap.wrap(). The text is split into chunks that must not be broken: blanks, em-dashes, words,
// and parts of hyphenated words, by the rules of textwrap's regular expression written as a scanner. Lines are then
// filled greedily with chunks; a chunk longer than a line is cut, after a hyphen if possible.
// SPDX-License-Identifier: Apache-2.0
#include "report/megengine/text_wrap.h"

#include <algorithm>

#include "base/text.h"
#include "report/code_points.h"

namespace opscope {
namespace {

// The text by code points, which are Python's characters; the bytes of each stay together.
using Characters = std::vector<std::string_view>;

constexpr std::string_view kSpace = " ";

bool IsSpace(std::string_view c) {
  return c == kSpace;  // CharactersOf has replaced all other white space
}
bool IsLetterOf(std::string_view c, std::string_view others) {
  const char first = c.front();
  return c.size() > 1 || (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') ||
         others.find(first) != std::string_view::npos;
}
bool IsLetter(std::string_view c) {
  return IsLetterOf(c, "_");
}
bool IsWord(std::string_view c) {
  return IsLetterOf(c, "_0123456789");
}
bool IsWordOrPunctuation(std::string_view c) {
  return IsLetterOf(c, "_0123456789!\"'&.,?");
}

// Replaces white space by blanks, a tab by as many as reach the next multiple of eight columns.
Characters CharactersOf(std::string_view text) {
  Characters characters;
  size_t column = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t size = std::max<size_t>(1, Utf8SequenceLength(text.substr(at)));
    const char c = text[at];
    if (c == '\t') {
      const size_t blanks = 8 - column % 8;
      characters.insert(characters.end(), blanks, kSpace);
      column += blanks;
    } else {
      characters.push_back(c == '\n' || c == '\r' || c == '\v' || c == '\f' ? kSpace : text.substr(at, size));
      column = c == '\n' || c == '\r' ? 0 : column + 1;
    }
    at += size;
  }
  return characters;
}

// Finds the ends of unbreakable chunks: blanks, dashes between words, parts of words.
class Chunks {
 public:
  explicit Chunks(const Characters& text) : text_(text) {}

  // The end of the chunk at `begin`. REQUIRES: begin is before the end of the text.
  size_t EndFrom(size_t begin) const {
    if (IsSpace(text_[begin])) return EndOfRun(begin, kSpace);
    if (begin > 0 && IsWordOrPunctuation(text_[begin - 1]) && IsDashAt(begin)) return EndOfRun(begin, "-");
    size_t end = begin + 1;
    while (end < text_.size() && !IsSpace(text_[end])) {
      if (IsHyphenInWord(end)) return end + 1;
      if (IsWordOrPunctuation(text_[end - 1]) && IsDashAt(end)) return end;
      ++end;
    }
    return end;
  }

 private:
  size_t EndOfRun(size_t at, std::string_view of) const {
    while (at < text_.size() && text_[at] == of)
      ++at;
    return at;
  }

  // True for two or more hyphens followed by a word.
  bool IsDashAt(size_t at) const {
    const size_t end = EndOfRun(at, "-");
    return end - at >= 2 && end < text_.size() && IsWord(text_[end]);
  }

  // True for a hyphen after which a word may be broken: two letters before it (a hyphen may be between them), and two
  // letters after it (a hyphen may be between them).
  bool IsHyphenInWord(size_t at) const {
    if (text_[at] != "-" || at < 2) return false;
    const bool follows =
        (IsLetter(text_[at - 2]) && IsLetter(text_[at - 1])) ||
        (at >= 3 && IsLetter(text_[at - 3]) && text_[at - 2] == "-" && IsWordOrPunctuation(text_[at - 1]));
    if (!follows || at + 1 >= text_.size() || !IsLetter(text_[at + 1])) return false;
    const size_t next = at + 2 < text_.size() && text_[at + 2] == "-" ? at + 3 : at + 2;
    return next < text_.size() && IsLetter(text_[next]);
  }

  const Characters& text_;
};

// How much of a chunk that is too long goes on a line with `room`: up to its last hyphen within the room, else all of
// it.
size_t CutFrom(const Characters& text, size_t begin, size_t room) {
  const auto is_hyphen = [](std::string_view c) { return c == "-"; };
  for (size_t hyphen = room; hyphen-- > 1;) {
    if (!is_hyphen(text[begin + hyphen])) continue;
    const auto from = text.begin() + static_cast<ptrdiff_t>(begin);
    if (!std::all_of(from, from + static_cast<ptrdiff_t>(hyphen), is_hyphen)) return hyphen + 1;
    break;
  }
  return room;
}

std::string Join(const Characters& text, size_t begin, size_t end) {
  std::string joined;
  for (size_t i = begin; i < end; ++i)
    joined += text[i];
  return joined;
}

}  // namespace

std::vector<std::string> WrapText(std::string_view text, size_t width) {
  const Characters characters = CharactersOf(text);
  std::vector<size_t> ends;  // ends of chunks
  const Chunks chunks(characters);
  for (size_t at = 0; at < characters.size(); at = ends.back())
    ends.push_back(chunks.EndFrom(at));
  std::vector<std::string> lines;
  size_t begin = 0;
  for (size_t next = 0; next < ends.size();) {
    if (IsSpace(characters[begin]) && !lines.empty()) begin = ends[next++];  // drop blanks at the beginning of a line
    const size_t first = begin;
    size_t last_chunk = begin;
    while (next < ends.size() && ends[next] - first <= width) {
      last_chunk = begin;
      begin = ends[next++];
    }
    if (next < ends.size() && ends[next] - begin > width) {
      last_chunk = begin;
      const size_t room = width - (begin - first);
      begin += room == 0 ? 0 : CutFrom(characters, begin, room);
      if (room == 0) last_chunk = begin;
    }
    const bool ends_blank = last_chunk < begin && IsSpace(characters[last_chunk]);
    const size_t end = ends_blank ? last_chunk : begin;
    if (end > first) lines.push_back(Join(characters, first, end));
  }
  return lines;
}

}  // namespace opscope
