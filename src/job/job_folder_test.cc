// SPDX-License-Identifier: Apache-2.0
#include "job/job_folder.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace opscope {
namespace {

namespace fs = std::filesystem;

class JobFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "opscope_job_XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    job_ = (root_ / "job").string();
  }
  void TearDown() override { fs::remove_all(root_); }

  void Put(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << text;
  }
  static PartManifest Part(const std::string& name, std::vector<std::string> sha256, const std::string& path) {
    return {name, std::move(sha256), {{"spans", path, 3}}, {}};
  }

  fs::path root_;
  std::string job_;
};

TEST_F(JobFolderTest, KeepsWhatIsAdded) {
  Result<JobFolder> folder = JobFolder::OpenOrCreate(job_, 4);
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  ASSERT_TRUE(folder.value().Add(Part("b", {"22"}, "spans/bucket=0/part-b.parquet")).ok());
  ASSERT_TRUE(folder.value().Add(Part("a", {"11"}, "spans/bucket=0/part-a.parquet")).ok());
  const Result<JobFolder> again = JobFolder::Open(job_);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again.value().bucket_ranks(), 4u);
  EXPECT_TRUE(again.value().Has("11"));
  EXPECT_FALSE(again.value().Has("33"));
  EXPECT_EQ(again.value().FilesOf("spans"), (std::vector<std::string>{job_ + "/spans/bucket=0/part-a.parquet",
                                                                      job_ + "/spans/bucket=0/part-b.parquet"}));
  EXPECT_TRUE(again.value().FilesOf("steps").empty());
  EXPECT_EQ(again.value().CountRows("spans"), 6u);
  EXPECT_EQ(again.value().CountRows("steps"), 0u);
}

TEST_F(JobFolderTest, CountsARepeatedFileOnce) {
  Result<JobFolder> folder = JobFolder::OpenOrCreate(job_, 4);
  ASSERT_TRUE(folder.value().Add(Part("a", {"11"}, "one")).ok());
  ASSERT_TRUE(folder.value().Add(Part("b", {"22", "11"}, "two")).ok());
  const Result<JobFolder> again = JobFolder::Open(job_);
  for (const JobFolder* seen : {static_cast<const JobFolder*>(&folder.value()), &again.value()}) {
    ASSERT_EQ(seen->parts().size(), 1u);
    EXPECT_EQ(seen->parts()[0].name, "b");
    ASSERT_EQ(seen->superseded().size(), 1u);
    EXPECT_EQ(seen->superseded()[0].name, "a");
  }
}

// Which names come first is chance: a file's name begins with its SHA-256, a compaction's with "compact".
TEST_F(JobFolderTest, NothingIsLostWhereCompactionsAndCollectsOverlap) {
  for (const bool late_first : {true, false}) {
    for (const bool first_first : {true, false}) {
      fs::remove_all(root_ / "job");
      Result<JobFolder> folder = JobFolder::OpenOrCreate(job_, 4);
      for (const char* name : {"A", "B", "D"})
        ASSERT_TRUE(folder.value().Add(Part(name, {name}, name)).ok());
      PartManifest first = Part(first_first ? "1" : "9", {"A", "B"}, "first");  // began before D was added
      first.replaces = {"A", "B"};
      PartManifest second = Part("5", {"A", "B", "D"}, "second");
      second.replaces = {"A", "B", "D"};
      ASSERT_TRUE(folder.value().Add(second).ok());
      ASSERT_TRUE(folder.value().Add(first).ok());
      ASSERT_TRUE(folder.value().Add(Part(late_first ? "0" : "Z", {"A"}, "late")).ok());  // also began before
      ASSERT_TRUE(folder.value().RemoveSuperseded().ok());
      const Result<JobFolder> again = JobFolder::Open(job_);
      ASSERT_TRUE(again.ok());
      EXPECT_EQ(again.value().FilesOf("spans"), std::vector<std::string>{job_ + "/second"});
      EXPECT_EQ(again.value().superseded().size(), 0u);
    }
  }
}

