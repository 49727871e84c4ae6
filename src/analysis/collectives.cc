// Recognizes collectives by name: NCCL and RCCL kernels on device streams ("ncclDevKernel_AllReduce_Sum_f32_RING_LL"),
// ranges of the CPU backends on threads ("gloo:all_reduce"). Kind, group, size and number come from Kineto's members
// where a file has them, else kind and size from the name and the arguments. Each distinct name is parsed once, since a
// run has millions of kernels and few names.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/collectives.h"

#include <charconv>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/json_members.h"
#include "base/parse_whole.h"
#include "base/text.h"

namespace opscope {
namespace {

// Keeps the letters in lower case, so that "AllGather", "_all_gather_base" and "all_gather" have one prefix.
std::string Letters(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (const char letter = LowerCase(c); letter >= 'a' && letter <= 'z') letters += letter;
  return letters;
}

CollectiveKind KindOf(std::string_view name) {
  static constexpr std::pair<std::string_view, CollectiveKind> kKinds[] = {
      {"allreduce", CollectiveKind::kAllReduce},
      {"allgather", CollectiveKind::kAllGather},
      {"reducescatter", CollectiveKind::kReduceScatter},
      {"alltoall", CollectiveKind::kAllToAll},
      {"barrier", CollectiveKind::kBarrier},
      {"broadcast", CollectiveKind::kBroadcast},
      {"sendrecv", CollectiveKind::kSendReceive},
      {"send", CollectiveKind::kSendReceive},
      {"recv", CollectiveKind::kSendReceive},
      {"reduce", CollectiveKind::kReduce},
      {"gather", CollectiveKind::kGather},
      {"scatter", CollectiveKind::kScatter},
  };
  const std::string letters = Letters(name);
  for (const auto& [prefix, kind] : kKinds)
    if (letters.starts_with(prefix)) return kind;
  return CollectiveKind::kOther;
}

constexpr std::string_view kKernelPrefixes[] = {"ncclDevKernel_", "ncclKernel_", "rcclDevKernel_", "rcclKernel_"};
constexpr std::string_view kRangePrefixes[] = {"gloo:", "mpi:", "ucc:"};

// "ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)" -> "AllReduce_..."; nullopt: no prefix is that of the name.
std::optional<std::string_view> WithoutPrefix(std::string_view name, std::span<const std::string_view> prefixes) {
  for (const std::string_view prefix : prefixes)
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  return std::nullopt;
}

uint64_t LeadingUnsigned(std::string_view json) {
  uint64_t number = 0;
  std::from_chars(json.data(), json.data() + json.size(), number);
  return number;
}

uint64_t ElementsOfArguments(const Trace& trace, ArgsId id) {
  uint64_t elements = 0;
  for (const Argument& argument : trace.arguments(id)) {
    if (argument.kind != ArgumentKind::kTensor) continue;
    uint64_t product = 1;
    for (const int64_t size : argument.sizes)
      product *= static_cast<uint64_t>(size);
    elements += product;
  }
  return elements;
}

class Finder {
 public:
  explicit Finder(const Trace& trace) : trace_(trace), operations_(trace.string_count()) {}

  Collectives Run() {
    found_.groups.emplace_back();
    const SpanColumns& spans = trace_.spans();
    for (size_t row = 0; row < spans.size(); ++row) {
      const TrackKind track = trace_.tracks().kind[Row(spans.track[row])];
      if (track == TrackKind::kDeviceAnnotation) continue;
      const Operation& operation = OperationOf(spans.name[row]);
      const bool is_device = track == TrackKind::kDeviceStream;
      if (operation.is_collective && operation.is_kernel == is_device) Add(row, operation.kind, is_device);
    }
    return std::move(found_);
  }

 private:
  struct Operation {
    bool is_known = false;  // the other members are valid
    bool is_collective = false;
    bool is_kernel = false;
    CollectiveKind kind = CollectiveKind::kOther;
  };

  // Parses each name once.
  const Operation& OperationOf(StringId name) {
    static const Operation none;
    if (Row(name) >= operations_.size()) return none;  // a damaged file's
    Operation& operation = operations_[Row(name)];
    if (operation.is_known) return operation;
    operation.is_known = true;
    const std::string_view text = trace_.text(name);
    const auto kernel = WithoutPrefix(text, kKernelPrefixes);
    const auto found = kernel ? kernel : WithoutPrefix(text, kRangePrefixes);
    operation.is_collective = found.has_value();
    operation.is_kernel = kernel.has_value();
    if (found) operation.kind = KindOf(*found);
    return operation;
  }

  void Add(size_t row, CollectiveKind kind, bool is_device) {
    Collective collective{.span = static_cast<SpanId>(row), .kind = kind};
    const std::string_view extra = trace_.text(trace_.spans().extra[row]);
    if (const std::string_view recorded_name = FindJsonMember(extra, "Collective name"); !recorded_name.empty())
      collective.kind = KindOf(Unquoted(recorded_name));
    collective.group = GroupOf(extra);
    collective.elements = LeadingUnsigned(FindJsonMember(extra, "In msg nelems"));
    if (!is_device && collective.elements == 0)
      collective.elements = ElementsOfArguments(trace_, trace_.spans().args[row]);
    collective.number = ParseWhole<int64_t>(FindJsonMember(extra, "Seq"));
    found_.rows.push_back(collective);
  }

  uint32_t GroupOf(std::string_view extra) {
    const std::string_view name = Unquoted(FindJsonMember(extra, "Process Group Name"));
    if (name.empty()) return 0;
    std::string group(name);
    if (const auto ranks = Unquoted(FindJsonMember(extra, "Process Group Ranks")); !ranks.empty())
      group.append(" ").append(ranks);
    const auto [found, is_new] = group_numbers_.try_emplace(group, static_cast<uint32_t>(found_.groups.size()));
    if (is_new) found_.groups.push_back(std::move(group));
    return found->second;
  }

  const Trace& trace_;
  std::vector<Operation> operations_;                        // by name
  std::unordered_map<std::string, uint32_t> group_numbers_;  // by name and ranks
  Collectives found_;
};

}  // namespace

Collectives FindCollectives(const Trace& trace) {
  return Finder(trace).Run();
}

}  // namespace opscope
