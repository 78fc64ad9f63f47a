// Writes a payload to a file, maps it, and reads a part of it.

#include <cstdio>
#include <fstream>

#include "waybill/mapped_file.h"
#include "waybill/parts.h"
#include "waybill/value.h"

int main() {
  using waybill::data::List;
  using waybill::data::Map;
  const auto bytes = waybill::write_value(Map{{"run", Map{{"steps", List{10, 20}}}}});
  std::ofstream("run.waybill", std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes->data()),
             std::streamsize(bytes->size()));

  const auto file = waybill::MappedFile::open("run.waybill");
  if (!file) return 1;
  const auto envelope = waybill::open_mapped(file->bytes());
  if (!envelope) return 2;
  const auto offset = waybill::find_part(*envelope, "['run']['steps']");
  if (!offset) return 3;
  const waybill::Part part = waybill::describe_part(*envelope, *offset);
  if (part.array) {  // An array of NumPy or PyTorch: its items are in the file.
    std::printf("%s, %zu bytes\n", part.array->item.c_str(), part.array->bytes.size());
  }
  // Plain data beside code and arrays is read by itself.
  const auto alone = waybill::PartExtractor(*envelope).extract(*offset);
  if (!alone) return 4;
  const auto steps = waybill::read_value(*waybill::verify(alone->envelope));
  if (!steps || !(*steps == List{10, 20})) return 5;
  std::puts("read");
}
