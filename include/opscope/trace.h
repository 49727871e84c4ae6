// A Trace: what was recorded, as immutable columns. One struct per table, one std::span per column;
// all columns of a table have the same length. Strings are interned: a column holds StringId.
//
//   strings   processes   tracks   spans   async_spans   instants   counters   flows   allocations
//   steps     frames      stacks   python_calls   arguments      problems   metadata
//   tensors   held_tensors         tensor_lives      operators
//
// Order of `spans`: by track, and within a track in pre-order (a parent before its children, siblings
// by start), so every track is one contiguous row range and every subtree too. A track's async spans
// come after its nested ones, by start.
//
// Thread rule: immutable, any thread. Views live as long as the Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/span_kind.h"
#include "opscope/types.h"

namespace opscope {

// What a track stands for.
enum class TrackKind : uint8_t {
  kThread = 0,
  kDeviceStream = 1,      // kernels, copies, sets: busy time
  kDeviceAnnotation = 2,  // gpu_user_annotation of a stream: not busy time
  kOther = 3,             // anything else that a file names (counters' homes, "Spans", "Traces")
};

struct ProcessColumns {
  std::span<const int64_t> pid;         // number of the process or device; 0 when it has only a text id
  std::span<const StringId> pid_text;   // kNone, or the id as the file spelt it when it is not a number
  std::span<const StringId> name;       // kNone when unknown
  std::span<const StringId> labels;     // "process_labels" of Chrome traces; kNone
  std::span<const int64_t> sort_index;  // INT64_MIN when absent
  std::span<const int32_t> rank;        // of a distributed job, from the metadata; -1: not told
  size_t size() const { return pid.size(); }
};

struct TrackColumns {
  std::span<const ProcessId> process;
  std::span<const TrackKind> kind;
  std::span<const int64_t> tid;              // OS thread id or stream number; 0 when it has only a text id
  std::span<const StringId> tid_text;        // kNone, or the id as the file spelt it when it is not a number
  std::span<const StringId> name;            // kNone when unknown
  std::span<const int64_t> sort_index;       // INT64_MIN when absent
  std::span<const uint64_t> logical_thread;  // the framework's own thread number; 0: none
  std::span<const int32_t> device;           // device number of device tracks, -1
  std::span<const uint32_t> first_span;      // the track's rows of `spans`: [first_span, first_span + span_count)
  std::span<const uint32_t> span_count;
  size_t size() const { return process.size(); }
};

// How a span was classified by its framework. Values 0..9 are torch's at::RecordScope.
enum class ScopeType : uint8_t {
  kFunction = 0,
  kBackwardFunction = 1,
  kTorchScriptFunction = 2,
  kKernelFunctionDtype = 3,
  kCustomClass = 4,
  kBuildFeature = 5,
  kLiteInterpreter = 6,
  kUserScope = 7,
  kStaticRuntimeOp = 8,
  kStaticRuntimeModel = 9,
  kUnknown = 255,
};

namespace span_flags {
inline constexpr uint8_t kUnfinished = 1;   // still open at the end of the recording
inline constexpr uint8_t kAsync = 2;        // outside the nesting: no parent, no children
inline constexpr uint8_t kOtherThread = 4;  // ended on another thread than it began on
inline constexpr uint8_t kStep = 8;         // the range of one step; also a row of `steps`
inline constexpr uint8_t kNative = 16;      // a scope of the program itself (OPSCOPE_SCOPE), through no framework
inline constexpr uint8_t kCrossing = 32;    // kAsync only because a scope that began inside it ended after it
}  // namespace span_flags

struct SpanColumns {
  std::span<const Timestamp> start;
  std::span<const Duration> duration;
  std::span<const StringId> name;
  std::span<const StringId> overload;  // operator overload name, kNone
  std::span<const StringId> category;  // as the input calls it: cpu_op, user_annotation, OperatorInner, ...
  std::span<const SpanKind> kind;      // what that means (docs/span_kinds.md)
  std::span<const TrackId> track;
  std::span<const SpanId> parent;   // kNone at the top of a track and for async spans
  std::span<const uint16_t> depth;  // 0 at the top
  std::span<const uint8_t> flags;   // span_flags
  std::span<const ScopeType> scope;
  std::span<const int64_t> sequence;         // autograd sequence number, -1: none
  std::span<const uint64_t> forward_thread;  // logical thread of the forward op of a backward span, 0: none
  std::span<const uint32_t> correlation;     // pairs a launch with its device span, 0: none
  std::span<const uint32_t> external_id;     // "External id": the op that a row belongs to, 0: none
  std::span<const ArgsId> args;              // shapes, dtypes, values: a row of `arguments`, kNone
  std::span<const StackId> stack;            // innermost frame of the call stack, kNone
  std::span<const StringId> extra;  // members of a JSON object, kept as the input had them ("\"a\":1,\"b\":[2]"), kNone
  size_t size() const { return start.size(); }
};

// Which operator each span of a device, and each call of a device's runtime, was made for. By span; what is known of
// none has no row. What no operator is around may have been launched by a call alone, which is then named.
struct LaunchColumns {
  std::span<const SpanId> span;
  std::span<const SpanId> launcher;  // a span of a thread
  size_t size() const { return span.size(); }
};

// Paired "b"/"e" events of a file: ranges with an id that cross threads.
struct AsyncSpanColumns {
  std::span<const Timestamp> start;
  std::span<const Duration> duration;
  std::span<const StringId> name;
  std::span<const StringId> category;
  std::span<const TrackId> track;
  std::span<const StringId> id;  // as the file spelt it, with its scope where it has one (docs/chrome_json.md)
  std::span<const StringId> extra;
  size_t size() const { return start.size(); }
};

struct InstantColumns {
  std::span<const Timestamp> time;
  std::span<const StringId> name;
  std::span<const StringId> category;
  std::span<const TrackId> track;
  std::span<const uint8_t> scope;  // 't' thread, 'p' process, 'g' global
  std::span<const StringId> extra;
  size_t size() const { return time.size(); }
};

struct CounterColumns {
  std::span<const Timestamp> time;
  std::span<const StringId> name;
  std::span<const StringId> series;  // name of the value within the counter
  std::span<const TrackId> track;
  std::span<const double> value;
  size_t size() const { return time.size(); }
};

// Arrows: a start joined to each of its ends.
struct FlowColumns {
  std::span<const uint64_t> id;
  std::span<const StringId> category;  // ac2g, fwdbwd, async_gpu, ...
  std::span<const StringId> name;
  std::span<const Timestamp> start_time;
  std::span<const TrackId> start_track;
  std::span<const SpanId> start_span;  // the span that the arrow leaves, kNone when none encloses it
  std::span<const Timestamp> end_time;
  std::span<const TrackId> end_track;
  std::span<const SpanId> end_span;
  size_t size() const { return id.size(); }
};

// One allocation (bytes > 0) or free (bytes < 0) reported by a framework's allocator. Also counted in `instants`.
struct AllocationColumns {
  std::span<const Timestamp> time;
  std::span<const TrackId> track;
  std::span<const uint64_t> address;
  std::span<const int64_t> bytes;
  std::span<const int64_t> total_allocated;  // -1 unknown
  std::span<const int64_t> total_reserved;   // -1 unknown
  std::span<const int32_t> device_type;      // torch's DeviceType number
  std::span<const int32_t> device;           // index, -1
  std::span<const StackId> stack;            // where the program asked for it, kNone
  size_t size() const { return time.size(); }
};

// Which tensors the arguments of spans are, for the memory timeline: for every span that has rows, one per argument of
// kind kTensor in their order, those of lists included. Ordered by span.
struct TensorColumns {
  std::span<const SpanId> span;
  std::span<const uint64_t> tensor;   // number of the tensor object, 0 unknown; it may come to another storage
  std::span<const uint64_t> storage;  // address of its data, 0: none
  std::span<const int32_t> device_type;
  std::span<const int32_t> device;  // index, -1
  size_t size() const { return span.size(); }
};

// Tensors that a module or an optimizer of the program holds, when it was first called.
enum class HeldAs : uint8_t { kParameter = 0, kGradient = 1, kOptimizerState = 2 };
struct HeldTensorColumns {
  std::span<const Timestamp> time;
  std::span<const TrackId> track;
  std::span<const uint64_t> owner;  // address of the object
  std::span<const HeldAs> held_as;
  std::span<const uint64_t> tensor, storage;  // as in TensorColumns
  std::span<const int32_t> device_type, device;
  std::span<const int64_t> bytes;  // from its first to its last element, -1: its layout has no strides
  std::span<const StringId> name;  // of a parameter in its module, of a state of the optimizer; kNone
  size_t size() const { return time.size(); }
};

// When each tensor of a framework that tells it had memory, and where. `tensor` and `op` are numbers of the framework,
// those that spans have as external_id.
struct TensorLifeColumns {
  std::span<const Timestamp> produced;
  std::span<const Duration> duration;  // until its memory was released, -1: it never was
  std::span<const TrackId> track;      // stream of the device, kNone: it was never produced
  std::span<const uint64_t> tensor;
  std::span<const uint64_t> op;       // that made it, 0: none did
  std::span<const uint64_t> address;  // of its first element, 0: none
  std::span<const uint64_t> bytes;    // from its first to its last element
  std::span<const uint32_t> uses;     // operators that took it
  std::span<const ArgsId> args;       // one tensor: sizes, strides, dtype; kNone
  std::span<const StringId> name;     // kNone
  size_t size() const { return produced.size(); }
};

// What the operators of a recording take, one row per overload. `arguments` has a code per argument: t tensor, T list
// of tensors, b bool, i int, f float, c complex, n number, 0 None, * anything, - anything else; ? before it: optional,
// ! behind it: written to. "." when there are none.
struct OperatorColumns {
  std::span<const StringId> name;
  std::span<const StringId> arguments;
  size_t size() const { return name.size(); }
};

struct StepColumns {
  std::span<const int64_t> number;
  std::span<const StringId> name;
  std::span<const SpanId> span;
  size_t size() const { return number.size(); }
};

struct FrameColumns {
  std::span<const StringId> text;  // as the framework prints it: "file(line): function"
  size_t size() const { return text.size(); }
};

// A stack is a frame and the stack of its caller.
struct StackColumns {
  std::span<const FrameId> frame;
  std::span<const StackId> caller;  // kNone at the root
  size_t size() const { return frame.size(); }
};

// Calls of Python functions, of C functions from Python, and of modules: the spans of category python_function that a
// tracer of Python has numbered. By span.
struct PythonCallColumns {
  std::span<const SpanId> span;
  std::span<const uint32_t> id;        // "Python id", from 1, by start
  std::span<const uint32_t> caller;    // "Python parent id": id of the call that this one was made by, 0: none
  std::span<const int32_t> module_id;  // "Python module id": which of the modules of its class, -1: not a module
  std::span<const int32_t> thread;     // "Python thread", -1 where the input does not say
  size_t size() const { return span.size(); }
};

struct ProblemColumns {
  std::span<const StringId> kind;     // closed list in src/trace/problem_kinds.h
  std::span<const uint8_t> severity;  // ProblemSeverity
  std::span<const uint64_t> count;
  std::span<const int64_t> first_offset;  // byte of the uncompressed input (of the file for .opscope), -1: none
  std::span<const StringId> message;
  size_t size() const { return kind.size(); }
};
enum class ProblemSeverity : uint8_t { kInfo = 0, kDataLoss = 1, kError = 2 };

// Top-level metadata, in the order of the input.
struct MetadataColumns {
  std::span<const StringId> key;
  std::span<const StringId> json;  // the value as JSON text
  size_t size() const { return key.size(); }
};

// Unique argument lists of operators; many spans share one row. Each row has Arguments.
// The texts that Chrome traces have of them are derived by ArgumentText (below), not stored.
enum class ArgumentKind : uint8_t { kOther, kTensor, kUndefined, kTensorList, kScalar, kScalarList };

// How a tensor lies in memory; torch's numbers. What nobody told is kStrided, without strides.
enum class TensorLayout : uint8_t {
  kStrided,
  kSparse,
  kSparseCsr,
  kMkldnn,
  kSparseCsc,
  kSparseBsr,
  kSparseBsc,
  kJagged
};
constexpr TensorLayout TensorLayoutNumbered(uint64_t number) {  // of an unknown one kStrided
  return static_cast<TensorLayout>(number <= static_cast<uint64_t>(TensorLayout::kJagged) ? number : 0);
}

struct Argument {
  ArgumentKind kind = ArgumentKind::kOther;
  StringId dtype = StringId::kEmpty;  // "float", "long int", "Scalar", "ScalarList", "TensorList", ""
  StringId value = StringId::kEmpty;  // concrete value as its framework prints it ("[64, 32]", "False", "1."), else ""
  bool has_strides = false;           // kTensor: false for layouts without strides, and where nobody told them
  TensorLayout layout = TensorLayout::kStrided;
  std::span<const int64_t> sizes;     // kTensor
  std::span<const int64_t> strides;   // kTensor, as long as sizes when has_strides
  std::span<const Argument> tensors;  // kTensorList
};

class TraceStorage;  // src/trace: owns the columns

// What the program waited for one event of a kind to be recorded, in nanoseconds, as the recorder measured it on the
// machine where it recorded: around the begin and around the end. `inside` is the part of both that lies between the
// event's own two times; the rest lengthens what is around it. `floor` is the part that empty callbacks would cost too.
struct EventCost {
  double begin_ns = 0;
  double end_ns = 0;
  double inside_ns = 0;
  double floor_ns = 0;
  double whole_ns() const { return begin_ns + end_ns; }
  double outside_ns() const { return begin_ns + end_ns - inside_ns; }
};

// What one event of a source and kind cost, where that was measured. docs/analyses.md says what is in each number.
struct OwnCostRow {
  std::string source;                // OwnCosts::kProgram, kPython, or a framework's name
  SpanKind kind = SpanKind::kOther;  // of the spans; kOther: of the program's counters, instants, either end of a flow
  EventCost cost;                    // of an operator without its arguments
  EventCost argument;                // each argument more, when arguments are recorded
  double async_end_ns = 0;  // of the program's scopes: the end of one that crosses others, in place of cost.end_ns
};

struct OwnCosts {
  static constexpr std::string_view kProgram = "program";  // OPSCOPE_SCOPE and the like
  static constexpr std::string_view kPython = "python";    // calls of Python functions, C functions and modules

