// SPDX-License-Identifier: Apache-2.0
#include "base/scoped_id.h"

#include <gtest/gtest.h>

namespace opscope {
namespace {

TEST(ScopedId, IsParsedFromItsText) {
  for (const auto kind : {ScopedId::Kind::kId, ScopedId::Kind::kLocal, ScopedId::Kind::kGlobal}) {
    for (const std::string scope : {"", "\"net\"", "\"a\\\"}, b\""}) {
      for (const std::string name : {"\"0x1\"", "\"\"", "\"{\\\"id\\\": 1}\""}) {
        if (kind == ScopedId::Kind::kId && scope.empty()) continue;
        const ScopedId id{kind, name, scope};
        const ScopedId again = ParseScopedId(id.Text());
        EXPECT_EQ(again.kind, kind) << id.Text();
        EXPECT_EQ(again.json_id, name);
        EXPECT_EQ(again.json_scope, scope);
      }
    }
  }
}

TEST(ScopedId, OfAnotherFormIsPlain) {
  for (const std::string text : {"", "7", "{", "{}", "{\"local\": 7}", "{\"local\":\"7\"}",
                                 "{\"id\": \"7\", \"more\": 1}", "{\"local\": \"7\""}) {
    const ScopedId id = ParseScopedId(text);
    EXPECT_EQ(id.kind, ScopedId::Kind::kId) << text;
    EXPECT_EQ(id.json_scope, "") << text;
  }
  EXPECT_EQ(ParseScopedId("a\"b").Members(), "\"id\":\"a\\\"b\"");
}

TEST(ScopedId, IsWrittenAsMembersOfAnEvent) {
  EXPECT_EQ(ParseScopedId("0x1").Members(), R"("id":"0x1")");
  EXPECT_EQ(ParseScopedId(R"({"scope": "net", "id": "0x1"})").Members(), R"("id":"0x1","scope":"net")");
  EXPECT_EQ(ParseScopedId(R"({"local": "0x1"})").Members(), R"("id2":{"local":"0x1"})");
  EXPECT_EQ(ParseScopedId(R"({"scope": "net", "global": "7"})").Members(), R"("id2":{"global":"7"},"scope":"net")");
}

}  // namespace
}  // namespace opscope
