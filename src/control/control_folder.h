// The folder in which processes wait for requests, opened once and used through its descriptor: a folder that is
// renamed or replaced meanwhile changes nothing. It must belong to this user alone, so no other user can put a file, a
// link or a socket there. No link is followed.
//
//   OPSCOPE_ASSIGN(ControlFolder folder, ControlFolder::Open("opscope-run"));
//   for (const std::string& name : folder.Processes()) ...          // "node1-4711"
//   const Result<int> connection = folder.Connect(name);            // the caller closes it
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "opscope/result.h"

namespace opscope {

class ControlFolder {
 public:
  // kNotFound: there is none. kInvalidArgument: it is a link, or not of this user alone.
  static Result<ControlFolder> Open(const std::string& path);
  ControlFolder(ControlFolder&& other) noexcept;
  ControlFolder& operator=(ControlFolder&&) = delete;
  ~ControlFolder();

  const std::string& path() const { return path_; }
  // The path of a file in the folder, for messages.
  std::string PathOf(const std::string& name) const;

  // Names of the processes that have a socket, HOST-PID, in order.
  [[nodiscard]] std::vector<std::string> Processes() const;
  // Connects to the socket of a process without waiting. Checks before that it is a socket of this user alone, and
  // afterwards that this user listens on it. kNotFound: no process listens. Other codes: the message says why not.
  [[nodiscard]] Result<int> Connect(const std::string& process) const;
  // Whether all processes that can use the folder run under this kernel, because its file system is a local one. On a
  // shared file system (NFS, Lustre, FUSE, ...) no process here can listen on the socket of another machine, although
  // that socket may be in use; false there, and where the file system is unknown.
  [[nodiscard]] bool IsOfThisMachineAlone() const;
  void RemoveSocket(const std::string& process) const;

  // The complete answer of a process from its file. nullopt: no file, or not a regular file of this user alone.
  [[nodiscard]] std::optional<std::string> ReadAnswerFile(const std::string& process) const;
  void RemoveAnswerFile(const std::string& process) const;

  // Writes request.json in one step. One command at a time may have a request: waits at most 15 s for others.
  [[nodiscard]] Status WriteRequest(const std::string& message);
  // Removes the request, so that other commands can write theirs. No effect without a request.
  void RemoveRequest();

 private:
  ControlFolder(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  Status Lock();

  std::string path_;
  int descriptor_ = -1;
  bool has_request_ = false;
};

// The name of this machine in names of sockets: characters other than letters, digits, '.' and '_' become '_'.
[[nodiscard]] std::string HostInNames(const std::string& host);

// Whether a file system with this `f_type` of statfs() can be mounted by one machine at a time only.
[[nodiscard]] bool IsLocalFileSystem(uint64_t type);

}  // namespace opscope
