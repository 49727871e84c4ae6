// The bytes that the recorder writes: 32-byte records in self-contained chunks. The
// writer (the recorder's inline hot path, recorder.h) and the reader (src/wire,
// src/import) share this description; src/wire/FORMAT.md draws it with an encoded
// example.
//
//   chunk (one thread, one window)                                    chunk.size bytes
//   +--------+---------+---------+-- --+            +-- --+----------+-----------+
//   | header | record0 | record1 | ... |  free      | ... | entry 1  |  entry 0  |
//   +--------+---------+---------+-- --+            +-- --+----------+-----------+
//                                 record_count ->      <- entries_begin
//
// Records grow upward, entries (names and payloads) grow downward from the end. A
// record names its entries by byte offset within its own chunk, so a lost chunk
// costs only itself. A name entry is a NameEntry followed by the text; entries are
// 8-byte aligned.
//
// Order: the recorder writes a scope when it ends, so children stand before their
// parent (post-order). `depth`, the number of open scopes of the same thread and
// window around it, rebuilds the tree without comparing times:
//
//   main { load {} train { forward {} } }   is written as   load 1, forward 2, train 1, main 0
//
// A record adopts all pending records that are deeper than itself. A gap in depth
// is legal (an asynchronous scope, a record dropped at the cap). Across a gap a
// deeper record may belong further out: a record does not adopt one that began
// before itself.
//
// Thread rule: one thread writes a chunk. It stores `record_count` and `entries_begin`
// together, with release order, after everything they cover. A reader loads them
// with acquire order and may then read records [0, record_count) and bytes
// [entries_begin, size); the bytes between are undefined.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace opscope {

// What a record means; says how to read start, value, name and payload. The numbers
// stand in files.
enum class RecordKind : uint8_t {
  kNone = 0,
  // A scope that ended on its thread, part of the nesting. start, value = duration,
  // depth.
  kScope = 1,
  // A call that begins. start, value = identity of the call while it runs (Python:
  // one record per call, one per return), payload: may have kKeywords.
  kEnter = 2,
  // Its end. start, value = identity of the call.
  kExit = 3,
  // Like kScope, outside of the nesting; may have ended on another thread.
  kAsync = 4,
  // An allocation or free. start, value = signed bytes, payload: has kAddress, may
  // have kTotals.
  kAllocation = 5,
  // start, value = bits of a double.
  kCounter = 6,
  // start.
  kInstant = 7,
  // start, value = flow id; likewise kFlowEnd.
  kFlowBegin = 8,
  kFlowEnd = 9,
  // Work of a device. start, value = duration, payload: has kDevice.
  kDeviceSpan = 10,
  // A block of the CPU's allocator. start, value = its bytes (0: unknown), name and
  // payload: its address (BlockAddress).
  kHostBlock = 11,
  // Tensors that a Python object references. start, value = address of the object,
  // payload: has kHeld.
  kHeld = 12,
  // A record of another recorder, unchanged. `source` says whose; its rules define
  // `scope` and the other fields (megengine_event.h). start is in that recorder's
  // time and not in ticks, whatever the unit of the track.
  kNative = 13,
  // An allocation that failed. start, value = requested bytes, payload: none for the
  // CPU's allocator, else it has kAddress (address 0) and kTotals.
  kOutOfMemory = 14,
};

// The origin of a record; says how to read Record::scope.
enum class RecordSource : uint8_t {
  kAnnotation = 0,
  kTorch = 1,
  kPaddle = 2,
  kMegEngine = 3,
  kPython = 4,
  kCuda = 5,
  kOther = 255,  // a source that is not opscope's own; its scopes are operators
};

// What a kEnter or kExit of kPython calls: a Python function, a C function, a
// module (nn.Module), or the garbage collector. Stored in Record::scope.
enum class CallKind : uint8_t { kPython = 0, kFunction = 1, kModule = 2, kCollector = 3 };

