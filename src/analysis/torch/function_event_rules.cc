// Rewrites names as torch does: every name longer than one character goes through the C++ demangler, which also accepts
// bare type encodings ("Pi" becomes "int*"), and "ProfilerStep#3" becomes "ProfilerStep*". Results are cached per name.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/torch/function_event_rules.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace opscope {
namespace {

constexpr uint32_t kUnknown = 0xfffffffe;

std::string Demangle(const std::string& name) {
  int status = -1;
  std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                   &std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

CategoryRole RoleOfCategory(std::string_view category) {
  CategoryRole role;
  // torch makes no events for graph nodes that are no device work.
  role.is_listed = category != "Trace" && category != "graph_event_node" && category != "graph_host_node";
  role.is_device_range = category == kDeviceRange;
  role.is_wait = category == "cuda_sync";
  role.is_event_record = category == kEventRecord;
  role.is_user_annotation = category == "user_annotation" || role.is_device_range;
  role.is_threadless =
      IsRuntimeCategory(category) || role.is_event_record || Contains(category, "overhead") || category == "Overhead";
  role.is_python = category == "python_function";
  return role;
}

std::string_view MetadataText(const Trace& trace, std::string_view key) {
  const MetadataColumns& metadata = trace.metadata();
  for (size_t i = 0; i < metadata.size(); ++i)
    if (trace.text(metadata.key[i]) == key) return trace.text(metadata.json[i]);
  return "";
}

bool IsSetInMetadata(const Trace& trace, std::string_view key) {
  return MetadataText(trace, key) == "1";
}

NameRewriter::NameRewriter(const Trace& trace) : trace_(trace), known_(trace.string_count(), kUnknown) {
}

StringId NameRewriter::Rewrite(StringId name) {
  uint32_t& known = known_[Row(name)];
  if (known == kUnknown) known = Row(Compute(trace_.text(name), name));
  return StringId{known};
}

StringId NameRewriter::Compute(std::string_view name, StringId id) {
  if (IsOmittedByTorch(name)) return StringId::kNone;
  if (name.size() <= 1) return id;
  std::string text = Demangle(std::string(name));
  if (IsProfilerStep(text)) text = kAllProfilerSteps;
  return text == name ? id : Own(std::move(text));
}

StringId NameRewriter::Own(std::string text) {
  if (auto there = trace_.FindString(text)) return *there;
  const auto [place, is_new] = row_of_.try_emplace(text, static_cast<uint32_t>(rewritten_.size()));
  if (is_new) rewritten_.push_back(std::move(text));
  return StringId{static_cast<uint32_t>(trace_.string_count()) + place->second};
}

}  // namespace opscope
