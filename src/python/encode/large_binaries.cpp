// Tested by tests/python/kinds/test_large_binaries.py.

#include "python/encode/large_binaries.h"

#include <utility>

#include "python/discovery/code_view.h"

namespace waybill::py {

void LargeBinaries::write(PyObject* bytes, wire::Writer& out) {
  immutable_.push_back(Ref::share(bytes));
  out.binary_in_place(bytes_of(bytes));
}

void LargeBinaries::write(std::unique_ptr<BufferView> view, bool is_lent,
                          wire::Writer& out) {
  const std::size_t insertion = out.insertions().size();
  out.binary_in_place(view->bytes());
  if (is_lent) {
    lent_.push_back(std::move(view));
  } else {
    open_.push_back({insertion, std::move(view)});
  }
}

void LargeBinaries::settle(wire::Writer& out) {
  for (Open& open : open_) {
    const BytesView bytes = open.view->bytes();
    out.replace_insertion(open.insertion,
                          copies_.emplace_back(bytes.begin(), bytes.end()));
  }
  open_.clear();
}

}  // namespace waybill::py