// Bits of Record::flags.
namespace record_flags {
// The scope was still open when the window closed; its duration reaches to the close.
inline constexpr uint8_t kUnfinished = 1;
// The scope ended on another thread; the payload has payload_fields::kStartThread.
inline constexpr uint8_t kOtherThread = 2;
// The range of one training step; its name is "ProfilerStep#N" or alike.
inline constexpr uint8_t kStep = 4;
// kAsync for one reason only: a scope that began inside it ended after it.
inline constexpr uint8_t kCrossing = 8;
// Of kHostBlock: the block was freed. Without the flag it was allocated.
inline constexpr uint8_t kFreed = 16;
// Of kHostBlock: the block may be smaller than its bytes say.
inline constexpr uint8_t kUnsure = 32;
// Of kNative: it ends what an earlier record of that recorder began.
inline constexpr uint8_t kFinish = 64;
}  // namespace record_flags

// One event. All times are ticks of the recorder's clock, but for tracks with
// kUnixTimes and for kNative.
struct Record {
  // Begin, in ticks (see Calibration).
  uint64_t start = 0;
  // A duration, a number of bytes, an id: RecordKind says which.
  uint64_t value = 0;
  // Offset of a NameEntry in this chunk; 0: no name.
  uint32_t name = 0;
  // Offset of a PayloadHeader in this chunk; 0: none.
  uint32_t payload = 0;
  // Open scopes around it; saturates at 65535.
  uint16_t depth = 0;
  RecordKind kind = RecordKind::kNone;
  // record_flags.
  uint8_t flags = 0;
  RecordSource source = RecordSource::kAnnotation;
  // kTorch: at::RecordScope; kPaddle: phi::TracerEventType; kPython: CallKind.
  uint8_t scope = 0;
  uint16_t reserved = 0;
};
static_assert(sizeof(Record) == 32);

// True if name and payload of a record are offsets of entries in its chunk.
inline bool HasEntries(const Record& record) {
  return record.kind != RecordKind::kHostBlock;
}
// Address of a kHostBlock, split over name and payload. Such a record has no name: it
// is one of two per operator.
inline uint64_t BlockAddress(const Record& record) {
  return uint64_t{record.name} | uint64_t{record.payload} << 32;
}

// A name in the entry area. The text may hold any bytes.
struct NameEntry {
  // Bytes of the text that follows; a NUL after it is not counted.
  uint32_t size = 0;
  uint32_t reserved = 0;
};
// Bytes of the whole entry: header, text, one NUL, padding to 8.
constexpr uint64_t NameEntryBytes(uint64_t text_bytes) {
  return (sizeof(NameEntry) + text_bytes + 1 + 7) & ~uint64_t{7};
}

// A payload: this header, then the fields whose bits are set, in bit order, then
// `arg_count` encoded arguments. All words are 4 bytes.
struct PayloadHeader {
  // Bytes of the whole entry, header included; a multiple of 8.
  uint32_t bytes = 0;
  // payload_fields.
  uint16_t fields = 0;
  // Encoded arguments at the end.
  uint16_t arg_count = 0;
};

// Marks a Python stack in front of the JSON members of a kKeywords entry: this
// character, one line per frame, innermost first, each ended by a newline, this
// character again.
inline constexpr char kFramesMark = '\x01';

