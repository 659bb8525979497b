// Options with the numbers that flags have, for tests that read better so.
#ifndef NANOBRAGG_TEST_FLAGUNITS_H
#define NANOBRAGG_TEST_FLAGUNITS_H

#include "lib/Quantities/QuantityRows.h"

#include <set>

namespace nanobragg {

template <typename Convert>
Options eachNumber(Options options, Convert convert) {
  std::set<const Field *> done;
  for (const Quantity *row : allQuantities())
    for (const Field *field : row->fields)
      if (field && field->kind == Field::Kind::Number && done.insert(field).second)
        if (std::vector<double> numbers = field->get(options); !numbers.empty()) {
          for (std::size_t i = 0; i != numbers.size(); ++i)
            numbers[i] = convert(*row->unit, numbers[i], i);
          field->set(options, numbers);
        }
  return options;
}

inline Options fromFlagUnits(const Options &options) {
  const Options open;
  Options si =
      eachNumber(options, [](const Unit &u, double x, std::size_t i) { return u.inSI(x, i); });
  for (PanelOptions &panel : si.panels)
    panel.offset = flagUnit::inSI(flagUnit::millimetres, panel.offset);
  if (options.solventB == open.solventB)
    si.solventB = open.solventB;
  return si;
}
inline Options toFlagUnits(const Options &options) {
  return eachNumber(options, [](const Unit &u, double x, std::size_t i) { return u.fromSI(x, i); });
}

} // namespace nanobragg
#endif
