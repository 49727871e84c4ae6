// SPDX-License-Identifier: Apache-2.0
#include "control/control_message.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>

namespace opscope {
namespace {

constexpr std::string_view kStatusLine =
    R"({"version":1,"rank":3,"host":"node-1","pid":4711,"framework":"torch","last_step":70,"step_ns":9000000,)"
    R"("state":"ready","why_not":""})";
constexpr std::string_view kEndLine =
    R"({"version":1,"request":"0123456789abcdef","status":"complete","file":"rank3-a0-node_1-4711-1.opscope","why_not":""})";

std::string With(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

bool IsAnswer(const std::string& text) {
  return ReadAnswer(text).ok();
}

TEST(ControlMessage, AnswersOfEachKindAreRead) {
  const Result<ControlAnswer> status = ReadAnswer(kStatusLine);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(status.value().kind, ControlAnswer::Kind::kStatus);
  const ControlProcess& process = status.value().process;
  EXPECT_EQ(process.rank, 3);
  EXPECT_EQ(process.host, "node-1");
  EXPECT_EQ(process.pid, 4711);
  EXPECT_EQ(process.framework, "torch");
  EXPECT_EQ(process.last_step, 70);
  EXPECT_EQ(process.step_ns, 9'000'000);
  EXPECT_EQ(process.state, ControlState::kReady);

  const Result<ControlAnswer> end = ReadAnswer(std::string(kEndLine) + "\n");
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end.value().kind, ControlAnswer::Kind::kWindow);
  EXPECT_EQ(end.value().status, WindowStatus::kComplete);
  EXPECT_EQ(end.value().request, "0123456789abcdef");
  EXPECT_EQ(end.value().file, "rank3-a0-node_1-4711-1.opscope");

  const Result<ControlAnswer> refused = ReadAnswer(R"({"version":1,"error":"8 clients are connected"})");
  ASSERT_TRUE(refused.ok());
  EXPECT_EQ(refused.value().kind, ControlAnswer::Kind::kRefused);
  EXPECT_EQ(refused.value().why_not, "8 clients are connected");
}

TEST(ControlMessage, AnythingElseIsNoAnswer) {
  const std::string status(kStatusLine), end(kEndLine);
  ASSERT_TRUE(IsAnswer(status) && IsAnswer(end));
  for (const std::string& text : {std::string(),
                                  std::string("[]"),
                                  std::string(kMaxControlMessage + 1, ' '),
                                  std::string(4000, '['),
                                  With(status, "\"version\":1", "\"version\":2"),
                                  With(status, "\"version\":1,", ""),
                                  With(status, "\"rank\":3", "\"rank\":3,\"rank\":3"),
                                  With(status, "\"rank\":3", "\"rank\":3,\"more\":3"),
                                  With(status, "\"rank\":3", "\"rank\":\"3\""),
                                  With(status, "\"rank\":3", "\"rank\":-2"),
                                  With(status, "\"rank\":3", "\"rank\":2147483648"),
                                  With(status, "\"pid\":4711", "\"pid\":0"),
                                  With(status, "70", "-1"),
                                  With(status, "70", "9007199254740993"),
                                  With(status, "70", "7e1"),
                                  With(status, "9000000", "9223372036854775807"),
                                  With(status, "ready", "dead"),
                                  With(end, "0123456789abcdef", "0123456789ABCDEF"),
                                  With(end, "0123456789abcdef", "0123"),
                                  With(end, "complete", "done"),
                                  With(end, "rank3-", "../rank3-"),
                                  With(end, "rank3-a0", "rank3/a0"),
                                  With(end, "rank3-a0-node_1-4711-1.opscope", ""),
                                  With(end, ".opscope", ".sh"),
                                  With(end, "node_1", "a\\u001bb"),
                                  With(end, ",\"why_not\":\"\"", "")})
    EXPECT_FALSE(IsAnswer(text)) << text.substr(0, 200);
}

TEST(ControlMessage, ChangedAnswersNeverLeadOutOfTheFolder) {
  std::mt19937 random(20);
  for (int i = 0; i < 20'000; ++i) {
    std::string text(random() % 2 == 0 ? kStatusLine : kEndLine);
    for (uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
      const size_t at = random() % text.size();
      if (random() % 3 == 0) {
        text.erase(at, 1 + random() % 4);
      } else {
        text[at] = static_cast<char>(random() % 4 == 0 ? random() : "0/.\"{}[],:\\-e"[random() % 13]);
      }
      if (text.empty()) text = "{";
    }
    const Result<ControlAnswer> read = ReadAnswer(text);
    if (!read.ok()) continue;
    EXPECT_EQ(read.value().file.find('/'), std::string::npos) << text;
  }
}

TEST(ControlMessage, RequestsAreOneLine) {
  EXPECT_EQ(StatusMessage(), "{\"version\":1,\"command\":\"status\"}\n");
  const ControlWindow window{"0123456789abcdef", 12, 5};
  EXPECT_EQ(RecordMessage(window),
            "{\"version\":1,\"command\":\"record\",\"request\":\"0123456789abcdef\",\"first_step\":12,\"steps\":5}\n");
  EXPECT_EQ(RecordFile(window, "a\nb", {{0, 7}, {12, 12}}),
            "{\"version\":1,\"command\":\"record\",\"request\":\"0123456789abcdef\",\"first_step\":12,\"steps\":5,"
            "\"host\":\"a\\nb\",\"ranks\":[[0,7],[12,12]]}\n");
  EXPECT_EQ(StatusFile("0123456789abcdef", "h"),
            "{\"version\":1,\"command\":\"status\",\"request\":\"0123456789abcdef\",\"host\":\"h\"}\n");
}

}  // namespace
}  // namespace opscope
