// Collects facts about the machine for `opscope doctor` from /proc, /sys, system calls and a short measurement of the
// clock. Nothing is loaded or changed; CUPTI is only searched by file name in the folders where the dynamic linker and
// pip's packages put it, because loading it would initialize CUDA.
// SPDX-License-Identifier: Apache-2.0
#include "cli/machine_facts.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "base/descriptor.h"
#include "base/folder_entries.h"
#include "opscope/recorder.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace opscope {
namespace {

namespace fs = std::filesystem;

// The first line of a kernel setting's file; empty if there is none.
std::string ReadSetting(const char* path) {
  char text[128];
  const int file = MoveAboveStderr(open(path, O_RDONLY | O_CLOEXEC));
  if (file < 0) return {};
  const ssize_t size = read(file, text, sizeof(text));
  close(file);
  std::string line(text, size > 0 ? static_cast<size_t>(size) : 0);
  return line.substr(0, line.find('\n'));
}

uint64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

// Takes the minimum of several runs: other work on the machine only adds time.
void MeasureClock(MachineFacts* facts) {
  constexpr int kRuns = 7;
  constexpr int kReads = 20000;
  const uint64_t began_ns = NowNs();
  const uint64_t began_ticks = ReadTicks();
  uint64_t best_ns = ~uint64_t{0};
  for (int run = 0; run < kRuns; ++run) {
    const uint64_t before = NowNs();
    for (int i = 0; i < kReads; ++i) {
      const uint64_t ticks = ReadTicks();
      asm volatile("" : : "r"(ticks));
    }
    best_ns = std::min(best_ns, NowNs() - before);
  }
  facts->clock_read_ns = static_cast<double>(best_ns) / kReads;
  const uint64_t ticks = ReadTicks() - began_ticks;
  facts->ticks_per_second = static_cast<double>(ticks) * 1e9 / static_cast<double>(NowNs() - began_ns);
}

bool TscIsInvariant() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
#else
  return false;
#endif
}

uint64_t SoftLimit(decltype(RLIMIT_FSIZE) resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  return limit.rlim_cur;
}

uint32_t UsableProcessors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return static_cast<uint32_t>(CPU_COUNT(&set));
  return static_cast<uint32_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

// The memory limit of the control group that a container sees as its root.
uint64_t MemoryLimit() {
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    const std::string text = ReadSetting(path);
    if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) == 0) continue;
    const uint64_t bytes = std::strtoull(text.c_str(), nullptr, 10);
    constexpr uint64_t kNoLimitInOldKernels = uint64_t{1} << 62;
    return bytes < kNoLimitInOldKernels ? bytes : kUnlimited;
  }
  return kUnlimited;
}

void CollectFolderFacts(MachineFacts* facts) {
  std::error_code error;
  facts->folder = fs::current_path(error).string();
  struct statvfs status{};
  if (statvfs(".", &status) == 0) facts->folder_free_bytes = uint64_t{status.f_bavail} * status.f_frsize;
  facts->folder_is_writable = access(".", W_OK) == 0;
}

