// Reads the events of a block of text into a part. A block may end anywhere. The result says where the next block has
// to begin, so only the speed depends on the division.
//
// Thread rule: one thread at a time per reader; text and part belong to the call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "import/chrome/event.h"
#include "import/chrome/part.h"
#include "import/chrome/rows.h"
#include "import/text/text_source.h"

namespace opscope {

struct ChromeBlockEnd {
  enum class Kind : uint8_t {
    kAllRead,   // the block ends where an element may begin; with comma_due, where a comma may
    kCut,       // the block ends within the element that begins at `consumed`
    kArrayEnd,  // the ']' of the array is at `consumed`
    kError,     // the text at `consumed` is not JSON, and no event begins after it
  };
  struct Fault {
    const char* complaint = "";
    uint64_t at = 0;  // offset in the text
  };
  Kind kind = Kind::kAllRead;
  size_t consumed = 0;        // bytes of the block
  bool comma_due = false;     // the next element needs a comma before it
  Fault failure;              // of kCut and kError
  Fault first_fault;          // the first of the skipped faults
  uint64_t faults = 0;        // number of skipped faults
  uint64_t events = 0;        // objects
  uint64_t other_values = 0;  // elements that are not objects
};

struct ChromeBlock {
  TextBlock text;
  bool comma_due = false;   // the block follows an element without its comma
  bool is_last = false;     // the block reaches the end of the document
  bool has_events = false;  // earlier blocks have events
};

class ChromeBlockReader {
 public:
  // Replaces the contents of `part`.
  ChromeBlockEnd Read(const ChromeBlock& block, const ChromeConventions& conventions, ChromePart* part);

 private:
  bool ReadElement(JsonScanner* scanner, ChromePart* part, ChromeBlockEnd* end);
  bool PassFault(const ChromeBlock& block, JsonScanner* scanner, ChromePart* part, ChromeBlockEnd* end);

  ChromeRows rows_;
  ChromeEvent event_;
  JsonArrayMemo memo_;
};

// The offset after `from` of the '{' of a likely begin of an event; 0: not found.
size_t FindEventStart(std::string_view text, size_t from);

}  // namespace opscope