TEST_F(JobFolderTest, AManifestTakesTheOnesThatItReplacesOut) {
  Result<JobFolder> folder = JobFolder::OpenOrCreate(job_, 4);
  ASSERT_TRUE(folder.value().Add(Part("a", {"11"}, "one")).ok());
  ASSERT_TRUE(folder.value().Add(Part("b", {"22"}, "two")).ok());
  PartManifest joined = Part("c", {"11", "22"}, "three");
  joined.replaces = {"a", "b"};
  ASSERT_TRUE(folder.value().Add(joined).ok());
  const Result<JobFolder> again = JobFolder::Open(job_);
  EXPECT_EQ(again.value().FilesOf("spans"), std::vector<std::string>{job_ + "/three"});
  EXPECT_EQ(folder.value().FilesOf("spans"), again.value().FilesOf("spans"));
  EXPECT_EQ(again.value().superseded().size(), 2u);
}

TEST_F(JobFolderTest, AManifestOfAnotherProgramMayDropAFile) {
  Result<JobFolder> folder = JobFolder::OpenOrCreate(job_, 4);
  ASSERT_TRUE(folder.value().Add(Part("a", {"11"}, "one")).ok());
  ASSERT_TRUE(folder.value().Add(Part("b", {"22"}, "two")).ok());
  PartManifest other = Part("c", {"11"}, "three");
  other.replaces = {"a", "b"};
  ASSERT_TRUE(folder.value().Add(other).ok());
  const Result<JobFolder> again = JobFolder::Open(job_);
  EXPECT_EQ(again.value().FilesOf("spans"), std::vector<std::string>{job_ + "/three"});
  EXPECT_EQ(folder.value().FilesOf("spans"), again.value().FilesOf("spans"));
  EXPECT_FALSE(again.value().Has("22"));
  ASSERT_TRUE(folder.value().RemoveSuperseded().ok());
  EXPECT_TRUE(fs::exists(root_ / "job/_opscope/parts/b.json")) << "it alone has a file";
}

TEST_F(JobFolderTest, RemoveSupersededKeepsFilesThatLivePartsList) {
  Result<JobFolder> folder = JobFolder::OpenOrCreate(job_, 4);
  Put("job/one", "1");
  Put("job/shared", "2");
  Put("job/repeated", "3");
  PartManifest old = Part("a", {"11"}, "one");
  old.files.push_back({"traces", "shared", 1});
  ASSERT_TRUE(folder.value().Add(old).ok());
  PartManifest joined = Part("c", {"11"}, "shared");
  joined.replaces = {"a"};
  ASSERT_TRUE(folder.value().Add(joined).ok());
  ASSERT_TRUE(folder.value().Add(Part("d", {"11"}, "repeated")).ok());
  ASSERT_EQ(folder.value().superseded().size(), 2u);
  ASSERT_TRUE(folder.value().RemoveSuperseded().ok());
  EXPECT_TRUE(folder.value().superseded().empty());
  EXPECT_FALSE(fs::exists(root_ / "job/one"));
  EXPECT_FALSE(fs::exists(root_ / "job/repeated"));
  EXPECT_TRUE(fs::exists(root_ / "job/shared"));
  const Result<JobFolder> again = JobFolder::Open(job_);
  EXPECT_EQ(again.value().superseded().size(), 0u);
  ASSERT_EQ(again.value().parts().size(), 1u);
  EXPECT_EQ(again.value().parts()[0].name, "c");
}

