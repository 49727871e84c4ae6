// The search order is in cupti_library.h. A libcupti that the process has loaded already comes first, so that all users
// of CUPTI in the process share one copy.
// SPDX-License-Identifier: Apache-2.0
#include "sources/cuda/cupti_library.h"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "sources/cuda/cupti_errors.h"

namespace opscope::cuda {
namespace {

constexpr std::string_view kFileName = "libcupti.so";

bool IsCupti(std::string_view path) {
  return path.substr(path.rfind('/') + 1).starts_with(kFileName);
}

// The path of the libcupti in the process, or "".
std::string MappedCupti() {
  std::string path;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* found) {
        if (info->dlpi_name == nullptr || !IsCupti(info->dlpi_name)) return 0;
        *static_cast<std::string*>(found) = info->dlpi_name;
        return 1;
      },
      &path);
  return path;
}

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  DIR* directory = opendir(folder.c_str());
  if (directory == nullptr) return names;
  while (const dirent* entry = readdir(directory)) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  closedir(directory);
  return names;
}

// The folders site-packages/nvidia/*/lib of each site-packages from which the process has loaded a library, such as
// torch's.
std::vector<std::string> FoldersOfPip() {
  std::vector<std::string> sites;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* found) {
        const std::string_view name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        const size_t at = name.find("/site-packages/");
        if (at != std::string_view::npos) {
          auto* known = static_cast<std::vector<std::string>*>(found);
          const std::string site(name.substr(0, at + std::strlen("/site-packages")));
          if (known->empty() || known->back() != site) known->push_back(site);
        }
        return 0;
      },
      &sites);
  std::vector<std::string> folders;
  for (const std::string& site : sites) {
    const std::string nvidia = site + "/nvidia/";
    for (const std::string& package : NamesIn(nvidia))
      folders.push_back((nvidia + package).append("/lib"));
  }
  return folders;
}

Mutex suggested_mutex;
std::vector<std::string>& SuggestedFiles() OPSCOPE_REQUIRES(suggested_mutex) {
  static std::vector<std::string>& files = *new std::vector<std::string>;
  return files;
}

void* OpenFound(std::string* path) {
  if (*path = MappedCupti(); !path->empty()) {
    if (void* handle = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  }
  {
    const MutexLock lock(suggested_mutex);
    for (const std::string& file : SuggestedFiles()) {
      if (void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return *path = file, handle;
    }
  }
  for (const char* name : {"libcupti.so.13", "libcupti.so.12"}) {
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return *path = name, handle;
  }
  std::vector<std::string> folders = FoldersOfPip();
  folders.insert(folders.end(), {"/usr/local/cuda/extras/CUPTI/lib64", "/usr/local/cuda/lib64"});
  for (const std::string& folder : folders) {
    const std::string prefix = folder + "/";
    for (const std::string& name : NamesIn(folder)) {
      if (!IsCupti(name)) continue;
      *path = prefix + name;
      if (void* handle = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    }
  }
  path->clear();
  return nullptr;
}

template <typename Function>
void Resolve(void* handle, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(handle, name));
}

// The name of the first needed function that the library lacks, or "".
std::string ResolveAll(void* handle, CuptiFunctions* call) {
  std::string missing;
#define OPSCOPE_RESOLVE(name) Resolve(handle, "cupti" #name, &call->name);
#define OPSCOPE_RESOLVE_NEEDED(name) \
  OPSCOPE_RESOLVE(name)              \
  if (call->name == nullptr && missing.empty()) missing = "cupti" #name;
  OPSCOPE_CUPTI_NEEDED(OPSCOPE_RESOLVE_NEEDED)
  OPSCOPE_CUPTI_USED(OPSCOPE_RESOLVE)
  OPSCOPE_CUPTI_ON_REQUEST(OPSCOPE_RESOLVE)
#undef OPSCOPE_RESOLVE_NEEDED
#undef OPSCOPE_RESOLVE
  return missing;
}

// The path from which the library was loaded; `otherwise` if it is unknown.
std::string PathOf(const CuptiFunctions& call, const std::string& otherwise) {
  Dl_info info{};
  const bool is_known = call.GetVersion != nullptr && dladdr(reinterpret_cast<void*>(call.GetVersion), &info) != 0;
  return is_known && info.dli_fname != nullptr ? info.dli_fname : otherwise;
}

}  // namespace

std::string CuptiLibrary::NameOf(cupti::Result code) const {
  const char* name = nullptr;
  call.GetResultString(code, &name);
  return NameOfCode(code, name);
}

std::string CuptiLibrary::DescribeFailure(cupti::Result code, const char* function) const {
  const std::string name = NameOf(code);
  return WhyNot(ReasonOf(code, name), function, name);
}

CuptiLibrary LoadCupti(const std::string& file) {
  CuptiLibrary library;
  library.path = file;
  void* handle = file.empty() ? OpenFound(&library.path) : dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    library.why_not = "CUDA is not recorded: CUPTI not found";
    if (!file.empty()) library.why_not.append(" (").append(file).append(" does not load)");
    return library;
  }
  const std::string missing = ResolveAll(handle, &library.call);
  library.path = PathOf(library.call, library.path);
  if (!missing.empty()) {
    library.why_not = "CUDA is not recorded: CUPTI is too old (" + library.path + " has no " + missing + ")";
    return library;
  }
  const cupti::Result answer = library.call.GetVersion(&library.version);
  if (answer != cupti::Result::kSuccess) {
    library.why_not = library.DescribeFailure(answer, "cuptiGetVersion");
  } else if (library.version < cupti::kOldestApi) {
    library.why_not = "CUDA is not recorded: CUPTI is too old (its API is " + std::to_string(library.version) +
                      ", needed is " + std::to_string(cupti::kOldestApi) + ")";
  }
  return library;
}

void SuggestCupti(const std::string& file) {
  const MutexLock lock(suggested_mutex);
  SuggestedFiles().push_back(file);
}

const CuptiLibrary& LoadedCupti() {
  static const CuptiLibrary& library = [&]() -> const CuptiLibrary& {
    const char* named = getenv("OPSCOPE_CUPTI_LIB");
    auto* loaded = new CuptiLibrary(LoadCupti(named == nullptr ? "" : named));  // never destroyed
    loaded->was_named = named != nullptr && *named != '\0';
    return *loaded;
  }();
  return library;
}

}  // namespace opscope::cuda
