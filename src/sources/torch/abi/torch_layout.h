// Access to private members of torch's RecordFunction. An explicit template instantiation may name a private member;
// its friend function Reach(Tag) returns the member pointer: `range.*Reach(Name())`. This does not compile with a torch
// that lacks the member. Members that only the hooks need are in hooks/range_layout.h.
//
// Thread rule: that of the object.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>

#include <functional>
#include <string>
#include <unordered_map>
#include <variant>

namespace opscope::torch_layout {

using Schema = std::reference_wrapper<const c10::FunctionSchema>;
using NameOrSchema = std::variant<std::string, Schema>;
using Keywords = std::unordered_map<std::string, c10::IValue>;
using Inputs = c10::ArrayRef<const c10::IValue>;

template <typename Tag, typename Tag::Pointer Member>
struct PrivateMember {
  friend constexpr typename Tag::Pointer Reach(Tag) { return Member; }
};
#define OPSCOPE_MEMBER(Tag, Type, member)       \
  struct Tag {                                  \
    using Pointer = Type at::RecordFunction::*; \
    friend constexpr Pointer Reach(Tag);        \
  };                                            \
  template struct PrivateMember<Tag, &at::RecordFunction::member>
OPSCOPE_MEMBER(Name, NameOrSchema, fn_);
OPSCOPE_MEMBER(KeywordInputs, Keywords, kwinputs_);
OPSCOPE_MEMBER(AsyncMark, bool, is_async_);

}  // namespace opscope::torch_layout
