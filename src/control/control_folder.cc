// How a socket is reached without a race: the file is opened with O_PATH | O_NOFOLLOW, checked by fstat, and connect()
// goes to /proc/self/fd/N, which leads to exactly that file. The address stays short, whatever the folder is called (an
// address has at most 108 bytes). The kernel then says which user has called listen() (SO_PEERCRED).
// SPDX-License-Identifier: Apache-2.0
#include "control/control_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/descriptor.h"
#include "base/folder_entries.h"
#include "base/system_error.h"
#include "control/control_message.h"

namespace opscope {
namespace {

constexpr const char* kRequestName = "request.json";
constexpr std::string_view kSocketEnding = ".sock";
constexpr size_t kMaxProcesses = 100'000;
constexpr int kLockTries = 300, kLockPauseUs = 50'000;
constexpr int kConnectTries = 20, kConnectPauseUs = 10'000;

// As in <linux/magic.h>, which older kernel headers have in part only.
constexpr uint64_t kLocalFileSystems[] = {
    0xEF53,      // ext2, ext3, ext4
    0x58465342,  // XFS
    0x9123683E,  // Btrfs
    0x2FC12FC1,  // ZFS
    0xCA451A4E,  // bcachefs
    0xF2F52010,  // F2FS
    0x01021994,  // tmpfs
    0x858458F6,  // ramfs
    0x794C7630,  // overlayfs, whose upper layer cannot be NFS
};

Error FolderError(const std::string& path, int error) {
  if (error == ENOENT) return {ErrorCode::kNotFound, path + ": there is no such folder", error};
  return SystemErrorFor(path, error);
}

std::string ModeText(mode_t mode) {
  char text[8];
  std::snprintf(text, sizeof(text), "%04o", mode & 07777U);
  return text;
}

// "": of this user alone.
std::string WhyNotOwn(const struct stat& facts, mode_t forbidden, const char* wanted) {
  if (facts.st_uid != geteuid()) return "belongs to the user " + std::to_string(facts.st_uid);
  if ((facts.st_mode & forbidden) != 0) return "has the mode " + ModeText(facts.st_mode) + " in place of " + wanted;
  return "";
}

// HOST-PID of HOST-PID.sock; "": it is no such name.
std::string ProcessOfSocket(std::string_view name) {
  if (!name.ends_with(kSocketEnding)) return "";
  name.remove_suffix(kSocketEnding.size());
  const size_t dash = name.find('-');
  if (dash == 0 || dash == std::string_view::npos ||
      HostInNames(std::string(name.substr(0, dash))) != name.substr(0, dash))
    return "";
  const std::string_view pid = name.substr(dash + 1);
  const bool is_number = !pid.empty() && pid.size() <= 10 && pid.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? std::string(name) : "";
}

Error ConnectError(const std::string& why_not) {
  return {ErrorCode::kIo, why_not};
}

}  // namespace

std::string HostInNames(const std::string& host) {
  std::string name = host.empty() ? "_" : host;
  for (char& c : name) {
    const bool is_plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (!is_plain && c != '.') c = '_';
  }
  return name;
}

Result<ControlFolder> ControlFolder::Open(const std::string& path) {
  std::string name = path;
  while (name.size() > 1 && name.back() == '/')  // with which O_NOFOLLOW would follow a link
    name.pop_back();
  const int opened = MoveAboveStderr(open(name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (opened < 0) {
    const int error = errno;
    struct stat facts{};
    if (lstat(name.c_str(), &facts) == 0 && S_ISLNK(facts.st_mode))
      return Error{ErrorCode::kInvalidArgument, path + ": it is a symbolic link, which may lead anywhere"};
    return FolderError(path, error);
  }
  ControlFolder folder(std::move(name), opened);
  struct stat facts{};
  if (fstat(opened, &facts) != 0) return FolderError(path, errno);
  if (const std::string why_not = WhyNotOwn(facts, 077, "0700"); !why_not.empty())
    return Error{ErrorCode::kInvalidArgument, path + ": " + why_not};
  return folder;
}

ControlFolder::ControlFolder(ControlFolder&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      has_request_(std::exchange(other.has_request_, false)) {
}

ControlFolder::~ControlFolder() {
  if (descriptor_ < 0) return;
  RemoveRequest();
  close(descriptor_);
}

std::string ControlFolder::PathOf(const std::string& name) const {
  return path_ + (path_.ends_with('/') ? "" : "/") + name;
}

std::vector<std::string> ControlFolder::Processes() const {
  std::vector<std::string> processes;
  UniqueDescriptor copy(MoveAboveStderr(openat(descriptor_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  const FolderEntries entries = EntriesOf(std::move(copy));
  if (entries == nullptr) return processes;
  while (const dirent* entry = readdir(entries.get())) {
    std::string process = ProcessOfSocket(entry->d_name);
    if (!process.empty() && processes.size() < kMaxProcesses) processes.push_back(std::move(process));
  }
  std::sort(processes.begin(), processes.end());
  return processes;
}

Result<int> ControlFolder::Connect(const std::string& process) const {
  const std::string name = process + std::string(kSocketEnding);
  const UniqueDescriptor file(MoveAboveStderr(openat(descriptor_, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)));
  struct stat facts{};
  if (file.get() < 0 || fstat(file.get(), &facts) != 0) return Error{ErrorCode::kNotFound, "its socket is gone", errno};
  if (!S_ISSOCK(facts.st_mode)) return ConnectError("its socket file is a link or another kind of file");
  if (const std::string why_not = WhyNotOwn(facts, 077, "0600"); !why_not.empty())
    return ConnectError("its socket " + why_not);
  UniqueDescriptor connection(MoveAboveStderr(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)));
  if (connection.get() < 0) return ConnectError("cannot create a socket: " + std::generic_category().message(errno));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", file.get());
  for (int i = 0; connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0;) {
    const int error = errno;
    if (error == EINTR) continue;
    if (error != EAGAIN || ++i == kConnectTries) {
      if (error == ECONNREFUSED) return Error{ErrorCode::kNotFound, "no process listens on its socket", error};
      return ConnectError(error == EAGAIN ? "too many clients are connected" : std::generic_category().message(error));
    }
    usleep(kConnectPauseUs);
  }
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != geteuid())
    return ConnectError("another user listens on its socket");
  return connection.Release();
}

bool IsLocalFileSystem(uint64_t type) {
  return std::find(std::begin(kLocalFileSystems), std::end(kLocalFileSystems), type) != std::end(kLocalFileSystems);
}

bool ControlFolder::IsOfThisMachineAlone() const {
  struct statfs facts{};
  // f_type is signed on some machines; the numbers have 32 bits.
  return fstatfs(descriptor_, &facts) == 0 && IsLocalFileSystem(static_cast<uint32_t>(facts.f_type));
}

void ControlFolder::RemoveSocket(const std::string& process) const {
  unlinkat(descriptor_, (process + std::string(kSocketEnding)).c_str(), 0);
}

std::optional<std::string> ControlFolder::ReadAnswerFile(const std::string& process) const {
  const UniqueDescriptor file(MoveAboveStderr(
      openat(descriptor_, (process + ".json").c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)));
  struct stat facts{};
  if (file.get() < 0 || fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode) ||
      !WhyNotOwn(facts, 022, "0600").empty())
    return std::nullopt;
  char content[kMaxControlMessage + 1];
  const ssize_t bytes = read(file.get(), content, sizeof(content));
  if (bytes < 0) return std::nullopt;
  return std::string(content, static_cast<size_t>(bytes));
}

void ControlFolder::RemoveAnswerFile(const std::string& process) const {
  unlinkat(descriptor_, (process + ".json").c_str(), 0);
}

Status ControlFolder::Lock() {
  for (int i = 0; flock(descriptor_, LOCK_EX | LOCK_NB) != 0; ++i) {
    if (errno != EWOULDBLOCK && errno != EINTR) return FolderError(path_, errno);
    if (i == kLockTries) return Error{ErrorCode::kIo, path_ + ": another command waits for answers of other machines"};
    usleep(kLockPauseUs);
  }
  return {};
}

Status ControlFolder::WriteRequest(const std::string& message) {
  if (message.size() > kMaxControlMessage)
    return Error{ErrorCode::kInvalidArgument, "the request names too many separate ranks for one message"};
  if (!has_request_) OPSCOPE_TRY(Lock());
  has_request_ = true;
  const std::string part = std::string(kRequestName) + ".part";
  unlinkat(descriptor_, part.c_str(), 0);
  const UniqueDescriptor file(
      MoveAboveStderr(openat(descriptor_, part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)));
  if (file.get() < 0) return FolderError(PathOf(part), errno);
  const ssize_t written = write(file.get(), message.data(), message.size());
  if (written != static_cast<ssize_t>(message.size())) return FolderError(PathOf(part), written < 0 ? errno : ENOSPC);
  if (renameat(descriptor_, part.c_str(), descriptor_, kRequestName) != 0)
    return FolderError(PathOf(kRequestName), errno);
  return {};
}

void ControlFolder::RemoveRequest() {
  if (!has_request_) return;
  has_request_ = false;
  unlinkat(descriptor_, kRequestName, 0);
  flock(descriptor_, LOCK_UN);
}

}  // namespace opscope
