// Starts Python and makes a call, with all headers.

#include "waybill/waybill.h"

#include <cstdio>

#include <Python.h>

int main() {
  auto python = waybill::Interpreter::start();
  if (!python) {
    std::puts(python.error().detail.c_str());
    return 1;
  }
  waybill::Result<std::vector<std::uint8_t>> payload;
  {
    const waybill::GilScope gil;
    PyRun_SimpleString(
        "import math\n"
        "def hypotenuse(a, b): return math.hypot(a, b)\n"
        "call = (hypotenuse, (3, 4), {})\n");
    PyObject* main_module = PyImport_AddModule("__main__");
    PyObject* call = PyObject_GetAttrString(main_module, "call");
    const waybill::Object owned = waybill::Object::steal(call);
    payload = waybill::encode(owned.get());
  }
  if (!payload) return 2;
  const auto outcome = waybill::call(*payload);
  if (!outcome) return 3;
  const auto value = waybill::read_value(*outcome);
  const auto* map = value ? value->get_if<waybill::data::Map>() : nullptr;
  const auto* result = map != nullptr ? map->find("result") : nullptr;
  if (result == nullptr || *result != waybill::data::Value(5.0)) return 4;
  if (!python->finish()) return 5;
  std::puts("called");
}
