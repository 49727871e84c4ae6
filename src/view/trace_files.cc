// Finds and opens traces. A folder may be of another user, who can put links into it at any moment: it is walked by
// descriptors that follow none, and a file that is opened later must be the one that was found.
//
// With a limit of memory, a file is first read into what the open ones leave. Only if that is too little are they
// closed, least recently used first, and the file is read again.
// SPDX-License-Identifier: Apache-2.0
#include "view/trace_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "base/catch_bad_alloc.h"
#include "base/descriptor.h"
#include "base/folder_entries.h"
#include "base/system_error.h"
#include "opscope/import.h"

namespace opscope {
namespace {

constexpr size_t kFew = 4;
constexpr size_t kMaxFiles = 10'000;
constexpr int kDeepestFolder = 64;
constexpr size_t kHeadOfFile = size_t{64} << 10, kHeadWithMetadata = size_t{4} << 20;

// Up to `size` bytes from the start of a file.
std::vector<std::byte> ReadHead(int descriptor, size_t size) {
  std::vector<std::byte> head(size);
  size_t used = 0;
  while (used < size) {
    const ssize_t got = pread(descriptor, head.data() + used, size - used, static_cast<off_t>(used));
    if (got <= 0) break;
    used += static_cast<size_t>(got);
  }
  head.resize(used);
  return head;
}

// Whether the first bytes are those of a trace, damaged or not. JSON files of other programs are not traces. A long
// JSON trace may begin with metadata that fill the first bytes; it is recognised by the name of its list of events.
bool LooksLikeTrace(int descriptor) {
  const std::vector<std::byte> head = ReadHead(descriptor, kHeadOfFile);
  if (head.empty()) return false;
  const Result<Trace> trace = ImportBytes(head, "file", {.max_threads = 1});
  if (trace.ok()) return true;
  if (trace.error().code != ErrorCode::kMalformed) return false;
  const auto first = std::find_if(head.begin(), head.end(), [](std::byte byte) { return byte > std::byte{' '}; });
  if (first == head.end() || *first == std::byte{'['}) return false;
  if (*first != std::byte{'{'}) return true;
  if (head.size() < kHeadOfFile) return false;
  const std::vector<std::byte> more = ReadHead(descriptor, kHeadWithMetadata);
  const std::string_view text(reinterpret_cast<const char*>(more.data()), more.size());
  return text.find("\"traceEvents\"") != std::string_view::npos;
}

bool IsOverLimit(const Trace& trace) {
  const ProblemColumns& problems = trace.problems();
  return std::any_of(problems.kind.begin(), problems.kind.end(),
                     [&](StringId kind) { return trace.text(kind) == "over_memory_limit"; });
}

}  // namespace

Result<std::unique_ptr<TraceFiles>> TraceFiles::Find(const ViewOptions& options) {
  return CatchBadAlloc("the traces", [&]() -> Result<std::unique_ptr<TraceFiles>> {
    std::unique_ptr<TraceFiles> files(new TraceFiles(options));
    for (const std::string& path : options.files)
      OPSCOPE_TRY(files->AddNamed(path));
    return files;
  });
}

Status TraceFiles::AddNamed(const std::string& path) {
  File file{.name = path == "-" ? "standard input" : path, .path = path, .is_named = true};
  struct stat facts{};
  if (path == "-") {
    file.is_read_once = true;
  } else if (stat(path.c_str(), &facts) != 0) {
    return SystemErrorFor(path, errno);
  } else if (S_ISDIR(facts.st_mode) && options_.is_job && options_.is_job(path)) {
    file.is_job = true;
    files_.push_back(std::move(file));
    return {};
  } else if (S_ISDIR(facts.st_mode)) {
    const size_t before = files_.size();
    UniqueDescriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() < 0) return SystemErrorFor(path, errno);
    AddBelow(std::move(folder), path, "", 0);
    if (files_.size() == before) return Error{ErrorCode::kNotFound, path + ": there is no trace in this folder", 0};
    std::sort(files_.begin() + static_cast<std::ptrdiff_t>(before), files_.end(),
              [](const File& a, const File& b) { return a.name < b.name; });
    return {};
  } else if (access(path.c_str(), R_OK) != 0) {
    return SystemErrorFor(path, errno);
  }
  if (path != "-" && !S_ISREG(facts.st_mode)) file.is_read_once = true;
  files_.push_back(std::move(file));
  return {};
}

