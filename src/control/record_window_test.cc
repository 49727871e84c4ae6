// Windows of several processes, which are threads here that answer as the test says: which of them record,
// at which step they begin, and what becomes of those that do not answer.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "control/control_folder.h"
#include "control/exchange.h"
#include "opscope/control.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/opscope-control-XXXXXX";
    path_ = mkdtemp(name);  // mode 0700
  }
  ~Folder() { fs::remove_all(path_); }
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// A process of this machine. It answers a status by `status`, and anything else by `end`; %R stands for the request.
class FakeProcess {
 public:
  FakeProcess(const Folder& folder, int pid, std::string status, std::string end)
      : path_(folder / (HostInNames(OwnHost()) + "-" + std::to_string(pid) + ".sock")),
        status_(std::move(status)),
        end_(std::move(end)) {
    listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    chmod(path_.c_str(), 0600);
    listen(listener_, 8);
    thread_ = std::thread([this] { Serve(); });
  }
  ~FakeProcess() {
    is_over_ = true;
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  // The last request to record; "": none.
  const std::string& requested() const { return requested_; }

 private:
  void Serve() {
    while (!is_over_) {
      const int client = accept(listener_, nullptr, nullptr);
      if (client < 0) return;
      char bytes[4096];
      const ssize_t got = recv(client, bytes, sizeof(bytes), 0);
      const std::string message(bytes, got > 0 ? static_cast<size_t>(got) : 0);
      std::string answer = status_;
      if (const size_t at = message.find("\"request\":\""); at != std::string::npos) {
        requested_ = message;
        answer = end_;
        if (const size_t mark = answer.find("%R"); mark != std::string::npos)
          answer.replace(mark, 2, message.substr(at + 11, 16));
      }
      if (!answer.empty()) send(client, answer.data(), answer.size(), MSG_NOSIGNAL);
      close(client);
    }
  }

  std::string path_, status_, end_, requested_;
  int listener_ = -1;
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

std::string StatusLine(int rank, int pid, int step, const std::string& state = "ready") {
  return R"({"version":1,"rank":)" + std::to_string(rank) + R"(,"host":"h","pid":)" + std::to_string(pid) +
         R"(,"framework":"torch","last_step":)" + std::to_string(step) + R"(,"step_ns":)" +
         (step == 0 ? "0" : "100000000") + R"(,"state":")" + state + R"(","why_not":")" +
         (state == "ready" ? "" : "busy") + "\"}\n";
}

std::string EndLine(const std::string& status, const std::string& file) {
  return R"({"version":1,"request":"%R","status":")" + status + R"(","file":")" + file + "\",\"why_not\":\"" +
         (status == "complete" ? "" : "as it is") + "\"}\n";
}

TEST(RecordWindow, AllRanksBeginBehindTheFurthestOne) {
  const Folder folder;
  FakeProcess first(folder, 11, StatusLine(0, 11, 70), EndLine("complete", "rank0.opscope"));
  FakeProcess second(folder, 12, StatusLine(1, 12, 75), EndLine("late", ""));
  // What loads data for rank 1, and a launcher.
  FakeProcess worker(folder, 13, StatusLine(1, 13, 0), EndLine("complete", "rank1.opscope"));
  FakeProcess launcher(folder, 14, StatusLine(-1, 14, 0), EndLine("complete", "rank_unknown.opscope"));
  const Result<RecordReport> report = RecordOnDemand({.folder = folder.path() + "/", .steps = 5});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report.value().first_step, 75 + 2 + 3);  // three steps in the 300 ms that a request may take
  ASSERT_EQ(report.value().rows.size(), 2U);
  const RecordedProcess& row = report.value().rows[0];
  EXPECT_EQ(row.status, WindowStatus::kComplete);
  EXPECT_EQ(row.file, folder / "rank0.opscope");
  EXPECT_EQ(report.value().rows[1].pid, 12);
  EXPECT_EQ(report.value().rows[1].status, WindowStatus::kLate);
  EXPECT_EQ(report.value().rows[1].why_not, "as it is");
  EXPECT_EQ(worker.requested() + launcher.requested(), "");
  EXPECT_NE(first.requested().find("\"first_step\":80,\"steps\":5}"), std::string::npos) << first.requested();
}

