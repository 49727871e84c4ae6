// Reads the events of a stretch of text into a part. A stretch may end anywhere: the result says where reading has to
// go on, so that nothing but the speed depends on where stretches end.
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
    kAllRead,   // the stretch ends where an element may begin, or, with comma_due, the comma before it
    kCut,       // it ends within the element that begins at `consumed`
    kArrayEnd,  // at `consumed` stands the ']'
    kError,     // what stands at `consumed` is no JSON, and no event begins behind it
  };
  struct Fault {
    const char* complaint = "";
    uint64_t at = 0;  // offset in the text
  };
  Kind kind = Kind::kAllRead;
  size_t consumed = 0;        // bytes of the stretch
  bool comma_due = false;     // an element ended, and no comma has come yet
  Fault failure;              // of kCut and kError
  Fault first_fault;          // of those that were passed over
  uint64_t faults = 0;        // that were passed over
  uint64_t events = 0;        // objects
  uint64_t other_values = 0;  // elements that are none
};

struct ChromeBlock {
  TextBlock text;
  bool comma_due = false;   // an element stands before it, and no comma yet
  bool is_last = false;     // it reaches the end of the document
  bool has_events = false;  // some were read before it
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

// Where `text` can be divided, most likely: at the '{' of an event, behind `from`. 0: nowhere.
size_t FindEventStart(std::string_view text, size_t from);

}  // namespace opscope