  std::vector<OwnCostRow> rows;  // at most one of a source and kind

  // nullptr: it was not measured.
  const OwnCostRow* Find(std::string_view source, SpanKind kind) const;
  // Of the framework that the recording is of.
  const OwnCostRow* FindOfFramework(SpanKind kind) const;
};

// Facts about the input as a whole (`opscope info`).
struct TraceInfo {
  std::string format;  // "opscope", "chrome-json", ...
  std::string format_version;
  std::string compressed = "none";    // "none", "gzip", "zstd"
  uint64_t recorded = 0;              // events of the input that were kept
  uint64_t dropped = 0;               // events that the recorder could not keep
  uint32_t world_size = 0;            // ranks of the distributed job, from the metadata; 0: not told
  int64_t epoch_ns = 0;               // unix time of Timestamp 0; 0: the input has no absolute time
  std::string options_json = "{}";    // recording options
  std::optional<OwnCosts> own_costs;  // nullopt: the input says nothing about what recording it cost
};

class Trace {
 public:
  Trace();  // empty
  explicit Trace(std::unique_ptr<const TraceStorage> storage);
  Trace(Trace&&) noexcept;
  Trace& operator=(Trace&&) noexcept;
  ~Trace();

  const TraceInfo& info() const;
  // REQUIRES: id is of this trace. kNone gives "".
  std::string_view text(StringId id) const;
  // The id of a string that the trace contains, or nullopt. O(1).
  std::optional<StringId> FindString(std::string_view text) const;
  size_t string_count() const;

