#include "lib/Spots/ReflectionTable.h"

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

namespace nanobragg {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "tables of DIALS are little-endian");

/// ["type", [rows, bytes]], the bytes of what value(row) gives, one after another.
template <typename Value>
json column(const char *type, std::span<const TableRow> rows, Value value) {
  using Element = decltype(value(rows.front()));
  static_assert(std::is_trivially_copyable_v<Element>);
  std::vector<std::uint8_t> bytes(rows.size() * sizeof(Element));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Element element = value(rows[i]);
    std::memcpy(bytes.data() + i * sizeof(Element), &element, sizeof(Element));
  }
  return json::array({type, json::array({rows.size(), json::binary(std::move(bytes))})});
}

constexpr double levelVariance = 1.0 / 12; ///< variance of a number from a range of 1

} // namespace

void writeReflectionTable(io::OutputFile &out, std::span<const TableRow> rows,
                          std::span<const TableColumn> more) {
  using R = const TableRow &;
  const char *vector = "vec3<double>";
  json data;
  data["id"] = column("int", rows, [](R r) { return r.experiment; });
  data["miller_index"] = column("cctbx::miller::index<>", rows, [](R r) { return r.spot.hkl; });
  data["panel"] = column("std::size_t", rows, [](R r) { return std::uint64_t(r.spot.panel); });
  constexpr std::uint64_t predicted = 1, observed = 2, indexed = 4;
  data["flags"] = column("std::size_t", rows,
                         [](R r) { return predicted | (r.seen ? observed | indexed : 0); });
  data["entering"] = column("bool", rows, [](R r) { return r.spot.entering; });
  data["s1"] = column(vector, rows, [](R r) { return r.spot.ray; });
  data["xyzcal.mm"] =
      column(vector, rows, [](R r) { return Vec3{r.spot.mm[0], r.spot.mm[1], r.spot.phi}; });
  data["xyzcal.px"] =
      column(vector, rows, [](R r) { return Vec3{r.spot.pixel[0], r.spot.pixel[1], r.z}; });
  data["xyzobs.px.value"] = column(vector, rows, [](R r) { return r.observed; });
  data["xyzobs.mm.value"] = column(vector, rows, [](R r) {
    // Off the model's place by as many pixels as the centroid is.
    const Spot &s = r.spot;
    return Vec3{s.mm[0] + (r.observed[0] - s.pixel[0]) * r.step[0],
                s.mm[1] + (r.observed[1] - s.pixel[1]) * r.step[1],
                s.phi + (r.observed[2] - r.z) * r.step[2]};
  });
  data["xyzobs.mm.variance"] = column(vector, rows, [](R r) {
    const Vec3 &step = r.step;
    return Vec3{step[0] * step[0] * levelVariance, step[1] * step[1] * levelVariance,
                step[2] * step[2] * levelVariance};
  });
  data["xyzobs.px.variance"] = column(vector, rows, [](R r) {
    return Vec3{levelVariance, levelVariance, r.step[2] > 0 ? levelVariance : 0};
  });
  data["delpsical.rad"] = column("double", rows, [](R r) { return r.spot.missing; });
  data["bbox"] = column("int6", rows, [](R r) {
    const auto &b = r.spot.box;
    return std::array<std::int32_t, 6>{std::int32_t(b[0]),        std::int32_t(b[1]),
                                       std::int32_t(b[2]),        std::int32_t(b[3]),
                                       std::int32_t(r.images[0]), std::int32_t(r.images[1])};
  });
  data["intensity.sum.value"] = column("double", rows, [](R r) { return r.spot.intensity; });
  data["intensity.sum.variance"] = column("double", rows, [](R r) { return r.spot.variance; });
  for (const TableColumn &column : more) {
    std::size_t row = 0;
    if (column.isTruth)
      data[column.name] =
          nanobragg::column("bool", rows, [&](R) { return column.values[row++] != 0; });
    else
      data[column.name] =
          nanobragg::column("double", rows, [&](R) { return column.values[row++]; });
  }
  const json table = json::array(
      {"dials::af::reflection_table",
       1,
       {{"identifiers", json::object()}, {"nrows", rows.size()}, {"data", std::move(data)}}});
  const std::vector<std::uint8_t> bytes = json::to_msgpack(table);
  out.write(bytes.data(), bytes.size());
}

TableColumn harmonicsOf(std::span<const TableRow> rows) {
  constexpr double dark = 1e-10; // part of the brightest: a structure factor that is a rounding
  double least = 0;
  for (const TableRow &row : rows)
    least = std::max(least, dark * row.spot.intensity);
  const auto rayOf = [](const TableRow &row) {
    const auto [h, k, l] = row.spot.hkl;
    const auto divisor = std::max(std::gcd(std::gcd(h, k), l), std::int32_t(1));
    return std::tuple(row.experiment, row.spot.panel, h / divisor, k / divisor, l / divisor);
  };
  std::map<decltype(rayOf(rows.front())), std::size_t> orders;
  for (const TableRow &row : rows)
    orders[rayOf(row)] += row.spot.intensity > least;
  TableColumn several{"harmonics", {}, true};
  for (const TableRow &row : rows)
    several.values.push_back(row.spot.intensity > least && orders[rayOf(row)] > 1);
  return several;
}

} // namespace nanobragg
