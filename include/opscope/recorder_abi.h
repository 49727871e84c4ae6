// The recorder's binary interface: the layouts and functions of
// libopscope_recorder. recorder.h adds the inline hot path over them.
//
// A process has one recorder, however many programs, extensions and adapters use
// it: all link the shared library and find the same state. The layouts below change
// only together with kRecorderAbi.
//
//   opscope::WindowOptions options;
//   const char* error = nullptr;
//   opscope::Window* window = opscope_window_open(&options, &error);  // null: *error says why
//   ...                                                               // threads record: scope.h, or a source
//   opscope_window_close(window);
//   opscope_window_read(window, WriteBlock, &file);                   // blocks of src/wire/FORMAT.md
//   opscope_window_free(window);
//
// The parts
//   Window     one recording, from open to close. It has a slot (0..63) while open and a generation
//              that is never reused. Several may be open at once.
//   Thread     one thread of the process, reached by the 8-byte thread-local `opscope_tls`.
//   Stream     one thread in one window: its current chunk, name cache and open scopes. Only that
//              thread writes it.
//   OpenScope  a scope that has begun and not ended. Slots belong to a Thread, are recycled by a
//              free list and never unmapped, so a late end can always read its own slot.
//
// Invariants
//   1. The name and payload of every open scope lie in its stream's current chunk: when a chunk is
//      full the slow path copies them into the next one. So no record refers to another chunk. Hence
//      a payload must be complete before OpenScopeOn gets its offset.
//   2. A scope's slot stays taken until ReleaseScope, even after it was closed: a framework may
//      destroy its context, which lives in the slot, later than the end of the range.
//   3. The streams of a closed window have generation 0; a late end compares and does nothing.
//   4. Close order: publish the scope's record, store start 0 into its slot, unlink the slot. The
//      closing thread of a window reads the record count, then the list of open slots, then the count
//      again. A scope that had left the list, or has start 0, is among the records. A slot of the list
//      with a start has ended exactly if its record is among those from one before the first count to
//      the second count. So no scope is reported as both finished and unfinished, nor as neither.
//   5. Hot path: no allocation, lock, system call, formatting, or read-modify-write on shared memory.
//   6. Threads, streams and slots are recycled and never unmapped, so every pointer to one stays
//      readable. Generations and OpenScope::owner identify the current owner.
//   7. A thread's current chunk of a closed window stays mapped until that thread lets go of it: a
//      writer that was interrupted in the hot path finishes its store into memory without readers.
//   8. Signal handlers may record. While a thread changes its stream, its Thread::free_slots holds a
//      WritingMark. A handler that interrupts it there finds no slot; its events count as dropped.
//      No function that an event can reach calls malloc or takes a lock that its own thread holds.
//
// Thread rule: only its own thread touches a Stream unless a function says
// otherwise.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "opscope/record.h"

#define OPSCOPE_RECORDER_API __attribute__((visibility("default")))
#define OPSCOPE_LIKELY(x) __builtin_expect(!!(x), 1)
#define OPSCOPE_UNLIKELY(x) __builtin_expect(!!(x), 0)

