#include "lib/Gemmi/CifItems.h"

#include "lib/Gemmi/Guard.h"

#include <gemmi/cif.hpp>

namespace nanobragg::io {

std::vector<CifItem> itemsOfCif(const std::string &path, const std::string &content) {
  std::vector<CifItem> items;
  const auto add = [&](const std::string &tag, std::vector<std::string> values) {
    for (std::string &value : values)
      value = gemmi::cif::is_null(value) ? "." : gemmi::cif::as_string(value);
    items.emplace_back(gemmi::to_lower(tag), std::move(values));
  };
  const gemmi::cif::Document document =
      withGemmi(path, "CIF", [&] { return gemmi::cif::read_string(content); });
  for (const gemmi::cif::Block &block : document.blocks)
    for (const gemmi::cif::Item &item : block.items) {
      if (item.type == gemmi::cif::ItemType::Pair)
        add(item.pair[0], {item.pair[1]});
      for (std::size_t i = 0; item.type == gemmi::cif::ItemType::Loop && i < item.loop.width();
           ++i) {
        std::vector<std::string> values;
        values.reserve(item.loop.length());
        for (std::size_t row = 0; row < item.loop.length(); ++row)
          values.push_back(item.loop.val(row, i));
        add(item.loop.tags[i], std::move(values));
      }
    }
  return items;
}

} // namespace nanobragg::io
