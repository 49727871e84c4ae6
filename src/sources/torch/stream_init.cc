// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/stream_init.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <locale>
#include <new>

#include "opscope/recorder_abi.h"

namespace opscope::drop_in {

#if defined(__GLIBCXX__)
namespace {

// What init() sets is protected: a derived class may name it.
class ClassicStream : public std::ios {
 public:
  struct Facets {
    decltype(ClassicStream::_M_ctype) ctype;
    decltype(ClassicStream::_M_num_put) put;
    decltype(ClassicStream::_M_num_get) get;
  };

  static Facets FacetsOfClassic() {
    ClassicStream stream;
    stream.init(nullptr);
    stream.imbue(std::locale::classic());
    return {stream._M_ctype, stream._M_num_put, stream._M_num_get};
  }

  static void InitByLibrary(std::ios* self, std::streambuf* buffer) { (self->*(&ClassicStream::init))(buffer); }

  static void Init(std::ios* self, std::streambuf* buffer) {
    (self->*(&ClassicStream::_M_init))();
    if (OPSCOPE_UNLIKELY(self->*(&ClassicStream::_M_ios_locale) != std::locale::classic()))
      return InitByLibrary(self, buffer);
    self->*(&ClassicStream::_M_ctype) = classic.ctype;
    self->*(&ClassicStream::_M_num_put) = classic.put;
    self->*(&ClassicStream::_M_num_get) = classic.get;
    self->*(&ClassicStream::_M_fill) = '\0';  // made when it is first asked for
    self->*(&ClassicStream::_M_fill_init) = false;
    self->*(&ClassicStream::_M_tie) = nullptr;
    self->*(&ClassicStream::_M_exception) = goodbit;
    self->*(&ClassicStream::_M_streambuf) = buffer;
    self->*(&ClassicStream::_M_streambuf_state) = buffer != nullptr ? goodbit : badbit;
  }

  static Facets classic;
};
constinit ClassicStream::Facets ClassicStream::classic{};

// A stream in memory of zeros. Its words, pointers into itself counted from its begin.
struct WordsOfStream {
  static constexpr size_t kWords = sizeof(ClassicStream) / sizeof(uint64_t);
  uint64_t words[kWords];

  WordsOfStream(InitStream init, std::streambuf* buffer) {
    alignas(ClassicStream) unsigned char place[sizeof(ClassicStream)] = {};
    __asm__ volatile("" : : "r"(place) : "memory");  // else the zeros are left out, as what no constructor reads
    auto* stream = ::new (static_cast<void*>(place)) ClassicStream;
    init(stream, buffer);
    __asm__ volatile("" : : "r"(place) : "memory");
    std::memcpy(words, place, sizeof(words));
    for (uint64_t& word : words) {
      const auto begin = reinterpret_cast<uintptr_t>(place);
      if (word >= begin && word < begin + sizeof(place)) word -= begin;
    }
    stream->~ClassicStream();
  }
};

bool LookAlike() {
  if (std::locale() != std::locale::classic()) return false;
  struct Buffer : std::streambuf {
  } buffer;
  for (std::streambuf* of : {static_cast<std::streambuf*>(&buffer), static_cast<std::streambuf*>(nullptr)}) {
    const WordsOfStream theirs(&ClassicStream::InitByLibrary, of), ours(&ClassicStream::Init, of);
    if (std::memcmp(theirs.words, ours.words, sizeof(ours.words)) != 0) return false;
  }
  return true;
}

}  // namespace

InitStream FindInitStream() {
  static const bool fits = [] {
    ClassicStream::classic = ClassicStream::FacetsOfClassic();
    return LookAlike();
  }();
  return fits ? &ClassicStream::Init : nullptr;
}
#else
InitStream FindInitStream() {
  return nullptr;
}
#endif

}  // namespace opscope::drop_in