  const ProcessColumns& processes() const;
  const TrackColumns& tracks() const;
  const SpanColumns& spans() const;
  const LaunchColumns& launches() const;
  const AsyncSpanColumns& async_spans() const;
  const InstantColumns& instants() const;
  const CounterColumns& counters() const;
  const FlowColumns& flows() const;
  const AllocationColumns& allocations() const;
  const TensorColumns& tensors() const;
  const HeldTensorColumns& held_tensors() const;
  const TensorLifeColumns& tensor_lives() const;
  const OperatorColumns& operators() const;
  const StepColumns& steps() const;
  const FrameColumns& frames() const;
  const StackColumns& stacks() const;
  const PythonCallColumns& python_calls() const;
  const ProblemColumns& problems() const;
  const MetadataColumns& metadata() const;

  size_t argument_list_count() const;
  // The arguments of one call. kNone gives an empty list.
  std::span<const Argument> arguments(ArgsId id) const;

  // True when a Problem row says that input was lost (severity kDataLoss or kError): exit code 3.
  bool is_partial() const;
  // True when some span has a kind that its category, name and flags do not tell.
  bool has_own_kinds() const;
  uint64_t memory_bytes() const;  // bytes that the columns and strings hold

 private:
  std::unique_ptr<const TraceStorage> storage_;
};

}  // namespace opscope
