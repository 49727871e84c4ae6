// What one thread writes: order, depth, names, payloads, chunk after chunk.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "opscope/scope.h"
#include "recorder/decoded_window_for_test.h"

namespace opscope {
namespace {

// "name(children...)" of a forest, rebuilt from post-order and depth.
std::string Rebuild(const std::vector<DecodedRecord>& records) {
  struct Pending {
    Record record;
    std::string text;
  };
  std::vector<Pending> pending;
  for (const DecodedRecord& decoded : records) {
    size_t first = pending.size();
    while (first > 0 && pending[first - 1].record.depth > decoded.record.depth &&
           pending[first - 1].record.start >= decoded.record.start) {
      --first;
    }
    std::string text = decoded.name;
    if (first < pending.size()) {
      text += "(";
      for (size_t i = first; i < pending.size(); ++i)
        text += (i == first ? "" : " ") + pending[i].text;
      text += ")";
    }
    pending.resize(first);
    pending.push_back({decoded.record, text});
  }
  std::string forest;
  for (const Pending& root : pending)
    forest += (forest.empty() ? "" : " ") + root.text;
  return forest;
}

TEST(ScopeRecord, NestingIsRebuiltFromOrderAndDepth) {
  OwnedWindow window = OpenTestWindow();
  {
    OPSCOPE_SCOPE("a");
    {
      OPSCOPE_SCOPE("b");
    }
    {
      OPSCOPE_SCOPE("c");
      {
        OPSCOPE_SCOPE("d");
      }
    }
  }
  {
    OPSCOPE_SCOPE("e");
  }
  EXPECT_EQ(Rebuild(CloseAndDecode(window.get()).only_thread().records), "a(b c(d)) e");
}

// A random forest, written and described at the same time.
struct RandomForest {
  Stream* stream;
  std::mt19937 random;
  int names = 0;

  std::string Write(int depth) {
    std::string text;
    const int count = depth > 5 ? 0 : static_cast<int>(random() % 5);
    for (int i = 0; i < count; ++i) {
      const std::string name = "n" + std::to_string(names++ % 700);
      OpenScope* scope = OpenNamed(stream, name);
      const std::string inside = Write(depth + 1);
      End(scope);
      text += (i == 0 ? "" : " ") + name + (inside.empty() ? "" : "(" + inside + ")");
    }
    return text;
  }
};

TEST(ScopeRecord, RandomForestsAreRebuiltExactly) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (uint32_t round = 0; round < 200; ++round) {
    OwnedWindow window = OpenTestWindow();
    RandomForest forest{StreamIn(window), std::mt19937(seed + round)};
    const std::string expected = forest.Write(0);
    ASSERT_EQ(Rebuild(CloseAndDecode(window.get()).only_thread().records), expected);
  }
}

TEST(ScopeRecord, OpenScopesMoveOnWithEveryNewChunk) {
  OwnedWindow window = OpenTestWindow();
  Stream* stream = StreamIn(window);
  constexpr int kDeep = 300;
  constexpr int kInner = 100000;  // a dozen chunks
  std::vector<OpenScope*> open;
  for (int i = 0; i < kDeep; ++i)
    open.push_back(OpenNumbered(stream, "deep", static_cast<uint64_t>(i)));
  for (int i = 0; i < kInner; ++i)
    End(OpenNumbered(stream, "inner", static_cast<uint64_t>(i)));
  for (; !open.empty(); open.pop_back())
    End(open.back());
  const DecodedWindow decoded = CloseAndDecode(window.get());
  const auto& records = decoded.only_thread().records;
  ASSERT_EQ(records.size(), static_cast<size_t>(kDeep + kInner));
  EXPECT_GT(decoded.only_thread().sequences.size(), 10u);
  for (int i = 0; i < kInner; ++i) {
    ASSERT_EQ(records[static_cast<size_t>(i)].name, "inner");
    ASSERT_EQ(records[static_cast<size_t>(i)].handle, static_cast<uint64_t>(i));
    ASSERT_EQ(records[static_cast<size_t>(i)].record.depth, kDeep);
  }
  for (int i = 0; i < kDeep; ++i) {
    const DecodedRecord& record = records[static_cast<size_t>(kInner + kDeep - 1 - i)];
    ASSERT_EQ(record.name, "deep");
    ASSERT_EQ(record.handle, static_cast<uint64_t>(i));
    ASSERT_EQ(record.record.depth, i);
  }
}

TEST(ScopeRecord, ScopesDeeperThanTheDepthFieldStayAtItsEnd) {
  OwnedWindow window = OpenTestWindow();
  Stream* stream = StreamIn(window);
  std::vector<OpenScope*> open;
  for (int i = 0; i < 70000; ++i)
    open.push_back(OpenNamed(stream, "x"));
  for (; !open.empty(); open.pop_back())
    End(open.back());
  const DecodedWindow decoded = CloseAndDecode(window.get());
  ASSERT_EQ(decoded.only_thread().records.size(), 70000u);
  EXPECT_EQ(decoded.only_thread().records.front().record.depth, 65535);
  EXPECT_EQ(decoded.only_thread().records.back().record.depth, 0);
}

TEST(ScopeRecord, NamesOfAnyBytesAndSizesSurvive) {
  std::string all_bytes;
  for (int i = 0; i < 256; ++i)
    all_bytes.push_back(static_cast<char>(i));
  const std::vector<std::string> names = {
      "",         "plain",      "quote\" back\\slash",    "line\nfeed\ttab",        all_bytes,
      "\xff\xfe", "\U0001F600", std::string(100000, 'x'), std::string(3000000, 'y')};
  OwnedWindow window = OpenTestWindow();
  Stream* stream = StreamIn(window);
  for (int round = 0; round < 3; ++round) {
    std::vector<OpenScope*> open;  // all at once, so that the huge ones move on with the others
    for (const std::string& name : names)
      open.push_back(OpenNamed(stream, name));
    for (; !open.empty(); open.pop_back())
      End(open.back());
  }
  const DecodedWindow decoded = CloseAndDecode(window.get());
  const auto& records = decoded.only_thread().records;
  ASSERT_EQ(records.size(), 3 * names.size());
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].name, names[names.size() - 1 - i % names.size()]) << i;
  }
}