namespace payload_fields {
inline constexpr uint16_t kSequence = 1;       // int64 sequence number, uint64 forward thread (logical id)
inline constexpr uint16_t kOverload = 2;       // uint32 name offset of the overload name, uint32 0
inline constexpr uint16_t kStartThread = 4;    // uint32 thread index, uint32 0: where the scope began
inline constexpr uint16_t kAddress = 8;        // uint64 address, uint32 device type, int32 device index
inline constexpr uint16_t kDevice = 16;        // int32 device, int32 stream, uint64 correlation
inline constexpr uint16_t kKeywords = 32;      // uint32 offset of a NameEntry: JSON members (kFramesMark), uint32 0
inline constexpr uint16_t kRecordHandle = 64;  // uint64 "Record function id" of Chrome traces
inline constexpr uint16_t kTotals = 128;       // int64 bytes allocated, int64 bytes reserved, after this allocation
inline constexpr uint16_t kTensors = 256;      // uint32 count, uint32 0, then so many TensorIdentity
inline constexpr uint16_t kHeld = 512;         // uint32 count, uint32 0, then so many ReferencedTensor
// uint32 offset of another payload of the chunk, uint32 0: the encoded arguments are that one's, which has them itself.
inline constexpr uint16_t kArgumentsOf = 1024;
// Bytes of one field, without the entries that follow kTensors and kHeld. 0:
// unknown field.
constexpr uint32_t BytesOf(uint16_t field) {
  return field == kSequence || field == kAddress || field == kDevice || field == kTotals ? 16
         : field == kOverload || field == kStartThread || field == kKeywords || field == kRecordHandle ||
                 field == kTensors || field == kHeld || field == kArgumentsOf
             ? 8
             : 0;
}
}  // namespace payload_fields

// Identity of a tensor argument: one per encoded kTensor, in their order, those of
// lists included. Allocators reuse addresses, so tensor objects carry numbers;
// allocations and frees distinguish storages at one address.
struct TensorIdentity {
  // Address of its bytes; 0: it has none.
  uint64_t storage = 0;
  // Bits 0..47: number of the tensor object, 0: no number was free; 48..55:
  // device type; 56..63: device index.
  uint64_t tensor = 0;
};
static_assert(sizeof(TensorIdentity) == 16);
constexpr uint64_t PackTensor(uint64_t number, uint8_t device_type, int8_t device) {
  return (number & 0xffffffffffffu) | uint64_t{device_type} << 48 | uint64_t{static_cast<uint8_t>(device)} << 56;
}

// Why a Python object (nn.Module, Optimizer) holds a tensor.
enum class TensorRole : uint32_t { kParameter = 0, kGradient = 1, kState = 2 };
struct ReferencedTensor {
  TensorIdentity identity;
  // Bytes that sizes and strides span; -1: a layout without strides.
  int64_t bytes = -1;
  TensorRole role = TensorRole::kParameter;
  // Offset of the NameEntry of its name in the object; 0: none.
  uint32_t name = 0;
};
static_assert(sizeof(ReferencedTensor) == 32);

// An encoded argument is a tag word, followed by what its kind says. The tag has
// the kind in bits 0..3, the element type in bits 4..11 (torch's ScalarType number,
// or kUnknownElement), flags in bits 12..15, a count in bits 16..31. Example: a
// contiguous float tensor of sizes [64, 32] is 0x00021061, 64, 32: count 2,
// kContiguous, float (6), kTensor.
inline constexpr uint32_t kUnknownElement = 255;
enum class ArgKind : uint8_t {
  kOther = 0,        // nothing follows (None, string, device, generator, ...)
  kTensor = 1,       // count = dimensions: sizes, then strides unless kContiguous or kNoStrides (NoStrides)
  kUndefined = 2,    // an undefined (or nested, or symbolic) tensor
  kTensorList = 3,   // count = tensors: that many encoded arguments of kTensor or kUndefined
  kInt = 4,          // 2 words
  kDouble = 5,       // 2 words
  kBool = 6,         // value in the count field
  kIntList = 7,      // count = values: 1 word each, 2 with kWide
  kDoubleList = 8,   // count = values: 2 words each
  kBoolList = 9,     // count = values: 1 word each
  kComplex = 10,     // 4 words: real, imaginary
  kScalarList = 11,  // count = values: that many encoded arguments of scalar kinds
};
namespace arg_flags {
inline constexpr uint32_t kContiguous = 1u << 12;  // strides are those of a dense row-major tensor
inline constexpr uint32_t kWide = 1u << 13;        // sizes and strides (or values) take 2 words, low first
inline constexpr uint32_t kNoStrides = 1u << 14;   // layout without strides (sparse, ...)

// A kTensor without strides has a count of 12 bits; the four bits above hold
// torch's number of its layout, 0: unknown.
inline constexpr uint32_t kMaxUnstridedSizes = 0xfff;
constexpr uint32_t NoStrides(uint32_t layout) {
  return kNoStrides | (layout & 15u) << 28;
}
constexpr uint32_t LayoutOf(uint32_t tag) {
  return (tag & kNoStrides) != 0 ? tag >> 28 : 0;
}
constexpr uint32_t SizesOf(uint32_t tag) {
  return tag >> 16 & ((tag & kNoStrides) != 0 ? kMaxUnstridedSizes : 0xffffu);
}
}  // namespace arg_flags

