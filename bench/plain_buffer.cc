// The floor of the drop-in functions: operators through them, as opscope's go, into a plain buffer: a thread's own
// array of fixed size, the name by its address, 64 bytes and the shapes; no chunks, no cap, no import. What opscope
// adds beyond this is its own doing, what this adds is not.
//
// For Python (added_time.py). One window at a time, in a process that has no other.
// SPDX-License-Identifier: Apache-2.0
#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/mutex.h"
#include "opscope/recorder_abi.h"
#include "sources/slots/pointed_slots.h"
#include "sources/torch/boxed_references.h"
#include "sources/torch/callback_bank.h"
#include "sources/torch/drop_in.h"
#include "sources/torch/global_changes.h"
#include "sources/torch/range_layout.h"

#if defined(__x86_64__)
namespace opscope {

// What the adapter has elsewhere.
Mutex& RegistrationLock() {
  static Mutex& lock = *new Mutex;
  return lock;
}

namespace {

struct PlainRecord {
  uint64_t start, end;
  const char* name;
  int64_t sequence;
  uint64_t forward_thread;
  uint32_t depth;
  uint16_t scope, arguments;
  uint32_t first_word, words;
  uint64_t unused;
};
static_assert(sizeof(PlainRecord) == 64);

constexpr size_t kRecords = size_t{1} << 20;
constexpr size_t kWords = size_t{1} << 23;
constexpr size_t kMostWordsOfOne = 4096;

struct Buffer;
struct PlainContext final : at::ObserverContext {
  PlainRecord* record;
  Buffer* buffer;
  PlainContext* next;
  static void operator delete(void* place);
};

struct Buffer {
  PlainRecord* records = static_cast<PlainRecord*>(std::calloc(kRecords, sizeof(PlainRecord)));
  uint32_t* words = static_cast<uint32_t*>(std::calloc(kWords, sizeof(uint32_t)));
  size_t used = 0, used_words = 0;
  uint32_t depth = 0;
  uint64_t window = 0;
  PlainContext* free = nullptr;
  std::unordered_set<std::string> texts;
};
constinit __thread Buffer* this_buffer = nullptr;
constinit uint64_t open_window = 0;  // changed while no operator runs

void PlainContext::operator delete(void* place) {
  auto* context = static_cast<PlainContext*>(place);
  context->next = context->buffer->free;
  context->buffer->free = context;
}

__attribute__((noinline)) Buffer* BeginBuffer() {
  if (this_buffer == nullptr) this_buffer = new Buffer;  // until the process ends
  Buffer* buffer = this_buffer;
  buffer->used = buffer->used_words = 0;
  buffer->depth = 0;
  buffer->window = open_window;
  return buffer;
}

void PutShapes(Buffer* buffer, PlainRecord* record, torch_layout::Inputs inputs) {
  uint32_t* out = buffer->words + buffer->used_words;
  const auto put = [&out](const at::Tensor& tensor) {
    const c10::TensorImpl* body = tensor.unsafeGetTensorImpl();
    const bool has_shape = tensor.defined() && !body->is_nested() && !body->has_symbolic_sizes_strides();
    const c10::IntArrayRef sizes = has_shape ? body->sizes() : c10::IntArrayRef();
    *out++ = static_cast<uint32_t>(c10::typeMetaToScalarType(body->dtype())) | static_cast<uint32_t>(sizes.size())
                                                                                   << 16;
    for (const int64_t size : sizes)
      *out++ = static_cast<uint32_t>(size);
  };
  for (const c10::IValue& value : inputs) {
    if (value.isTensor()) {
      put(value.toTensor());
    } else if (value.isTensorList()) {
      for (const c10::IValue& each : value.toListRef())
        put(each.toTensor());
    } else {
      *out++ = 0;
    }
  }
  record->arguments = static_cast<uint16_t>(inputs.size());
  record->first_word = static_cast<uint32_t>(buffer->used_words);
  record->words = static_cast<uint32_t>(out - buffer->words - buffer->used_words);
  buffer->used_words += record->words;
}

template <bool kShapes>
std::unique_ptr<at::ObserverContext> StartPlain(const at::RecordFunction& range) {
  if constexpr (kShapes) boxed_references::EndBoxing();
  Buffer* buffer = this_buffer;
  if (OPSCOPE_UNLIKELY(buffer == nullptr || buffer->window != open_window)) buffer = BeginBuffer();
  if (OPSCOPE_UNLIKELY(buffer->used == kRecords || buffer->used_words + kMostWordsOfOne > kWords)) return nullptr;
  PlainContext* context = buffer->free;
  if (context != nullptr) {
    buffer->free = context->next;
    ::new (static_cast<void*>(context)) PlainContext;
  } else {
    context = ::new (std::malloc(sizeof(PlainContext))) PlainContext;
  }
  PlainRecord* record = buffer->records + buffer->used++;
  context->buffer = buffer;
  context->record = record;
  const auto& named = range.*Reach(torch_layout::Name());
  const auto* schema = std::get_if<torch_layout::Schema>(&named);
  record->name = __builtin_expect(schema != nullptr, 1)
                     ? schema->get().name().c_str()
                     : buffer->texts.insert(*std::get_if<std::string>(&named)).first->c_str();
  record->sequence = range.seqNr();
  record->forward_thread = range.forwardThreadId();
  record->scope = static_cast<uint16_t>(range.scope());
  record->depth = buffer->depth++;
  record->words = record->arguments = 0;
  if constexpr (kShapes) PutShapes(buffer, record, range.inputs());
  record->start = __builtin_ia32_rdtsc();
  return std::unique_ptr<at::ObserverContext>(context);
}

void Finish(PlainContext* context) {
  context->record->end = __builtin_ia32_rdtsc();
  if (context->buffer == this_buffer) this_buffer->depth = context->record->depth;
}
void EndPlain(const at::RecordFunction& /*range*/, at::ObserverContext* context) {
  if (context != nullptr) Finish(static_cast<PlainContext*>(context));
}

struct PlainSink : drop_in::TakesAll {
  static constexpr auto kEnd = &EndPlain;
  static void EndAndRelease(at::ObserverContext* context) {
    Finish(static_cast<PlainContext*>(context));
    PlainContext::operator delete(static_cast<PlainContext*>(context));
  }
  static void EndWhenDeleted(at::ObserverContext*) {}  // the slots are put back while no range is under way
  static void Count(drop_in::What) {}
};

PointedSlots& ThePointed() {
  static PointedSlots& pointed = *new PointedSlots;
  return pointed;
}

bool PointSlots() {
  if (!drop_in::ThreadViewIsFound()) return false;
  if (drop_in::globals.changes == nullptr) {
    drop_in::globals.no_schema = new c10::FunctionSchema("", "", {}, {});
    drop_in::globals.changes = FindGlobalChanges();
  }
  if (drop_in::globals.changes == nullptr) return false;
  static const auto& slots = *new std::vector<CallSlot>([] {
    std::vector<CallSlot> all;
    for (const char* library : torch_layout::kLibraries) {
      const std::vector<CallSlot> found = FindCallSlots(library, torch_layout::kSymbols);
      all.insert(all.end(), found.begin(), found.end());
    }
    return all;
  }());
  const drop_in::Replacements replacements = drop_in::ReplacementsOf<PlainSink>();
  const MutexLock lock(SlotLock());
  for (const CallSlot& slot : slots) {
    void* ours = replacements.of[slot.symbol];
    if (ours != nullptr && !ThePointed().Point(slot, ours)) return false;
  }
  return !slots.empty();
}

}  // namespace
}  // namespace opscope