TEST(ScopeRecord, AHugeNameAndAHugePayloadMeetInOneChunk) {
  OwnedWindow window = OpenTestWindow();
  Stream* stream = StreamIn(window);
  const std::string name(200000, 'n');
  constexpr uint32_t kBytes = 200000;
  int calls = 0;
  const NameAndRoom room = InternAndReserve(stream, kBytes, [&] {
    ++calls;
    return opscope_intern_slow(stream, name.data(), name.size());
  });
  ASSERT_NE(room.payload, nullptr);
  EXPECT_LE(calls, 4);
  PayloadHeader header;
  header.bytes = kBytes;
  std::memcpy(room.payload, &header, sizeof(header));
  End(OpenScopeOn(stream, room.name, OffsetInChunk(stream, room.payload), RecordSource::kAnnotation, 0));
  const DecodedWindow decoded = CloseAndDecode(window.get());
  ASSERT_EQ(decoded.only_thread().records.size(), 1u);
  EXPECT_EQ(decoded.only_thread().records[0].name, name);
}

TEST(ScopeRecord, NamesThatAreInternedTogetherLieInOneChunk) {
  OwnedWindow window = OpenTestWindow();
  Stream* stream = StreamIn(window);
  struct Payload {
    PayloadHeader header;
    uint32_t words[2] = {0, 0};  // the overload, and what fills up the last 8 bytes
  } payload;
  payload.header.bytes = sizeof(payload);
  payload.header.fields = payload_fields::kOverload;
  const auto text_of = [](const char* what, int round) {
    return what + std::to_string(round) + std::string(static_cast<size_t>(7919 * round % 30011), '.');
  };
  constexpr int kRounds = 400;  // some chunks end between the two names
  for (int round = 0; round < kRounds; ++round) {
    const std::string overload = text_of("overload", round), name = text_of("name", round + 1);
    const NameAndRoom room = InternAndReserve(stream, sizeof(payload), [&] {
      payload.words[0] = InternText(stream, overload.data(), overload.size());
      return InternText(stream, name.data(), name.size());
    });
    ASSERT_NE(room.payload, nullptr);
    std::memcpy(room.payload, &payload, sizeof(payload));
    End(OpenScopeOn(stream, room.name, OffsetInChunk(stream, room.payload), RecordSource::kTorch, 0));
  }
  const DecodedWindow decoded = CloseAndDecode(window.get());
  const auto& records = decoded.only_thread().records;
  ASSERT_EQ(records.size(), size_t{kRounds});
  ASSERT_GT(decoded.only_thread().sequences.size(), 10u);
  for (int round = 0; round < kRounds; ++round) {
    ASSERT_EQ(records[static_cast<size_t>(round)].name, text_of("name", round + 1)) << round;
    ASSERT_EQ(records[static_cast<size_t>(round)].overload, text_of("overload", round)) << round;
  }
}