// One reading of both clocks at the same moment; interpolating between two of them
// turns ticks into time.
struct Calibration {
  // Of the recorder's clock (ReadTicks).
  uint64_t ticks = 0;
  // Nanoseconds since 1970.
  int64_t unix_ns = 0;
};

inline constexpr uint32_t kChunkMagic = 0x4b48434f;  // "OCHK"
// Version of the layout of records and entries; a reader refuses any other.
inline constexpr uint16_t kChunkLayout = 1;
// Flag of ChunkHeader::layout for a track of TrackClock::kUnixNs: times are
// nanoseconds since 1970, durations nanoseconds.
inline constexpr uint16_t kUnixTimes = 0x100;
// Usual size of a chunk.
inline constexpr uint32_t kChunkBytes = 256 * 1024;

// Header of a chunk. "Before" means records of this thread and window before this
// chunk: recorded_before counts those written into earlier chunks, recycled ones
// included (kKeepNewest); dropped_before counts those never written and those of
// recycled chunks.
struct ChunkHeader {
  uint32_t magic = kChunkMagic;
  uint16_t layout = kChunkLayout;  // maybe with kUnixTimes
  uint16_t header_bytes = 0;
  uint32_t size = 0;            // of the whole; kChunkBytes, more for large entries, less for many or ended threads
  uint32_t sequence = 0;        // 0, 1, 2, ... per thread and window; a gap is a lost chunk
  uint64_t window = 0;          // generation of the window
  uint64_t os_thread = 0;       // gettid()
  uint32_t thread_index = 0;    // the recorder's own number of the thread, never reused in a process
  uint32_t process = 0;         // getpid()
  uint64_t logical_thread = 0;  // the source's own thread number, 0: none
  uint64_t dropped_before = 0;
  Calibration calibration;  // the newest when the chunk was taken
  char thread_name[32] = {};
  std::atomic<uint32_t> record_count{0};  // published records
  uint32_t entries_begin = 0;             // lowest byte used by the entries of published records
  uint64_t recorded_before = 0;
  uint64_t table_distance = 0;  // in a mapped file: bytes from the beginning of the OpenTable to the chunk
};
static_assert(sizeof(ChunkHeader) == 128);
static_assert(std::atomic<uint32_t>::is_always_lock_free);
static_assert(offsetof(ChunkHeader, record_count) % 8 == 0 &&
              offsetof(ChunkHeader, entries_begin) == offsetof(ChunkHeader, record_count) + 4);
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "recordings are little-endian");

// record_count and entries_begin as the one 64-bit word that the writer stores: a
// reader never sees one without the other, and publishing costs a single store.
struct PublishedExtent {
  uint32_t record_count = 0;
  uint32_t entries_begin = 0;
};
using PublishedWord [[gnu::may_alias]] = uint64_t;

