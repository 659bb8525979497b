#include "runtime/capi/Status.h"

#include "nanobragg/Simulator.h"

using namespace nanobragg;

/// In users' units.
struct nb_reflections {
  explicit nb_reflections(const ReflectionTable &table)
      : millerIndex(table.millerIndex), panel(table.panel) {
    for (std::size_t i = 0; i != reflectionColumns.size(); ++i)
      columns[i] = reflectionColumns[i].toUserUnits(table.columns[i]);
  }

  std::vector<std::array<std::int32_t, 3>> millerIndex;
  std::vector<std::int32_t> panel;
  std::array<std::vector<double>, reflectionColumns.size()> columns;
};

nb_status nb_reflections_from_flags(int count, const char *const *flags, double partiality,
                                    nb_reflections **table) {
  return guarded([&] {
    given(table, "the place for the table");
    Simulator simulator = Simulator::fromFlags(words(count, flags));
    *table = new nb_reflections(simulator.reflections({.partiality = partiality}));
    return NB_OK;
  });
}

void nb_reflections_free(nb_reflections *table) { delete table; }

int64_t nb_reflections_rows(const nb_reflections *table) {
  return table ? std::int64_t(table->panel.size()) : 0;
}

const int32_t *nb_reflections_miller_index(const nb_reflections *table) {
  return table && !table->panel.empty() ? table->millerIndex.front().data() : nullptr;
}

const int32_t *nb_reflections_panel(const nb_reflections *table) {
  return table ? table->panel.data() : nullptr;
}

nb_status nb_reflections_column(const nb_reflections *table, const char *name,
                                const double **numbers) {
  return guarded([&] {
    given(numbers, "the place for the column");
    const std::string_view wanted = given(name, "the column's name");
    if (!table)
      throw std::invalid_argument("the table is NULL");
    const auto found = std::ranges::find(reflectionColumns, wanted, &ReflectionColumn::name);
    if (found == reflectionColumns.end()) {
      std::string names;
      for (const ReflectionColumn &column : reflectionColumns)
        names += (names.empty() ? "" : ", ") + std::string(column.name);
      throw std::invalid_argument("a table of reflections has no column '" + std::string(wanted) +
                                  "'; it has " + names);
    }
    *numbers = table->columns[std::size_t(found - reflectionColumns.begin())].data();
    return NB_OK;
  });
}
