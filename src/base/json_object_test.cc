// Members of JSON objects, written by one writer after the other.
// SPDX-License-Identifier: Apache-2.0
#include "base/json_object.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace opscope {
namespace {

TEST(JsonMemberWriter, PutsCommasBetweenMembersOfSeveralWriters) {
  std::string out;
  JsonMemberWriter(&out).Int("a", -1).Text("b", "x\ny");
  JsonMemberWriter(&out).Members("").Members(R"("c":[{}])").Uint("d", 2);
  EXPECT_EQ(out, R"("a":-1,"b":"x\ny","c":[{}],"d":2)");
}

TEST(JsonMemberWriter, SpacesMembersOnRequest) {
  std::string out;
  const uint32_t grid[] = {1, 2, 3};
  JsonMemberWriter(&out, JsonMemberWriter::kSpaced).Uints("grid", grid, 3).Json("e", "null").Double("f", 0.5);
  EXPECT_EQ(out, R"("grid": [1, 2, 3], "e": null, "f": 0.5)");
}

TEST(JsonMemberWriter, WritesNullForNaN) {
  std::string out;
  JsonMemberWriter(&out).Fixed("a", 1.0 / 3, 3).Fixed("b", std::numeric_limits<double>::quiet_NaN(), 3);
  EXPECT_EQ(out, R"("a":0.333,"b":null)");
}

TEST(JsonMemberWriter, EscapesAnyKeyOnRequest) {
  std::string out;
  JsonMemberWriter(&out).EscapedKey("a\"b") += "1";
  EXPECT_EQ(out, R"("a\"b":1)");
}

TEST(JsonObject, MayBeNested) {
  std::string out;
  JsonObject outer(&out);
  outer.Uint("pid", 7).Key("inner");
  JsonObject inner(&out);
  inner.Close();
  outer.Text("last", "{");
  outer.Int("behind", 1);
  outer.Close();
  EXPECT_EQ(out, R"({"pid":7,"inner":{},"last":"{","behind":1})");
}

}  // namespace
}  // namespace opscope