bool CanCountInstructions() {
  perf_event_attr counter{};
  counter.size = sizeof(counter);
  counter.type = PERF_TYPE_HARDWARE;
  counter.config = PERF_COUNT_HW_INSTRUCTIONS;
  counter.disabled = 1;
  counter.exclude_kernel = 1;
  counter.exclude_hv = 1;
  const long file = syscall(SYS_perf_event_open, &counter, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (file < 0) return false;
  close(static_cast<int>(file));
  return true;
}

// Names in a folder; empty if it cannot be read.
std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  UniqueDescriptor file(MoveAboveStderr(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  const FolderEntries entries = EntriesOf(std::move(file));
  if (entries == nullptr) return names;
  while (const dirent* entry = readdir(entries.get()))
    names.emplace_back(entry->d_name);
  return names;
}

// Counts /dev/nvidia0, /dev/nvidia1, ..., which containers have too, unlike /proc/driver.
uint32_t CountNvidiaGpus() {
  uint32_t count = 0;
  for (const std::string& name : NamesIn("/dev")) {
    if (name.size() <= 6 || name.compare(0, 6, "nvidia") != 0) continue;
    if (std::all_of(name.begin() + 6, name.end(), [](unsigned char c) { return std::isdigit(c) != 0; })) ++count;
  }
  return count;
}

// The folders that an environment variable lists.
std::vector<std::string> ListedIn(const char* variable) {
  std::vector<std::string> folders;
  const char* const listed = std::getenv(variable);
  std::istringstream text(listed == nullptr ? "" : listed);
  for (std::string folder; std::getline(text, folder, ':');)
    if (!folder.empty()) folders.push_back(folder);
  return folders;
}

// Folders of Python packages: PYTHONPATH (`pip install --target`), site-packages of the active environment.
std::vector<std::string> FoldersOfPackages() {
  std::vector<std::string> folders = ListedIn("PYTHONPATH");
  const char* environment = std::getenv("VIRTUAL_ENV");
  if (environment == nullptr || *environment == '\0') return folders;
  const std::string libraries = std::string(environment) + "/lib/";
  for (const std::string& python : NamesIn(libraries))
    if (python.starts_with("python")) folders.push_back(libraries + python + "/site-packages");
  return folders;
}

// The folders torch/lib and nvidia/*/lib, where pip installs CUDA's libraries.
std::vector<std::string> FoldersBesideTorch() {
  std::vector<std::string> folders;
  for (const std::string& packages : FoldersOfPackages()) {
    folders.push_back(packages + "/torch/lib");
    const std::string nvidia = packages + "/nvidia/";
    std::vector<std::string> names = NamesIn(nvidia);
    std::sort(names.begin(), names.end());
    for (const std::string& name : names)
      if (!name.starts_with('.')) folders.push_back(nvidia + name + "/lib");
  }
  return folders;
}

std::vector<std::string> FoldersOfCupti() {
  std::vector<std::string> folders = ListedIn("LD_LIBRARY_PATH");
  const std::vector<std::string> beside_torch = FoldersBesideTorch();
  folders.insert(folders.end(), beside_torch.begin(), beside_torch.end());
  folders.insert(folders.end(), {"/usr/local/cuda/extras/CUPTI/lib64", "/usr/local/cuda/lib64",
                                 "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib/aarch64-linux-gnu"});
  return folders;
}

// Searches by file name, because loading CUPTI would initialize CUDA.
std::string FindCupti() {
  for (const std::string& folder : FoldersOfCupti()) {
    const std::string prefix = folder + "/";
    for (const std::string& name : NamesIn(folder))
      if (name.starts_with("libcupti.so")) return prefix + name;
  }
  return {};
}

}  // namespace

MachineFacts CollectMachineFacts() {
  MachineFacts facts;
  facts.opscope_version = OPSCOPE_VERSION;
#if defined(__clang__)
  facts.built_with = "clang " __clang_version__;
#else
  facts.built_with = "gcc " __VERSION__;
#endif
  facts.recorder_abi = opscope_recorder_abi();
  facts.clock_is_tsc = opscope_clock_is_slow == 0;
  facts.tsc_is_invariant = TscIsInvariant();
  facts.kernel_clock = ReadSetting("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  MeasureClock(&facts);
  facts.processors = UsableProcessors();
  struct sysinfo memory{};
  if (sysinfo(&memory) == 0) facts.memory_bytes = uint64_t{memory.totalram} * memory.mem_unit;
  facts.memory_limit_bytes = MemoryLimit();
  facts.locked_memory_bytes = SoftLimit(RLIMIT_MEMLOCK);
  facts.file_size_bytes = SoftLimit(RLIMIT_FSIZE);
  facts.open_files = SoftLimit(RLIMIT_NOFILE);
  CollectFolderFacts(&facts);
  facts.perf_event_paranoid = ReadSetting("/proc/sys/kernel/perf_event_paranoid");
  facts.perf_counters = !facts.perf_event_paranoid.empty() && CanCountInstructions();
  facts.nvidia_gpus = CountNvidiaGpus();
  facts.cupti = FindCupti();
  return facts;
}

}  // namespace opscope
