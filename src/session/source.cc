// Loads a source by dlopen and verifies its ABI number before anything else of its table is read. The
// library is never closed: callbacks of the framework may hold addresses in it.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/source.h"

#include <dlfcn.h>

#include <algorithm>

#include "base/catch_bad_alloc.h"

namespace opscope {
namespace {

Result<SourceUse> FindFlags(const Source& source, std::span<const std::string_view> flags) {
  const std::span<const SourceFlag> known(source.flags, source.flag_count);
  SourceUse use{.source = &source};
  for (const std::string_view name : flags) {
    const auto found =
        std::find_if(known.begin(), known.end(), [name](const SourceFlag& flag) { return flag.name == name; });
    if (found == known.end()) {
      std::string sentence =
          "the source " + std::string(source.name) + " has no flag \"" + std::string(name) + "\"; it has";
      for (const SourceFlag& flag : known)
        sentence.append(flag.bit == known.front().bit ? ": " : ", ").append(flag.name);
      if (known.empty()) sentence.append(" none");
      return Error{ErrorCode::kInvalidArgument, std::move(sentence)};
    }
    use.flags |= found->bit;
  }
  return use;
}

Result<const Source*> Load(const std::string& library) {
  void* loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) return Error{ErrorCode::kUnsupported, dlerror()};
  void* symbol = dlsym(loaded, "opscope_source");
  if (symbol == nullptr) {
    return Error{ErrorCode::kUnsupported, library + ": is not a source: it has no opscope_source"};
  }
  const Source* source = reinterpret_cast<decltype(&opscope_source)>(symbol)();
  if (source == nullptr || source->abi != kSourceAbi) {
    return Error{ErrorCode::kUnsupported, library + ": belongs to another version of opscope"};
  }
  return source;
}

}  // namespace

Result<SourceUse> UseSource(const Source& source, std::span<const std::string_view> flags) {
  return CatchBadAlloc("the source", [&] { return FindFlags(source, flags); });
}

Result<const Source*> LoadSource(const std::string& library) {
  return CatchBadAlloc(library, [&] { return Load(library); });
}

}  // namespace opscope