TEST(ScopeRecord, ANameThatIsChangedInPlaceIsCopied) {
  OwnedWindow window = OpenTestWindow();
  char name[8] = "first";
  {
    Scope scope(name);
  }
  std::memcpy(name, "other", 6);
  {
    Scope scope(name);
  }
  const DecodedWindow decoded = CloseAndDecode(window.get());
  ASSERT_EQ(decoded.only_thread().records.size(), 2u);
  EXPECT_EQ(decoded.only_thread().records[0].name, "first");
  EXPECT_EQ(decoded.only_thread().records[1].name, "other");
}

TEST(ScopeRecord, AnAddressUsedForCopiedTextProvesNothingForStableText) {
  OwnedWindow window = OpenTestWindow();
  Stream* stream = StreamIn(window);
  static char place[8] = "before";
  const uint32_t copied = InternText(stream, place);
  std::memcpy(place, "after", 6);
  EXPECT_NE(InternStable(stream, place), copied);
}

TEST(ScopeRecord, ANameStandsOncePerChunk) {
  OwnedWindow window = OpenTestWindow();
  Stream* stream = StreamIn(window);
  const std::string one = "same text", two = "same text";
  EXPECT_EQ(InternText(stream, one.c_str()), InternText(stream, two.c_str()));
  EXPECT_EQ(InternText(stream, one.c_str()), opscope_intern_slow(stream, "same text", 9));
}

// Each text stands at its own place, also where the look-up without a call meets texts that share a slot.
TEST(ScopeRecord, TextsOfOneSizeAreToldApartByEveryByte) {
  OwnedWindow window = OpenTestWindow();
  Stream* stream = StreamIn(window);
  for (size_t size = 1; size <= 40; ++size) {
    std::map<std::string, uint32_t> offsets;
    for (size_t changed = 0; changed <= size; ++changed) {
      std::string text(size, 'a');
      if (changed < size) text[changed] = 'b';
      offsets[text] = InternText(stream, text.data(), text.size());
    }
    for (const auto& [text, offset] : offsets) {
      const auto* name = reinterpret_cast<const NameEntry*>(reinterpret_cast<const char*>(stream->chunk) + offset);
      EXPECT_EQ(std::string(reinterpret_cast<const char*>(name + 1), name->size), text);
      const std::string elsewhere = text;
      EXPECT_EQ(InternText(stream, elsewhere.data(), elsewhere.size()), offset);
      EXPECT_EQ(InternText(stream, elsewhere.c_str()), offset);
    }
  }
}

// Where the name of an operator lies another one's may lie later: the place is a guess, the bytes are the proof.
TEST(ScopeRecord, TextsThatLieAtOnePlaceOneAfterTheOtherAreToldApart) {
  OwnedWindow window = OpenTestWindow();
  Stream* stream = StreamIn(window);
  char place[64] = {};
  for (const std::string text : {"aten::add", "aten::mul", "aten::add_", "aten::a_name_of_more_than_thirty_two_bytes",
                                 "aten::a_name_of_more_than_thirty_ten_bytes", "aten::add"}) {
    std::memcpy(place, text.data(), text.size());
    const NameCacheEntry* known = InternEntryAt(stream, place, text.size());
    ASSERT_NE(known, nullptr);
    EXPECT_EQ(known->offset, opscope_intern_slow(stream, text.data(), text.size())) << text;
    EXPECT_EQ(InternEntryAt(stream, place, text.size()), known);
  }
}

TEST(ScopeRecord, ExceptionsEndTheScopesTheyPass) {
  OwnedWindow window = OpenTestWindow();
  try {
    OPSCOPE_SCOPE("outer");
    OPSCOPE_SCOPE("inner");
    throw std::runtime_error("thrown on purpose");
  } catch (const std::runtime_error&) {
  }
  const DecodedWindow decoded = CloseAndDecode(window.get());
  EXPECT_EQ(Rebuild(decoded.only_thread().records), "outer(inner)");
  for (const DecodedRecord& record : decoded.only_thread().records)
    EXPECT_FALSE(record.unfinished());
}