// Each round of the writer is a compaction: it opens the folder, removes what the round before replaced, and replaces
// all parts.
TEST_F(JobFolderTest, OpenWhileManifestsAreReplacedAndRemovedSeesAllParts) {
  constexpr int kRounds = 400;
  Result<JobFolder> folder = JobFolder::OpenOrCreate(job_, 4);
  for (int i = 0; i < 8; ++i)
    ASSERT_TRUE(folder.value().Add(Part("first" + std::to_string(i), {std::to_string(i)}, "file")).ok());
  std::atomic<bool> has_ended = false;
  std::thread writer([&] {
    for (int round = 0; round < kRounds; ++round) {
      Result<JobFolder> own = JobFolder::Open(job_);
      ASSERT_TRUE(own.ok()) << own.error().message;
      EXPECT_TRUE(own.value().RemoveSuperseded().ok());
      // Two parts of a round, and names that do not follow the order of the rounds.
      for (const char* half : {"a", "b"}) {
        PartManifest joined = Part(half + JobFolder::NewName("compact"), {}, "file");
        const std::vector<PartManifest>& parts = own.value().parts();
        for (const PartManifest& part : parts) {
          const bool is_own = (part.sha256[0] < "4") == (*half == 'a');
          if (is_own) joined.replaces.push_back(part.name);
          if (is_own) joined.sha256.insert(joined.sha256.end(), part.sha256.begin(), part.sha256.end());
        }
        EXPECT_TRUE(own.value().Add(joined).ok());
      }
    }
    has_ended = true;
  });
  while (!has_ended) {
    const Result<JobFolder> opened = JobFolder::Open(job_);
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    for (int i = 0; opened.ok() && i < 8; ++i)
      EXPECT_TRUE(opened.value().Has(std::to_string(i))) << i;
    if (HasFailure()) break;
  }
  writer.join();
}

TEST_F(JobFolderTest, AManifestThatCannotBeReadIsAnError) {
  ASSERT_TRUE(JobFolder::OpenOrCreate(job_, 4).ok());
  fs::create_symlink("nowhere", root_ / "job/_opscope/parts/link.json");
  const Result<JobFolder> opened = JobFolder::Open(job_);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::kIo);
  EXPECT_NE(opened.error().message.find("link.json"), std::string::npos) << opened.error().message;
}

TEST_F(JobFolderTest, RefusesOtherFoldersAndNewerVersions) {
  EXPECT_EQ(JobFolder::Open(job_).error().code, ErrorCode::kInvalidArgument);
  Put("other/file", "x");
  EXPECT_EQ(JobFolder::OpenOrCreate((root_ / "other").string(), 4).error().code, ErrorCode::kInvalidArgument);
  Put("job/_opscope/job.json", R"({"format": "opscope-job", "version": 2, "bucket_ranks": 128})");
  const Error newer = JobFolder::Open(job_).error();
  EXPECT_EQ(newer.code, ErrorCode::kUnsupported);
  EXPECT_NE(newer.message.find("version 2"), std::string::npos) << newer.message;
}

TEST_F(JobFolderTest, NamesAWrongManifest) {
  for (const std::string text :
       {"", "{", "[]", "{}", R"({"sha256": [1], "files": [], "replaces": []})",
        R"({"sha256": [], "files": [{"table": "spans", "path": "../x", "rows": 1}], "replaces": []})",
        R"({"sha256": [], "files": [{"table": "spans", "path": "/etc/passwd", "rows": 1}], "replaces": []})",
        R"({"sha256": [], "files": [{"table": "spans", "path": "a/../../x", "rows": 1}], "replaces": []})"}) {
    fs::remove_all(job_);
    ASSERT_TRUE(JobFolder::OpenOrCreate(job_, 4).ok());
    Put("job/_opscope/parts/bad.json", text);
    const Result<JobFolder> opened = JobFolder::Open(job_);
    ASSERT_FALSE(opened.ok()) << text;
    EXPECT_NE(opened.error().message.find("bad.json"), std::string::npos) << opened.error().message;
  }
}

TEST_F(JobFolderTest, SeveralMayMakeItAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this, i] {
      Result<JobFolder> folder = JobFolder::OpenOrCreate(job_, 4);
      ASSERT_TRUE(folder.ok()) << folder.error().message;
      const std::string name = std::to_string(i);
      EXPECT_TRUE(folder.value().Add(Part(name, {name}, "file" + name)).ok());
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(JobFolder::Open(job_).value().parts().size(), 8u);
}

}  // namespace
}  // namespace opscope