TEST(RecordWindow, RanksAndProcessesAreChosen) {
  const Folder folder;
  FakeProcess first(folder, 11, StatusLine(0, 11, 7), EndLine("complete", "rank0.opscope"));
  FakeProcess second(folder, 12, StatusLine(1, 12, 7, "recording"), EndLine("complete", "rank1.opscope"));
  const Result<RecordReport> report = RecordOnDemand({.folder = folder.path(), .ranks = {1, 5}, .steps = 1});
  ASSERT_TRUE(report.ok());
  EXPECT_FALSE(report.value().first_step.has_value());
  ASSERT_EQ(report.value().rows.size(), 2U);
  EXPECT_EQ(report.value().rows[0].why_not, "busy");
  EXPECT_EQ(report.value().rows[1].rank, 5);
  EXPECT_EQ(report.value().rows[1].why_not, "there is no process of this rank");
  EXPECT_EQ(first.requested() + second.requested(), "");

  const Result<RecordReport> one = RecordOnDemand({.folder = folder.path(), .pid = 11, .steps = 1});
  ASSERT_TRUE(one.ok());
  ASSERT_EQ(one.value().rows.size(), 1U);
  EXPECT_EQ(one.value().rows[0].status, WindowStatus::kComplete);
  const Result<RecordReport> none = RecordOnDemand({.folder = folder.path(), .pid = 99, .steps = 1});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message, folder.path() + ": there is no process 99 that waits for requests");
}

TEST(RecordWindow, AProcessThatDoesNotSayItsRankIsListedAsFailed) {
  const Folder folder;
  FakeProcess good(folder, 11, StatusLine(0, 11, 7), EndLine("complete", "rank0.opscope"));
  FakeProcess hangs(folder, 12, "", "");
  const Result<RecordReport> all = RecordOnDemand({.folder = folder.path(), .steps = 1});
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all.value().rows.size(), 2U);
  EXPECT_EQ(all.value().rows[0].rank, -1);
  EXPECT_EQ(all.value().rows[0].pid, 12);
  EXPECT_EQ(all.value().rows[0].status, WindowStatus::kFailed);
  EXPECT_EQ(all.value().rows[0].why_not, "the process has closed the connection");
  EXPECT_EQ(all.value().rows[1].status, WindowStatus::kComplete);
  const Result<RecordReport> one = RecordOnDemand({.folder = folder.path(), .ranks = {0, 1}, .steps = 1});
  ASSERT_TRUE(one.ok());
  ASSERT_EQ(one.value().rows.size(), 2U);
  EXPECT_EQ(one.value().rows[1].why_not, "no process that answers has this rank");
}

