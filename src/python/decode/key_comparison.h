#pragma once

// What comparing two keys that have one hash takes, counted before it is done.

#include <Python.h>

#include <cstddef>
#include <cstdint>

namespace waybill::py {

inline constexpr std::uint64_t kComparison = 8;  // In steps from place to place.

// Where a set or dict of CPython looks for a hash, in turn, until `is_done` says so:
// the same from 3.11 to 3.15 (Objects/dictobject.c, Objects/setobject.c).
template <typename IsDone>
void for_each_place(std::size_t mask, Py_hash_t hash, bool is_set,
                    const IsDone& is_done) {
  constexpr std::size_t kLinearProbes = 9;  // Of a set, before it jumps.
  constexpr int kPerturbShift = 5;
  auto perturb = static_cast<std::size_t>(hash);
  for (std::size_t start = perturb & mask;;) {
    const bool has_run = is_set && start + kLinearProbes <= mask;
    const std::size_t end = start + (has_run ? kLinearProbes : 0);
    for (std::size_t at = start; at <= end; ++at) {
      if (is_done(at)) return;
    }
    perturb >>= kPerturbShift;
    start = (start * 5 + 1 + perturb) & mask;
  }
}

// How often one look-up meets one place at most. A hash has 64 bits, of which each jump
// takes five: the first place and twelve jumps are as the hash says. Jumps that follow
// go round through all places, each once, and meet a free one before they are through.
// A set looks at nine more from there, so ten jumps may lead to one place.
inline constexpr std::uint64_t kMostMeetings = 13 + 10;

// No fewer steps than `==` takes for these two, and what it counts in them; more than
// `most` where that is more, which is found out in about `most` steps. Neither is
// changed, and no code of theirs runs.
//
// C(u, v), the steps of `u == v`:
//   C = 1                                                 if u is v
//   C = 1 + size / 64                                     leaves
//   C = 1 + the sum of C(u[i], v[i])                      tuples, slices
//   C = 1 + the sum of M(x, y) * (8 + C(y, x)) + places   frozensets: x of u and y of v
//                                                         that have one hash
// where M(x, y) is how often the look-up of x in the table of v meets y before it meets
// a free place: up to kMostMeetings. So what comparing takes multiplies by level, by up
// to 23 times the number of items that have one hash, and what a frozenset would take
// cannot be told from it alone: M depends on the table of the other one. That is why C
// is told of pairs. Python stops earlier where items turn out to be unequal, or where
// one is found: it never takes more.
std::uint64_t comparison_steps(PyObject* left, PyObject* right, std::uint64_t most);

}  // namespace waybill::py
