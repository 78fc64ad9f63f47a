#pragma once

// The encoder's side of the encode cache: when a function or class is kept, and when
// what was kept is taken.
//
// Where nothing but plain data follows, manifest and code section are those that were
// kept with the last node of the chain. When anything else follows, the roots of the
// nodes are encoded once more the general way, to nowhere: then manifest and code
// section are what they would be, and the bytes that were taken are right.

#include <Python.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "python/encode/encode_context.h"
#include "python/encode/kept_node.h"

namespace waybill::py {

class KeptChain {
 public:
  struct Link {
    Ref root, key;  // A class, or a function and its code.
    std::shared_ptr<KeptNode> node;
  };

  // Both outlive this. With options that have a say in the graph nothing is kept.
  explicit KeptChain(EncodeContext& context);

  bool is_closed() const { return phase_ == Phase::kClosed; }
  // Nothing is kept or taken any more. Answers whether that changes what taken() is:
  // the other sections lack these nodes, and their roots have to be encoded for them.
  bool close();
  std::span<const Link> taken() const { return std::span(chain_).first(taken_); }

  // Another encoder has written the beginning, and these are its sections.
  void follow(const KeptSections& sections);

  // What an object means that is no plain data and comes next.
  enum class Meeting : std::uint8_t {
    kTaken,       // It was kept, and now is written.
    kInside,      // What is kept goes on.
    kEnd,         // It is not kept: the chain is to be closed.
    kBegin,       // The same, but then begin() may keep it.
    kAfterFirst,  // It comes after what another encoder wrote. The chain is closed.
  };
  Meeting meet(PyObject* object);
  void begin(PyObject* object);
  // Told whenever an object may be complete.
  void end_node() {
    if (phase_ == Phase::kWriting && context_.stack.size() == depth_) set_node();
  }

  // What is kept for a class that would come next; null if nothing is.
  std::shared_ptr<KeptNode> kept_class(PyObject* type) const;
  // Writes it behind the head of an instance's node; false if it cannot be taken, and
  // then nothing is written.
  bool take_class(std::shared_ptr<KeptNode> kept, PyObject* type);

  // The other sections, where what was taken or followed is all of the payload that is
  // no plain data. Null if they are those of the context.
  const KeptSections* sections() const;
  // What was kept in the middle of payloads has no sections, until it is the last. Then
  // the chain is to be closed, and to wait for them.
  bool lacks_sections() const;
  void wait_for_sections() { phase_ = Phase::kWritten; }
  // Whether functions or classes were written that seem worth to be kept; the sections
  // of the last are those of the payload.
  bool is_to_be_kept() const;
  void keep(KeptSections sections);

 private:
  enum class Phase : std::uint8_t {
    kOpen,     // There was plain data alone.
    kWriting,  // A node is written that is to be kept.
    kWritten,  // It was, and all else is plain data.
    kTaken,    // What was kept was taken, and all else is plain data.
    kBegun,    // Another encoder wrote the beginning, and all else is plain data.
    kClosed,   // Nothing more of a cache is in this payload.
  };
  static constexpr std::size_t kMaxChain = 8;

  Meeting meet_first(PyObject* object);
  KeptSlot* slot(std::size_t place, PyObject* key) const;
  void note_miss(std::size_t place, PyObject* key) const;
  // Whether a kept node can stand here. Its objects are among `met_` then.
  bool can_take(const Link& link);
  // Writes it. The root has been noted.
  void take(Link link);
  void set_node();
  bool has_source() const;
  bool still_fits(const std::vector<std::uintptr_t>& containers) const;

  EncodeContext& context_;
  Phase phase_ = Phase::kClosed;
  std::vector<Link> chain_;         // First those that were taken, then those written.
  std::size_t taken_ = 0;           // So many were taken.
  std::vector<VisitedObject> met_;  // The objects of all of them.
  WrittenObjects::Trace trace_;     // kWriting: of the node.
  std::size_t base_ = 0;            // Where the node begins,
  std::size_t depth_ = 0;           // and the size of the stack below it,
  std::size_t stored_ = 0;          // and the number of stored buffers before it.
  const KeptSections* first_sections_ = nullptr;  // kBegun.
};

}  // namespace waybill::py
