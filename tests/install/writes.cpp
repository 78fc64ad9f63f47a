// Writes an array among plain data to a file, and finds it in the mapped file.

#include <cstdio>
#include <fstream>
#include <vector>

#include "waybill/mapped_file.h"
#include "waybill/parts.h"
#include "waybill/value.h"

int main() {
  using waybill::data::array_of;
  using waybill::data::List;
  using waybill::data::Map;
  const std::vector<double> weights(20'000, 0.5);
  const Map model = {{"weights", array_of(weights, {1000, 20})},
                     {"names", List{"left", "right"}},
                     {"step", 3}};
  std::ofstream out("model.waybill", std::ios::binary);
  const auto write = [&](waybill::BytesView piece) {
    out.write(reinterpret_cast<const char*>(piece.data()),
              std::streamsize(piece.size()));
  };
  if (!waybill::write_value_to(write, model) || !out.flush()) return 1;

  const auto file = waybill::MappedFile::open("model.waybill");
  if (!file) return 2;
  const auto envelope = waybill::open_mapped(file->bytes());
  if (!envelope) return 3;
  const auto offset = waybill::find_part(*envelope, "['weights']");
  if (!offset) return 4;
  const waybill::Part part = waybill::describe_part(*envelope, *offset);
  if (!part.array || part.array->bytes.size() != 160'000) return 5;
  std::puts("written");
}
