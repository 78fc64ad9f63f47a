// Tested by tests/python/test_large_binaries.py.

#include "python/large_binaries.h"

#include "python/code_view.h"

namespace waybill::py {

void LargeBinaries::write(PyObject* object, wire::Writer& out) {
  if (PyBytes_CheckExact(object)) {
    immutable_.push_back(Ref::share(object));
    out.binary_in_place(bytes_of(object));
    return;
  }
  auto view = std::make_unique<BufferView>(object);
  const std::size_t insertion = out.insertions().size();
  out.binary_in_place(view->bytes());
  if (Py_IS_TYPE(object, &PyPickleBuffer_Type)) {
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
