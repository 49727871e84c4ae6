// Matches recorded calls against operator schemas to find the arguments that are written. Both are strings of one code
// per argument: the call add_(tensor, tensor, alpha=1) is observed as "tti", the schema is "t!tn" with '!' for a
// written argument and '?' for an optional one. Results are cached by name and argument list, since a loop repeats its
// calls.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/torch/operator_writes.h"

#include <algorithm>
#include <string>

namespace opscope {
namespace {

char CodeOfScalar(std::string_view text) {
  if (text == "True" || text == "False") return 'b';
  if (text.empty()) return '0';
  if (text.find('j') != std::string_view::npos) return 'c';
  return text.find_first_not_of("-0123456789") == std::string_view::npos ? 'i' : 'f';
}

// True if an observed code fits a code of the signature. A bool is an int in Python, so it fits 'i'.
bool Fits(char observed, char wanted) {
  switch (wanted) {
    case '*':
      return true;
    case 't':
    case 'T':
    case 'b':
    case 'f':
    case 'c':
    case '0':
      return observed == wanted;
    case 'i':
      return observed == 'i' || observed == 'b';
    case 'n':
      return observed == 'i' || observed == 'b' || observed == 'f' || observed == 'c';
    default:
      return observed == '0';  // types that are not recorded are observed as '0'
  }
}

// True if the call fits the signature; calls written(i) for each written argument.
template <typename Written>
bool FitsAll(std::string_view observed, std::string_view signature, const Written& written) {
  if (signature == ".") return observed.empty();
  size_t at = 0;
  for (size_t i = 0; i < observed.size(); ++i) {
    bool optional = false;
    while (at < signature.size() && signature[at] == '?') {
      optional = true;
      ++at;
    }
    if (at == signature.size()) return false;
    if (!Fits(observed[i], signature[at]) && !(optional && observed[i] == '0')) return false;
    ++at;
    if (at < signature.size() && signature[at] == '!') {
      written(i);
      ++at;
    }
  }
  return at == signature.size();
}

}  // namespace

OperatorWrites::OperatorWrites(const Trace& trace) : trace_(trace) {
  const OperatorColumns& operators = trace.operators();
  for (size_t row = 0; row < operators.size(); ++row) {
    std::vector<std::string_view>& known = overloads_[opscope::Row(operators.name[row])];
    const std::string_view signature = trace.text(operators.arguments[row]);
    // Several windows of one recording repeat the schemas.
    if (std::find(known.begin(), known.end(), signature) == known.end()) known.push_back(signature);
  }
}

std::string OperatorWrites::Observed(uint32_t row, std::span<const uint64_t> storages) const {
  std::string observed;
  size_t next = 0;
  const auto is_tensor = [&] { return next < storages.size() && storages[next++] != 0; };
  for (const Argument& argument : trace_.arguments(trace_.spans().args[row])) {
    char code = '0';
    if (argument.kind == ArgumentKind::kTensor) {
      code = is_tensor() ? 't' : '0';
    } else if (argument.kind == ArgumentKind::kTensorList) {
      bool all_defined = true, all_stored = true;
      for (const Argument& tensor : argument.tensors) {
        if (tensor.kind == ArgumentKind::kTensor) {
          all_stored &= is_tensor();
        } else {
          all_defined = false;
        }
      }
      code = !all_defined ? '0' : all_stored ? 'T' : 'x';
    } else if (argument.kind == ArgumentKind::kScalar) {
      code = CodeOfScalar(trace_.text(argument.value));
    }
    observed.push_back(code);
  }
  return observed;
}

void OperatorWrites::Match(uint32_t row, std::span<const uint64_t> storages, CallWrites* writes) const {
  const std::string observed = Observed(row, storages);
  writes->fits = false;
  writes->by_argument.assign(observed.size(), Writes::kUnknown);
  const auto overloads = overloads_.find(opscope::Row(trace_.spans().name[row]));
  if (overloads == overloads_.end()) return;
  std::vector<Writes> found(observed.size(), Writes::kNo), one;
  for (const std::string_view signature : overloads->second) {
    one.assign(observed.size(), Writes::kNo);
    if (!FitsAll(observed, signature, [&one](size_t argument) { one[argument] = Writes::kYes; })) continue;
    writes->fits = true;
    for (size_t i = 0; i < one.size(); ++i)
      found[i] = std::max(found[i], one[i]);
  }
  if (writes->fits) writes->by_argument = std::move(found);
}

const CallWrites& OperatorWrites::Of(uint32_t row, std::span<const uint64_t> storages) {
  if (std::find(storages.begin(), storages.end(), uint64_t{0}) != storages.end()) {
    Match(row, storages, &other_);
    return other_;
  }
  const SpanColumns& spans = trace_.spans();
  const uint64_t call = uint64_t{opscope::Row(spans.name[row])} << 32 | opscope::Row(spans.args[row]);
  const auto [number, is_new] = number_.try_emplace(call, static_cast<uint32_t>(known_.size()));
  if (is_new) Match(row, storages, &known_.emplace_back());
  return known_[number->second];
}

}  // namespace opscope