void TraceFiles::AddBelow(UniqueDescriptor descriptor, const std::string& path, const std::string& name, int depth) {
  const FolderEntries entries = EntriesOf(std::move(descriptor));
  if (entries == nullptr) return;
  const int folder = dirfd(entries.get());
  while (const dirent* entry = readdir(entries.get())) {
    const char* const own = entry->d_name;
    if (std::strcmp(own, ".") == 0 || std::strcmp(own, "..") == 0 || files_.size() >= kMaxFiles) continue;
    struct stat facts{};
    if (fstatat(folder, own, &facts, AT_SYMLINK_NOFOLLOW) != 0) continue;
    const std::string own_name = name.empty() ? own : name + "/" + own;
    if (S_ISDIR(facts.st_mode) && depth < kDeepestFolder) {
      UniqueDescriptor below(openat(folder, own, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (below.get() >= 0) AddBelow(std::move(below), path + "/" + own, own_name, depth + 1);
    } else if (S_ISREG(facts.st_mode)) {
      AddFound(folder, own, path + "/" + own, own_name);
    }
  }
}

void TraceFiles::AddFound(int folder, const char* entry, const std::string& path, const std::string& name) {
  const UniqueDescriptor opened(openat(folder, entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat facts{};
  if (opened.get() < 0 || fstat(opened.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return;
  if (!LooksLikeTrace(opened.get())) return;
  files_.push_back({.name = name, .path = path, .device = facts.st_dev, .number = facts.st_ino});
}

Status TraceFiles::OpenAtStart() {
  for (size_t i = 0; i < files_.size(); ++i) {
    const File& file = files_[i];
    if (!file.is_read_once && files_.size() > kFew && (!file.is_named || file.is_job || HeadIsOfTrace(file))) continue;
    const Result<std::shared_ptr<const Trace>> trace = Open(i);
    if (!trace.ok() && (file.is_named || files_.size() == 1)) return trace.error();
  }
  return {};
}

bool TraceFiles::HeadIsOfTrace(const File& file) {
  const UniqueDescriptor opened(open(file.path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  return opened.get() >= 0 && LooksLikeTrace(opened.get());
}

bool TraceFiles::is_open(size_t file) {
  if (!mutex_.try_lock()) return false;  // a file is being read; do not wait for it
  const MutexLock lock(mutex_, std::adopt_lock);
  return files_[file].trace != nullptr;
}

Result<Trace> TraceFiles::Import(const File& file, uint64_t max_memory) const {
  if (file.is_job) return options_.open_job(file.path);
  ImportOptions options{.max_memory = max_memory, .name = file.name, .format = options_.format};
  if (options_.on_progress)
    options.on_progress = [&](uint64_t read, uint64_t total) { options_.on_progress(file.name, read, total); };
  if (file.path == "-") return ImportDescriptor(STDIN_FILENO, options);
  if (file.is_named) return ImportFile(file.path, options);
  const UniqueDescriptor opened(open(file.path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (opened.get() < 0) return SystemErrorFor(file.name, errno);
  struct stat facts{};
  if (fstat(opened.get(), &facts) != 0 || facts.st_dev != file.device || facts.st_ino != file.number)
    return Error{ErrorCode::kIo, file.name + ": another file has this name since the start", 0};
  return ImportDescriptor(opened.get(), options);
}

uint64_t TraceFiles::OpenBytes() const {
  uint64_t held = 0;
  for (const File& file : files_)
    if (file.trace) held += file.trace->memory_bytes();
  return held;
}

// Closes the least recently used ones until they hold at most max_bytes.
void TraceFiles::CloseOthers(size_t but, uint64_t max_bytes) {
  while (OpenBytes() > max_bytes) {
    File* oldest = nullptr;
    for (size_t i = 0; i < files_.size(); ++i) {
      File& file = files_[i];
      if (i == but || !file.trace || file.is_read_once) continue;
      if (oldest == nullptr || file.last_use < oldest->last_use) oldest = &file;
    }
    if (oldest == nullptr) return;
    oldest->trace.reset();
  }
}

Result<std::shared_ptr<const Trace>> TraceFiles::Open(size_t file) {
  const MutexLock lock(mutex_);
  File& wanted = files_[file];
  wanted.last_use = ++uses_;
  if (wanted.trace) return wanted.trace;
  const uint64_t limit = options_.max_memory;
  // What the open traces leave, at least 1 byte; 0: no limit.
  const auto free_bytes = [&] { return limit == 0 ? 0 : limit - std::min(limit - 1, OpenBytes()); };
  if (limit > 0 && OpenBytes() >= limit) CloseOthers(file, limit / 2);
  Result<Trace> trace = Import(wanted, free_bytes());
  if (trace.ok() && limit > 0 && OpenBytes() > 0 && !wanted.is_read_once && IsOverLimit(trace.value())) {
    CloseOthers(file, 0);
    trace = Import(wanted, free_bytes());
  }
  if (!trace.ok()) return trace.error();
  wanted.trace = std::make_shared<const Trace>(std::move(trace).value());
  return wanted.trace;
}

}  // namespace opscope