inline void StorePublished(ChunkHeader* chunk, PublishedExtent extent) {
  auto* word = reinterpret_cast<PublishedWord*>(reinterpret_cast<char*>(chunk) + offsetof(ChunkHeader, record_count));
  __atomic_store_n(word, uint64_t{extent.record_count} | uint64_t{extent.entries_begin} << 32, __ATOMIC_RELEASE);
}

inline PublishedExtent LoadPublished(const ChunkHeader* chunk) {
  const auto* word = reinterpret_cast<const PublishedWord*>(reinterpret_cast<const char*>(chunk) +
                                                            offsetof(ChunkHeader, record_count));
  const uint64_t both = __atomic_load_n(word, __ATOMIC_ACQUIRE);
  return {static_cast<uint32_t>(both), static_cast<uint32_t>(both >> 32)};
}

// A mapped file (WindowOptions::record_to) has a table of the open scopes before
// each chunk, so that a reader finds what a killed or hung program was doing:
//
//   block header | OpenTable | capacity x OpenTableEntry | free | chunk (chunk.size bytes) | ChunkTrailer | free
//
// The entry of a scope stands at its depth and names its entries in the chunk. The
// thread writes it when the scope begins, `start` last. A scope that ends on its
// own thread leaves it unchanged: a record with the same start and depth in the
// same chunk means that the scope has ended. The next chunk begins with the entries
// of the scopes that are still open; its magic is written after them. So of the
// chunks of a thread the one with the highest sequence has the open scopes. Magic
// 0: the chunk is not in use.
//
// A reader of a running program reads forward: it finds an open scope's name,
// written before the table entry, and reads records, which may end the scope, after
// the table. At the cap (kKeepNewest) the unit may be reused for another chunk
// meanwhile; then table, header and trailer name different chunks.
struct OpenTableEntry {
  uint64_t start = 0;             // ticks; 0: none
  uint32_t name = 0;              // as in Record
  uint32_t payload = 0;           // likewise
  uint32_t depth_kind_flags = 0;  // depth | kind << 16 | flags << 24
  uint32_t origin = 0;            // source | scope << 8
};
static_assert(sizeof(OpenTableEntry) == 24);

// The fields of a record as its open scope packs them.
constexpr uint16_t UnpackDepth(uint32_t depth_kind_flags) {
  return static_cast<uint16_t>(depth_kind_flags);
}
constexpr RecordKind UnpackKind(uint32_t depth_kind_flags) {
  return static_cast<RecordKind>(depth_kind_flags >> 16 & 0xffu);
}
constexpr void UnpackScope(uint32_t depth_kind_flags, uint32_t origin, Record* record) {
  record->depth = UnpackDepth(depth_kind_flags);
  record->kind = UnpackKind(depth_kind_flags);
  record->flags = static_cast<uint8_t>(depth_kind_flags >> 24);
  record->source = static_cast<RecordSource>(origin & 0xffu);
  record->scope = static_cast<uint8_t>(origin >> 8);
}

inline constexpr uint32_t kOpenTableMagic = 0x4e45504f;  // "OPEN"
namespace open_table_flags {
inline constexpr uint32_t kLeftTheFile = 1;  // the thread went on in memory: its open scopes are unknown
inline constexpr uint32_t kTooDeep = 2;      // scopes deeper than `capacity` began; they have no entry
}  // namespace open_table_flags

// Header of the table.
struct OpenTable {
  uint32_t magic = kOpenTableMagic;
  uint32_t capacity = 0;      // entries
  uint64_t dropped = 0;       // records of this thread and window that the file will never have
  uint32_t flags = 0;         // open_table_flags
  uint32_t thread_index = 0;  // of the chunk
  uint32_t sequence = 0;      // likewise
  uint32_t chunk_at = 0;      // bytes from here to the chunk
};
static_assert(sizeof(OpenTable) == 32);

// Follows the chunk: names it once more, so that a reader detects a unit that was
// reused while it read.
struct ChunkTrailer {
  uint32_t thread_index = 0;
  uint32_t sequence = 0;
};

}  // namespace opscope