namespace opscope {

// Version of the layouts and functions in this header; opscope_window_open compares
// it.
inline constexpr uint32_t kRecorderAbi = 3;
// Windows that may be open at once.
inline constexpr uint32_t kMaxWindows = 64;
// Each of a stream's two name caches has 2^9 entries.
inline constexpr uint32_t kNameCacheBits = 9;
inline constexpr uint32_t kNameCacheEntries = 1u << kNameCacheBits;

struct Window;  // opaque
struct Thread;
struct Stream;

// One slot. Another thread may read the atomics while the owner works; on x86 and
// with the orders used here they cost what plain fields cost.
struct alignas(64) OpenScope {
  // For the code that opened the scope; the recorder never reads it.
  uint64_t context[2];
  std::atomic<uint64_t> start{0};             // ticks; 0: not open
  std::atomic<uint32_t> name{0};              // as in Record, within stream->chunk
  std::atomic<uint32_t> payload{0};           // also written together with name
  std::atomic<uint32_t> depth_kind_flags{0};  // depth | kind << 16 | flags << 24
  std::atomic<uint32_t> origin{0};            // source | scope << 8; also written together with depth_kind_flags
  // Generation of the window; a late end compares it with stream->generation.
  std::atomic<uint64_t> generation{0};
  // The enclosing open scope; null: none.
  std::atomic<OpenScope*> outer{nullptr};
  Stream* stream = nullptr;
  // The next slot of the free list, NoSlot() at its end.
  OpenScope* next_free = nullptr;
  // The same native scope in the next window of this thread; null in free slots.
  OpenScope* sibling = nullptr;
  // Thread whose slot this is; never changes.
  Thread* owner = nullptr;
};
static_assert(offsetof(OpenScope, name) % 8 == 0 && offsetof(OpenScope, payload) == offsetof(OpenScope, name) + 4);
static_assert(offsetof(OpenScope, depth_kind_flags) % 8 == 0 &&
              offsetof(OpenScope, origin) == offsetof(OpenScope, depth_kind_flags) + 4);

// An entry of a stream's name caches: a text and its name in the current chunk. Every new chunk
// empties the caches.
struct NameCacheEntry {
  const char* text = nullptr;
  // Offset of the NameEntry; 0: the entry is empty.
  uint32_t offset = 0;
  // Offset of the last payload of this chunk that may serve for more records of
  // this name; 0: none.
  uint32_t payload = 0;
};

// One thread in one window. The first 64 bytes are what the hot path touches.
struct alignas(64) Stream {
  // Where the next record goes. next == limit: no room, or no chunk.
  Record* next = nullptr;
  // Lowest byte that entries use.
  char* limit = nullptr;
  // The current chunk. Null: none could be allocated; records count as dropped.
  ChunkHeader* chunk = nullptr;
  // Records in the chunk | offset of `limit` << 32: what StorePublished stores.
  uint64_t published = 0;
  // Generation of the window while it is open, then 0.
  std::atomic<uint64_t> generation{0};
  // The innermost open scope; the list goes on by OpenScope::outer.
  std::atomic<OpenScope*> top{nullptr};
  // The generation while the stream accepts events; 0: closed, or at the cap.
  std::atomic<uint64_t> accepting{0};
  // Behind an OpenTable in the mapped file. Null: the chunk lies in memory.
  OpenTableEntry* open_table = nullptr;
  uint32_t chunk_sequence = 0;
  // Entries of open_table.
  uint32_t open_capacity = 0;
  // Scopes of the list that other threads have ended; read on slow paths only.
  std::atomic<uint32_t> ended_elsewhere{0};
  // Events that this thread dropped; only the owner writes it.
  std::atomic<uint64_t> dropped{0};
  Thread* thread = nullptr;
  Window* window = nullptr;
  // The stream of the next window that takes this thread's native scopes.
  Stream* next_native = nullptr;
  void* internal = nullptr;  // the recorder's own
  // InternStable: the address proves the text.
  NameCacheEntry stable_names[kNameCacheEntries];
  // InternText: the address is a guess.
  NameCacheEntry copied_names[kNameCacheEntries];
};

// End of a list of free slots. Odd, so that the hot path tells it and a WritingMark
// from a slot with one test.
inline OpenScope* NoSlot() {
  return reinterpret_cast<OpenScope*>(uintptr_t{1});
}

// One thread of the process, or a track without one. Its fields belong to the
// thread itself.
struct Thread {
  // Value of opscope_gate at which `native` was brought up to date.
  uint64_t gate = 0;
  // First stream that takes this thread's native scopes; null: no open window does.
  Stream* native = nullptr;
  // Linked by next_free, ended by NoSlot(). Odd: no slot is left, or the thread is writing
  // (WritingMark).
  OpenScope* free_slots = NoSlot();
  // Slots of this thread that other threads have released.
  std::atomic<OpenScope*> freed_elsewhere{nullptr};
  // Unique in the process; also ChunkHeader::thread_index.
  uint32_t index = 0;
  uint32_t reserved = 0;
  // gettid(); of a track what its TrackOptions say.
  uint64_t os_thread = 0;
  void* internal = nullptr;
  // By window slot. May belong to a closed window: compare generations.
  Stream* streams[kMaxWindows] = {};
};

// What happens when a window has reached WindowOptions::max_bytes.
//   kStop         keep the beginning: threads drop new events once they need another chunk
//   kKeepNewest   keep the end: a thread recycles its oldest chunk
// Both count every dropped event.
enum class AtCap : uint32_t { kStop = 0, kKeepNewest = 1 };

// Which threads' native scopes (OPSCOPE_SCOPE and the like) a window takes.
enum class NativeThreads : uint32_t {
  kAll = 0,       // every thread of the process
  kAttached = 1,  // the thread that opens the window, and those that a source has attached to it
  kNone = 2,
};

// Zero-initialise and set what differs. Unknown enumerators are an error of
// opscope_window_open.
struct WindowOptions {
  uint32_t abi = kRecorderAbi;
  AtCap at_cap = AtCap::kStop;
  NativeThreads native_threads = NativeThreads::kAll;
  uint32_t reserved = 0;
  // Cap for the chunks of this window and for the remains of ended threads;
  // exceeded by at most a chunk per live thread. Under kKeepNewest chunks shrink as
  // threads grow in number: each thread's fair share holds two chunks.
  uint64_t max_bytes = uint64_t{1} << 30;
  // Members of a JSON object, copied ("\"a\":1,\"b\":2"); may be null.
  const char* metadata_json = nullptr;
  // Returns the source's own number of the calling thread (logical_thread of
  // opscope_stream_attach). The recorder calls it if a native scope attaches a
  // thread before the source does. It must be cheap and lock-free. May be null.
  uint64_t (*thread_number)() = nullptr;
  // Path of a file in which the chunks lie while recording (FORMAT.md, "mapped
  // files"), so that a killed process leaves its recording behind. Replaces an
  // existing file. The recorder keeps in memory what the file cannot take;
  // opscope_window_file reports that. Null: chunks lie in memory.
  const char* record_to = nullptr;
};

// Unit of Record::start and of durations in a track: ticks of ReadTicks, or
// nanoseconds since 1970.
enum class TrackClock : uint32_t { kTicks = 0, kUnixNs = 1 };

// How long a track accepts records.
enum class TrackEnd : uint32_t {
  kAtClose = 0,  // of the window
  kAtRead = 1,   // the close leaves it open: until opscope_track_close, or the first opscope_window_read
};

// Options of opscope_track_open.
struct TrackOptions {
  const char* name = nullptr;   // as a thread's; copied, cut to 31 bytes; may be null
  uint64_t os_thread = 0;       // whose records they are; 0: of no thread
  uint64_t logical_thread = 0;  // the source's own number for that, 0: none
  TrackClock clock = TrackClock::kTicks;
  TrackEnd end = TrackEnd::kAtClose;
};

// Counts of a window at one moment. recorded + dropped = issued.
struct WindowCounts {
  uint64_t recorded = 0;  // kept records
  uint64_t dropped = 0;   // recorded + dropped = issued
  uint64_t bytes = 0;     // held, of those that max_bytes is for
  uint32_t threads = 0;
  uint32_t chunks = 0;
};

// State of the file of WindowOptions::record_to.
struct WindowFile {
  uint64_t bytes = 0;             // of the file; 0: there is none
  uint32_t chunks_in_memory = 0;  // of which the file has no copy: all of them while recording, fewer after the close
  int error = 0;                  // errno of the first refusal, 0: none
  const char* step = nullptr;     // what was refused, static text ("while growing the file")
};

}  // namespace opscope

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wreturn-type-c-linkage"  // WindowCounts: its users are all C++
#endif
extern "C" {

// 0: no window takes native scopes. The value changes with every open and close, so
// a thread whose Thread::gate equals it is up to date.
OPSCOPE_RECORDER_API extern std::atomic<uint64_t> opscope_gate;
// Generation of the open window in each slot, 0: none.
OPSCOPE_RECORDER_API extern std::atomic<uint64_t> opscope_window_generation[opscope::kMaxWindows];
// __thread and not thread_local: the latter makes every access from another library
// a function call.
OPSCOPE_RECORDER_API extern __thread opscope::Thread* opscope_tls __attribute__((tls_model("initial-exec")));
// 0: ReadTicks reads the TSC. Set while the library is loaded, never changed later.
OPSCOPE_RECORDER_API extern uint32_t opscope_clock_is_slow;

// kRecorderAbi of the loaded library.
OPSCOPE_RECORDER_API uint32_t opscope_recorder_abi();
// Does early what the first window would do while it opens: touches the chunk pool,
// measures the cost of an event, makes the calling thread's Thread. Optional, any
// time, any thread.
OPSCOPE_RECORDER_API void opscope_prepare();
// CLOCK_MONOTONIC in nanoseconds: the ticks of a machine without an invariant TSC.
OPSCOPE_RECORDER_API uint64_t opscope_read_slow_clock();

// The calling thread's Thread, made at first use. Null on an allocation failure and
// after the thread's end was seen; the caller then records nothing.
OPSCOPE_RECORDER_API opscope::Thread* opscope_thread();
// Brings thread->native up to date with opscope_gate: attaches the thread to new
// windows, detaches it from closed ones. Null, with the event counted as dropped:
// as opscope_thread, and if the calling thread is writing already (invariant 8).
OPSCOPE_RECORDER_API opscope::Thread* opscope_thread_sync();
// The calling thread's stream in the open window of `slot`; attaches the thread
// when it has none. Null when the window is closed. logical_thread: the source's
// own number for this thread, 0: none.
OPSCOPE_RECORDER_API opscope::Stream* opscope_stream_attach(uint32_t slot, uint64_t logical_thread);
// Opens a track: a stream without a thread of its own, for records that a source
// holds finished (a device's, another recorder's). Interned names and AppendRecord
// of recorder.h write to it, from one thread at a time. The window treats it as a
// thread: under the cap, in dumps, in mapped files. Null: the window is closed, or
// an allocation failed. A track of TrackEnd::kAtRead accepts records also after the
// window's close. The last such track ends a mapped file; a reader before that
// finds the file of a killed process, complete up to then.
OPSCOPE_RECORDER_API opscope::Stream* opscope_track_open(opscope::Window* window, const opscope::TrackOptions* options);
// Ends a track; no recording has what is appended later. Before or after the
// window's close, read or end.
OPSCOPE_RECORDER_API void opscope_track_close(opscope::Stream* stream);
// A module (program, plugin) that recorded with string literals is being unloaded,
// so other texts may get their addresses. Every thread drops its cache of literal
// addresses at its next native scope.
OPSCOPE_RECORDER_API void opscope_module_unloads();
// Name of the calling thread in its chunks from now on; copied, cut to 31 bytes at
// a UTF-8 character.
OPSCOPE_RECORDER_API void opscope_set_thread_name(const char* name);

// Slow paths of recorder.h; the calling thread must own the stream.
//
// Takes a slot when Thread::free_slots is odd; free_slots then holds the rest. Null
// on an allocation failure, or if the calling thread is writing already (invariant
// 8); the event then counts as dropped.
OPSCOPE_RECORDER_API opscope::OpenScope* opscope_take_slot(opscope::Stream* stream);
// The same check for records without a slot: true if free_slots is odd only because
// no slot is left.
OPSCOPE_RECORDER_API bool opscope_may_write(opscope::Stream* stream);
// Offset of the name in the current chunk; writes it at its first use there. 0: no
// chunk, or the cap.
OPSCOPE_RECORDER_API uint32_t opscope_intern_slow(opscope::Stream* stream, const char* text, uint64_t size);
// Makes room for one record and `entry_bytes` of entries: takes the next chunk if
// needed, under the policy at the cap. False: no room; the caller counts the record
// as dropped.
OPSCOPE_RECORDER_API bool opscope_make_room(opscope::Stream* stream, uint64_t entry_bytes);
// Unlinks scopes that other threads have ended from the stream's list; returns the
// innermost one that is left.
OPSCOPE_RECORDER_API opscope::OpenScope* opscope_drop_ended(opscope::Stream* stream);
// Writes the innermost scope, which has just begun, into open_table. A scope deeper
// than the table moves the stream on to a chunk with a larger table.
OPSCOPE_RECORDER_API void opscope_write_open_scope(opscope::Stream* stream);
// CloseScope and ReleaseScope of recorder.h, for every state of the scope and from
// any thread.
OPSCOPE_RECORDER_API void opscope_close_slow(opscope::OpenScope* scope, uint64_t now);
OPSCOPE_RECORDER_API void opscope_release_slow(opscope::OpenScope* scope);

// Opens a window. Null with a sentence in *error (static text) if the options are
// wrong, all 64 slots are taken, or an allocation fails. Any thread. The first call
// of a process takes some hundred microseconds more (opscope_prepare).
OPSCOPE_RECORDER_API opscope::Window* opscope_window_open(const opscope::WindowOptions* options, const char** error);
// Number of the window while it is open, 0..63; and its generation, never reused in
// the process.
OPSCOPE_RECORDER_API uint32_t opscope_window_slot(const opscope::Window* window);
OPSCOPE_RECORDER_API uint64_t opscope_window_id(const opscope::Window* window);  // its generation
// Ends the window: only tracks of TrackEnd::kAtRead accept records from here on. Writes scopes that are still open as
// kUnfinished records. Milliseconds, independent of the number of records. Any
// thread; a second call does nothing.
OPSCOPE_RECORDER_API void opscope_window_close(opscope::Window* window);
// Counts until now. O(threads). Any thread, until the window is freed.
OPSCOPE_RECORDER_API opscope::WindowCounts opscope_window_counts(const opscope::Window* window);
// State of the window's file. O(threads). Any thread, until the window is freed.
OPSCOPE_RECORDER_API opscope::WindowFile opscope_window_file(const opscope::Window* window);
// Adds members to the window's metadata (JSON text as above). Any thread, until the
// window is freed.
OPSCOPE_RECORDER_API void opscope_window_add_metadata(opscope::Window* window, const char* metadata_json);
// Adds members to the window's measured cost per event ("own_cost" in
// src/wire/FORMAT.md). A source adds those of its events; the recorder adds those
// of native events. Any thread, until the window is freed.
OPSCOPE_RECORDER_API void opscope_window_add_overheads(opscope::Window* window, const char* members_json);
// Calls `sink` once per block: first one block_types::kWindowInfo, then every
// chunk, ordered by thread and sequence. The bytes stay valid until
// opscope_window_free. No call at all: an allocation failed. Closes tracks that are
// still open. REQUIRES: the window is closed.
OPSCOPE_RECORDER_API void opscope_window_read(const opscope::Window* window,
                                              void (*sink)(void* context, uint16_t block_type, const void* data,
                                                           uint64_t bytes),
                                              void* context);
// Takes a snapshot of the window while its threads go on recording. Calls `sink`
// once per chunk, newest first, with the open scopes as kUnfinished records, and
// once with block_types::kWindowInfo, whose member "dump" holds `about_json`
// (members of a JSON object; may be null). Of each thread it has the newest records
// without a gap; older ones count as dropped. Bytes are valid during the call of
// `sink`; those between the records and the entries of a chunk are undefined.
// False: the sink returned false, an allocation failed, or the window belongs to
// the parent process of a fork. Any thread, also while the window closes or later;
// dumps of one window run one after the other. REQUIRES: the caller keeps the
// window from being freed meanwhile.
OPSCOPE_RECORDER_API bool opscope_window_dump(opscope::Window* window, const char* about_json,
                                              bool (*sink)(void* context, uint16_t block_type, const void* data,
                                                           uint64_t bytes),
                                              void* context);
// Frees the window's memory; closes it first if it is open. Null is accepted.
// Threads that still hold a stream of it let go at their next event or at their
// end. REQUIRES: no other call with this window is running.
OPSCOPE_RECORDER_API void opscope_window_free(opscope::Window* window);

}  // extern "C"
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

namespace opscope {

// Block types of a recording (src/wire/FORMAT.md); the recorder produces these.
namespace block_types {
inline constexpr uint16_t kWindowInfo = 1;  // JSON text: options, process, calibrations, threads with counts, metadata
inline constexpr uint16_t kRawChunk = 2;    // one chunk as described in record.h
inline constexpr uint16_t kLiveChunk = 3;   // a chunk that lies in the file while it is written, and its OpenTable
}  // namespace block_types

}  // namespace opscope
