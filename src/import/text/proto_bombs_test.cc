// Protobuf files that are made to hurt: lengths and counts that nothing could hold, messages within messages.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <time.h>

#include <protozero/pbf_writer.hpp>
#include <set>
#include <span>
#include <string>

#include "import/text/compress_for_test.h"
#include "import/text/proto_reader.h"
#include "opscope/import.h"

namespace opscope {
namespace {

Result<Trace> Import(const std::string& bytes, uint64_t max_memory = 0) {
  return ImportBytes(std::as_bytes(std::span(bytes)), "bomb.pb", {.max_memory = max_memory});
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kMaxCpuSeconds = 200;  // the sanitizer's
#else
constexpr double kMaxCpuSeconds = 20;
#endif

double CpuSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

bool HasProblem(const Trace& trace, std::string_view kind) {
  for (const StringId id : trace.problems().kind)
    if (trace.text(id) == kind) return true;
  return false;
}

const std::string kHuge("\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 9);  // 2^63 - 1
const std::string kPaddle(
    "\n\x05"
    "1.0.2\x10\x00\x1a",
    10);
const std::string kPlane("\x12\x05/host");

// Field, length and bytes.
std::string Field(char tag, const std::string& bytes) {
  std::string out;
  protozero::pbf_writer(out).add_bytes(static_cast<uint32_t>(tag) >> 3, bytes);
  return out;
}

TEST(ProtoBombs, LengthsOf2To63AreErrorsWithAPlace) {
  for (const std::string& bytes :
       {kPaddle + kHuge, kPaddle + "\x0a\x12" + kHuge, "\n" + kHuge + kPlane + "\x1a" + kHuge,
        Field('\n', kPlane + "\x1a" + kHuge + "\x22"), kPaddle + "\x03\x12" + kHuge.substr(0, 1)}) {
    const Result<Trace> trace = Import(bytes);
    ASSERT_FALSE(trace.ok());
    EXPECT_EQ(trace.error().code, ErrorCode::kMalformed);
    EXPECT_THAT(trace.error().message, testing::StartsWith("bomb.pb: at byte "));
  }
}

// protozero's own reader keeps 32 bits of a length and would read 2^32 + 5 as 5.
TEST(ProtoReader, ComparesLengthsAs64BitNumbers) {
  const std::string bytes = std::string("\x0a\x85\x80\x80\x80\x10", 6) + "12345";
  ProtoReader reader(bytes);
  ASSERT_TRUE(reader.Next());
  EXPECT_TRUE(reader.is_cut());
  EXPECT_FALSE(reader.Next());
  EXPECT_TRUE(reader.truncated());
}

TEST(ProtoReader, KnowsACutFromALengthThatIsWrong) {
  const std::string inner = Field('\n', std::string("\x0a\x7f") + "abc");
  const std::string bytes = inner + Field('\x12', "behind");
  ProtoReader outer(bytes);
  ASSERT_TRUE(outer.Next());
  ProtoReader message = outer.message();
  EXPECT_FALSE(message.Next());
  EXPECT_TRUE(message.failed());
  EXPECT_FALSE(message.truncated());
  EXPECT_EQ(message.failed_offset(), 3u);
  ASSERT_TRUE(outer.Next());
  EXPECT_EQ(outer.bytes(), "behind");
}

TEST(ProtoBombs, MessagesAMillionDeepArePassedOver) {
  std::string deep = "x";
  std::string all;  // from the inside out, lengths known: built backwards
  for (int i = 0; i < 1'000'000; ++i) {
    std::string head = "\x7a";
    uint64_t size = deep.size() + all.size();
    while (size >= 0x80) {
      head += static_cast<char>(size | 0x80);
      size >>= 7;
    }
    head += static_cast<char>(size);
    all.append(head.rbegin(), head.rend());
  }
  const std::string nested = std::string(all.rbegin(), all.rend()) + deep;
  const std::string event = Field('\x22', std::string("\x08\x01\x10\x00\x18\x05", 6) + nested);
  const Result<Trace> trace = Import(Field('\n', kPlane + Field('\x1a', event) + nested) + nested);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().spans().size(), 1u);
  EXPECT_TRUE(Import(kPaddle.substr(0, 9) + nested).ok());
}

// Two bytes an event, 10^9 of them: gzip makes a few megabytes of it.
TEST(ProtoBombs, ABillionEmptyEventsStopAtTheMemoryLimit) {
  constexpr size_t kPiece = size_t{16} << 20;
  std::string piece;
  while (piece.size() < kPiece)
    piece.append("\x22\x00", 2);
  // A plane and a line of 2^32 bytes.
  std::string file = Gzip("\n\xff\xff\xff\xff\x0f" + kPlane + "\x1a\xf0\xff\xff\xff\x0f");
  const std::string member = Gzip(piece);
  for (size_t size = 0; size < 2'000'000'000; size += kPiece)
    file += member;
  const double began = CpuSeconds();
  const Result<Trace> trace = Import(file, uint64_t{128} << 20);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_TRUE(HasProblem(trace.value(), "over_memory_limit"));
  EXPECT_LT(CpuSeconds() - began, kMaxCpuSeconds);
}

// What has to be looked up is found without a walk over all others.
TEST(ProtoBombs, ManyOfEverythingTakeNoLongerThanTheyAreMany) {
  constexpr int kMany = 100'000;
  std::string planes, threads = kPaddle.substr(0, 9), events, keys = "{\"traceEvents\": []";
  const std::string long_stat =
      Field('\x2a', std::string("\x08\x01\x2a", 3) + std::string("\xff\xff\x03", 3) + std::string(65535, 'x'));
  for (int i = 0; i < kMany; ++i) {
    const std::string number = std::to_string(i);
    std::string name, call;
    protozero::pbf_writer(name).add_string(2, "/device:GPU:0 piece " + number);
    planes += Field('\n', name + Field('\x1a', Field('\x22', std::string("\x10\x05", 2))));
    protozero::pbf_writer writer(call);
    writer.add_uint64(6, static_cast<uint64_t>(i));
    threads += Field('\x1a', Field('\x12', Field('\x1a', call)));
    std::string info;
    protozero::pbf_writer info_writer(info);
    info_writer.add_string(1, number);
    info_writer.add_string(2, "t" + number);
    threads += Field('\x22', info);
    events += Field('\x22', std::string("\x08\x07\x22\x04\x08\x02\x20", 7) + static_cast<char>(i & 0x7f));
    keys += ", \"k" + number + "\": 1";
  }
  std::string entry = std::string("\x08\x07", 2) + Field('\x12', std::string("\x12\x01n", 3) + long_stat + long_stat);
  const std::string shared = Field('\n', kPlane + Field('\x1a', events) + Field('\x22', entry));
  const double began = CpuSeconds();
  EXPECT_EQ(Import(planes).value().processes().size(), static_cast<size_t>(kMany));
  const Result<Trace> named = Import(threads);
  EXPECT_EQ(named.value().tracks().size(), static_cast<size_t>(kMany));
  EXPECT_EQ(named.value().text(named.value().tracks().name[kMany - 1]), "thread 99999:t99999(C++)");
  const Result<Trace> events_of_a_name = Import(shared);
  EXPECT_EQ(events_of_a_name.value().spans().size(), static_cast<size_t>(kMany));
  EXPECT_LT(events_of_a_name.value().memory_bytes(), uint64_t{32} << 20);
  EXPECT_EQ(Import(keys + "}").value().metadata().size(), static_cast<size_t>(kMany));
  EXPECT_LT(CpuSeconds() - began, kMaxCpuSeconds);
}

// Planes of one number are moved to those of the other planes.
TEST(ProtoBombs, PlanesThatWantEachOthersNumbersGetNumbersSoon) {
  constexpr int kMany = 100'000;
  std::string planes;
  const auto add = [&](int64_t number) {
    std::string plane, key, stat;
    protozero::pbf_writer key_writer(key), stat_writer(stat);
    key_writer.add_int64(1, 1);
    key_writer.add_message(2, Field('\x12', "process_id"));
    stat_writer.add_int64(1, 1);
    stat_writer.add_int64(4, number);
    plane =
        kPlane + Field('\x1a', Field('\x22', std::string("\x10\x05", 2))) + Field('\x2a', key) + Field('\x32', stat);
    planes += Field('\n', plane);
  };
  for (int i = 0; i < kMany; ++i)
    add(0);
  for (int i = 1; i <= kMany; ++i)
    add(int64_t{1000} * i);
  for (int i = 0; i < 3; ++i)
    add(INT64_MAX);
  const double began = CpuSeconds();
  const Result<Trace> trace = Import(planes);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const std::span<const int64_t> pids = trace.value().processes().pid;
  EXPECT_EQ(std::set<int64_t>(pids.begin(), pids.end()).size(), static_cast<size_t>(2 * kMany + 3));
  EXPECT_EQ(pids[kMany - 1], int64_t{1000} * (kMany - 1));
  EXPECT_EQ(pids[2 * kMany], INT64_MAX);
  EXPECT_LT(CpuSeconds() - began, kMaxCpuSeconds);
}

TEST(ProtoBombs, EventsOfANameWithHundredsOfStatsAreReadSoon) {
  constexpr int kEvents = 50'000, kStats = 450;
  std::string events, stats, names;
  for (int i = 0; i < kEvents; ++i)
    events += Field('\x22', std::string("\x08\x07\x18\x01", 4));
  for (int i = 1; i <= kStats; ++i) {
    std::string stat, entry;
    protozero::pbf_writer stat_writer(stat), entry_writer(entry);
    stat_writer.add_int64(1, i);
    stat_writer.add_int64(4, i);
    stats += Field('\x2a', stat);
    entry_writer.add_int64(1, i);
    entry_writer.add_message(2, Field('\x12', "s" + std::to_string(i)));
    names += Field('\x2a', entry);
  }
  const std::string event_name = std::string("\x08\x07", 2) + Field('\x12', std::string("\x12\x01n", 3) + stats);
  const std::string plane = kPlane + Field('\x1a', events) + Field('\x22', event_name) + names;
  const double began = CpuSeconds();
  const Result<Trace> trace = Import(Field('\n', plane));
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  ASSERT_EQ(trace.value().spans().size(), static_cast<size_t>(kEvents));
  const std::string_view members = trace.value().text(trace.value().spans().extra[kEvents - 1]);
  EXPECT_TRUE(members.starts_with("\"s1\": 1, \"s2\": 2, ") && members.ends_with(", \"s64\": 64")) << members;
  EXPECT_TRUE(HasProblem(trace.value(), "bad_value"));
  EXPECT_LT(CpuSeconds() - began, kMaxCpuSeconds);
}

TEST(ProtoBombs, NamesAndEventsStopAtTheMemoryLimit) {
  std::string names, events;
  protozero::pbf_writer plane_writer(names);
  for (int i = 0; i < 400'000; ++i) {
    protozero::pbf_writer entry(plane_writer, 4);
    entry.add_int64(1, i);
    entry.add_bytes(2, std::string("\x12\x01x", 3));
  }
  for (int i = 0; i < 1'000'000; ++i)
    events.append("\x22\x00", 2);
  for (const std::string& plane :
       {kPlane + Field('\x1a', std::string("\x22\x00", 2)) + names, kPlane + Field('\x1a', events)}) {
    const Result<Trace> trace = Import(Field('\n', plane), uint64_t{16} << 20);
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_TRUE(HasProblem(trace.value(), "over_memory_limit"));
    EXPECT_LT(trace.value().memory_bytes(), uint64_t{16} << 20);
  }
}

}  // namespace
}  // namespace opscope