extern "C" {

// Returns the handle for opscope_plain_buffer_close, on the same thread; 0: the drop-in functions do not fit. Without
// the adapter's trial: only where that has shown that they do.
__attribute__((visibility("default"))) uint64_t opscope_plain_buffer_open(int needs_inputs) {
  using namespace opscope;
  if (!PointSlots()) {
    const MutexLock lock(SlotLock());
    ThePointed().PutBack();
    return 0;
  }
  ++open_window;
  if (needs_inputs != 0) {
    const MutexLock lock(SlotLock());
    boxed_references::Open([] {});  // one thread alone runs operators: nobody comes between
  }
  at::RecordFunctionCallback callback(needs_inputs != 0 ? &StartPlain<true> : &StartPlain<false>, &EndPlain);
  callback.needsInputs(needs_inputs != 0);
  return at::addThreadLocalCallback(callback);
}

// Returns how many ranges the calling thread has recorded.
__attribute__((visibility("default"))) uint64_t opscope_plain_buffer_close(uint64_t handle) {
  using namespace opscope;
  at::removeCallback(handle);
  const MutexLock lock(SlotLock());
  boxed_references::Close();
  ThePointed().PutBack();
  return this_buffer != nullptr && this_buffer->window == open_window ? this_buffer->used : 0;
}

}  // extern "C"
#endif