TEST(ScopeRecord, AScopeThatEndsBeforeItsInnerOneLeavesTheNesting) {
  OwnedWindow window = OpenTestWindow();
  Stream* stream = StreamIn(window);
  OpenScope* outer = OpenNamed(stream, "outer");
  OpenScope* crossing = OpenNamed(stream, "crossing");
  OpenScope* inner = OpenNamed(stream, "inner");
  End(crossing);
  End(inner);
  End(outer);
  const DecodedWindow decoded = CloseAndDecode(window.get());
  const auto& records = decoded.only_thread().records;
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].name, "crossing");
  EXPECT_EQ(records[0].record.kind, RecordKind::kAsync);
  EXPECT_EQ(records[0].record.flags, record_flags::kCrossing);
  EXPECT_EQ(records[1].record.kind, RecordKind::kScope);
  EXPECT_EQ(records[2].record.kind, RecordKind::kScope);
}

TEST(ScopeRecord, AnAsynchronousScopeLeavesTheOnesAroundItInTheNesting) {
  OwnedWindow window = OpenTestWindow();
  Stream* stream = StreamIn(window);
  OpenScope* outer = OpenNamed(stream, "outer");
  OpenScope* async = OpenNamed(stream, "async", RecordKind::kAsync);
  OpenScope* inner = OpenNamed(stream, "inner");
  End(inner);
  End(outer);
  OpenScope* later = OpenNamed(stream, "later");
  End(OpenNamed(stream, "within"));
  End(later);
  End(async);
  End(OpenNamed(stream, "last"));
  DecodedWindow decoded = CloseAndDecode(window.get());
  std::vector<DecodedRecord> nested = decoded.only_thread().records;
  ASSERT_EQ(nested.size(), 6u);
  EXPECT_EQ(nested[4].name, "async");
  EXPECT_EQ(nested[4].record.kind, RecordKind::kAsync);
  nested.erase(nested.begin() + 4);
  for (const DecodedRecord& record : nested)
    EXPECT_EQ(record.record.kind, RecordKind::kScope) << record.name;
  EXPECT_EQ(Rebuild(nested), "outer(inner) later(within) last");
}

TEST(ScopeRecord, AScopeReleasedWithoutAnEndCountsAsDropped) {
  OwnedWindow window = OpenTestWindow();
  Stream* stream = StreamIn(window);
  OpenScope* outer = OpenNamed(stream, "outer");
  ReleaseScope(OpenNamed(stream, "abandoned"));
  End(outer);
  const DecodedWindow decoded = CloseAndDecode(window.get());
  EXPECT_EQ(Rebuild(decoded.only_thread().records), "outer");
  EXPECT_EQ(decoded.only_thread().dropped, 1u);
}

TEST(ScopeRecord, ValuesWithoutDurationKeepTheirKindAndValue) {
  OwnedWindow window = OpenTestWindow();
  Counter("loss", 0.25);
  Instant("now");
  FlowBegin("flow", 7);
  FlowEnd("flow", 7);
  const DecodedWindow decoded = CloseAndDecode(window.get());
  const auto& records = decoded.only_thread().records;
  ASSERT_EQ(records.size(), 4u);
  double value;
  std::memcpy(&value, &records[0].record.value, sizeof(value));
  EXPECT_EQ(value, 0.25);
  EXPECT_EQ(records[0].record.kind, RecordKind::kCounter);
  EXPECT_EQ(records[1].record.kind, RecordKind::kInstant);
  EXPECT_EQ(records[2].record.kind, RecordKind::kFlowBegin);
  EXPECT_EQ(records[3].record.kind, RecordKind::kFlowEnd);
  EXPECT_EQ(records[3].record.value, 7u);
  EXPECT_EQ(records[3].name, "flow");
}

TEST(ScopeRecord, TimesLieBetweenTheCalibrationsOfOpeningAndClose) {
  OwnedWindow window = OpenTestWindow();
  {
    OPSCOPE_SCOPE("timed");
  }
  const DecodedWindow decoded = CloseAndDecode(window.get());
  const size_t list = decoded.info.find("\"calibrations\":[[");
  ASSERT_NE(list, std::string::npos);
  const uint64_t first = std::strtoull(decoded.info.c_str() + list + 17, nullptr, 10);
  const size_t last_at = decoded.info.rfind('[', decoded.info.find("]]", list));
  const uint64_t last = std::strtoull(decoded.info.c_str() + last_at + 1, nullptr, 10);
  const Record& record = decoded.only_thread().records.at(0).record;
  EXPECT_LE(first, record.start);
  EXPECT_LE(record.start + record.value, last);
}

}  // namespace
}  // namespace opscope