TEST(RecordWindow, AnswersThatAreNoneFailAlone) {
  const Folder folder;
  FakeProcess good(folder, 11, StatusLine(0, 11, 7), EndLine("complete", "rank0.opscope"));
  FakeProcess outside(folder, 12, StatusLine(1, 12, 7), EndLine("complete", "../rank1.opscope"));
  FakeProcess silent(folder, 13, StatusLine(2, 13, 7), "");
  FakeProcess flood(folder, 14, StatusLine(3, 14, 7), std::string(100'000, 'x'));
  FakeProcess closes(folder, 15, StatusLine(4, 15, 7), EndLine("waiting", ""));
  const Result<RecordReport> report = RecordOnDemand({.folder = folder.path(), .steps = 1});
  ASSERT_TRUE(report.ok());
  std::vector<std::string> whys;
  for (const RecordedProcess& row : report.value().rows) {
    EXPECT_EQ(row.status, row.rank == 0 ? WindowStatus::kComplete : WindowStatus::kFailed);
    whys.push_back(row.why_not);
  }
  EXPECT_EQ(whys, (std::vector<std::string>{
                      "", "its answer cannot be read: invalid file name", "the process has closed the connection",
                      "the process has closed the connection", "the process has ended meanwhile"}));
}

TEST(RecordWindow, OnlySocketsOfThisUserAreAsked) {
  const Folder folder;
  FakeProcess process(folder, 11, StatusLine(0, 11, 7), "");
  const std::string socket = folder / (HostInNames(OwnHost()) + "-11.sock");
  const std::string host = folder / HostInNames(OwnHost());
  fs::create_symlink(socket, host + "-12.sock");
  std::ofstream(host + "-13.sock") << "x";
  std::ofstream(folder / "no-number.sock") << "x";
  std::ofstream(folder / "control.log") << "x";
  // A process that has ended: its number is above all that Linux gives.
  ASSERT_EQ(mknod((host + "-4194305.sock").c_str(), S_IFSOCK | 0600, 0), 0);
  chmod((host + "-4194305.sock").c_str(), 0600);
  const Result<std::vector<ControlProcess>> all = ListProcesses(folder.path());
  ASSERT_TRUE(all.ok());
  std::vector<std::pair<int64_t, std::string>> found;
  for (const ControlProcess& each : all.value())
    found.emplace_back(each.pid, each.why_not);
  EXPECT_EQ(found, (std::vector<std::pair<int64_t, std::string>>{
                       {12, "its socket file is a link or another kind of file"},
                       {13, "its socket file is a link or another kind of file"},
                       {4194305, "the process has ended without removing its socket"},
                       {11, ""}}));
  EXPECT_FALSE(fs::exists(host + "-4194305.sock"));
  EXPECT_TRUE(fs::is_symlink(host + "-12.sock"));

  chmod(socket.c_str(), 0660);
  EXPECT_EQ(ListProcesses(folder.path()).value().front().why_not, "its socket has the mode 0660 in place of 0600");
}

TEST(RecordWindow, SocketsOnSharedFileSystemsAreNotRemoved) {
  for (const uint64_t shared : {0x6969U, 0x0BD00BD0U, 0x65735546U, 0x01021997U, 0xFF534D42U, 0x47504653U, 0x00C36400U})
    EXPECT_FALSE(IsLocalFileSystem(shared)) << shared;  // NFS, Lustre, FUSE, 9P, CIFS, GPFS, Ceph
  EXPECT_TRUE(IsLocalFileSystem(0xEF53));
}

TEST(RecordWindow, OnlyAFolderOfThisUserAloneIsUsed) {
  const Folder folder;
  const auto message = [](const std::string& path) {
    const Result<std::vector<ControlProcess>> all = ListProcesses(path);
    return all.ok() ? "" : all.error().message;
  };
  EXPECT_EQ(message(folder.path()), "");
  EXPECT_EQ(message(folder / "none"), folder / "none: there is no such folder");
  std::ofstream(folder / "file") << "x";
  EXPECT_EQ(message(folder / "file"), folder / "file: Not a directory");
  fs::create_directory(folder / "open");
  chmod((folder / "open").c_str(), 0755);
  EXPECT_EQ(message(folder / "open"), folder / "open: has the mode 0755 in place of 0700");
  fs::create_directory_symlink(folder.path(), folder / "link");
  EXPECT_EQ(message(folder / "link"), folder / "link: it is a symbolic link, which may lead anywhere");
  EXPECT_EQ(message(folder / "link/"), folder / "link/: it is a symbolic link, which may lead anywhere");
  if (geteuid() == 0) {
    fs::create_directory(folder / "theirs");
    chmod((folder / "theirs").c_str(), 0700);
    ASSERT_EQ(chown((folder / "theirs").c_str(), 65534, 65534), 0);
    EXPECT_EQ(message(folder / "theirs"), folder / "theirs: belongs to the user 65534");
  }
}

TEST(RecordWindow, ProcessesOfOtherMachinesAnswerInFiles) {
  const Folder folder;
  std::ofstream(folder / "far-7.sock")
      << "x";  // a file system of a network shows the socket, but no client can connect
  std::ofstream(folder / "dead-8.sock") << "x";
  std::thread process([&] {
    std::string served;
    for (int i = 0; i < 400; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      std::ifstream file(folder / "request.json");
      std::string request((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
      const size_t at = request.find("\"request\":\"");
      if (at == std::string::npos || request == served) continue;
      served = request;
      const std::string number = request.substr(at + 11, 16);
      std::string answer =
          request.find("record") == std::string::npos ? StatusLine(4, 7, 20) : EndLine("complete", "rank4.opscope");
      if (const size_t mark = answer.find("%R"); mark != std::string::npos) answer.replace(mark, 2, number);
      if (answer.find("request") == std::string::npos)
        answer.replace(answer.find(",\"rank\""), 0, ",\"request\":\"" + number + "\"");
      std::ofstream(folder / "part") << answer;
      fs::permissions(folder / "part", fs::perms::owner_read | fs::perms::owner_write);
      fs::rename(folder / "part", folder / "far-7.json");
      if (request.find("\"ranks\":[[4,4]]") != std::string::npos) return;
    }
    ADD_FAILURE() << "no request to record came";
  });
  const Result<RecordReport> report = RecordOnDemand({.folder = folder.path(), .steps = 2});
  process.join();
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_EQ(report.value().rows.size(), 1U);
  EXPECT_EQ(report.value().rows[0].file, folder / "rank4.opscope");
  EXPECT_EQ(report.value().first_step, 20 + 2 + 40);  // 4 s of 100 ms each
  EXPECT_FALSE(fs::exists(folder / "request.json"));
  EXPECT_FALSE(fs::exists(folder / "far-7.json"));
}

}  // namespace
}  // namespace opscope
