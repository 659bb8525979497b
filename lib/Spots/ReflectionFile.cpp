#include "lib/Spots/ReflectionFile.h"

#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"
#include "lib/Images/NpzFile.h"
#include "lib/Spots/Panels.h"
#include "lib/Spots/ReflectionTable.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace nanobragg {
namespace {

std::vector<double> inUserUnits(const ReflectionTable &table, std::size_t column) {
  return reflectionColumns[column].toUserUnits(table.columns[column]);
}

void writeCsv(io::OutputFile &out, const ReflectionTable &table) {
  std::string text = "h,k,l,panel";
  for (const ReflectionColumn &column : reflectionColumns)
    text += "," + std::string(column.name);
  text += '\n';
  std::array<std::vector<double>, reflectionColumns.size()> columns;
  for (std::size_t i = 0; i != columns.size(); ++i)
    columns[i] = inUserUnits(table, i);
  for (std::size_t row = 0; row != table.rows(); ++row) {
    for (const std::int32_t index : table.millerIndex[row])
      text += std::to_string(index) + ',';
    text += std::to_string(table.panel[row]);
    for (const std::vector<double> &column : columns) {
      char number[32];
      text += ',';
      text.append(number, std::to_chars(number, number + sizeof number, column[row], // shortest
                                        std::chars_format::general)
                              .ptr);
    }
    text += '\n';
  }
  out.write(text);
}

void writeNpz(io::OutputFile &out, const ReflectionTable &table) {
  const std::size_t rows = table.rows();
  std::vector<std::int32_t> indices;
  for (const auto &index : table.millerIndex)
    indices.insert(indices.end(), index.begin(), index.end());
  std::vector<io::NpzArray> arrays{{"miller_index", {rows, 3}, std::move(indices)},
                                   {"panel", {rows}, table.panel}};
  for (std::size_t i = 0; i != reflectionColumns.size(); ++i)
    if (!reflectionColumns[i].name.starts_with("covariance"))
      arrays.push_back({std::string(reflectionColumns[i].name), {rows}, inUserUnits(table, i)});
  const auto ff = table.column("covariance_ff"), fs = table.column("covariance_fs"),
             ss = table.column("covariance_ss");
  std::vector<double> matrices;
  for (std::size_t row = 0; row != rows; ++row)
    matrices.insert(matrices.end(), {ff[row], fs[row], fs[row], ss[row]});
  arrays.push_back({"covariance", {rows, 2, 2}, std::move(matrices)});
  io::writeNpz(out, arrays);
}

/// Where a place in pixels is on the panel's plane.
std::array<double, 2> toMm(const io::DialsPanel &panel, const std::array<double, 2> &pixel) {
  std::array<double, 2> mm{pixel[0] * panel.pixelSize[0], pixel[1] * panel.pixelSize[1]};
  constexpr int steps = 3; // parallax changes little within itself
  for (int step = 0; step != steps; ++step) {
    const std::array<double, 2> there = toPixel(panel, mm);
    for (std::size_t i = 0; i != 2; ++i)
      mm[i] += (pixel[i] - there[i]) * panel.pixelSize[i];
  }
  return mm;
}

void writeDials(io::OutputFile &out, const ReflectionTable &table,
                const io::DialsExperiment &model) {
  std::vector<TableRow> rows;
  for (const Spot &spot : spotsOf(table, model)) {
    TableRow &row = rows.emplace_back();
    row.spot = spot;
    if (model.scan) {
      const double width = units::radians(model.scan->width);
      row.z = (spot.phi - units::radians(model.scan->start)) / width;
      row.step[2] = width;
    }
    row.images = {0, 1};
    std::ranges::copy(model.panels[spot.panel].pixelSize, row.step.begin());
    row.observed = {spot.pixel[0], spot.pixel[1], row.z};
    row.seen = false;
  }
  std::vector<TableColumn> more;
  for (std::size_t i = 0; i != reflectionColumns.size(); ++i)
    more.push_back({std::string(reflectionColumns[i].name), inUserUnits(table, i)});
  if (TableColumn several = harmonicsOf(rows); std::ranges::count(several.values, 1.0) > 0)
    more.push_back(std::move(several));
  writeReflectionTable(out, rows, more);
}

} // namespace

std::vector<Spot> spotsOf(const ReflectionTable &table, const io::DialsExperiment &model) {
  const auto fast = table.column("fast"), slow = table.column("slow"),
             angle = table.column("angle"), photons = table.column("photons"),
             wavelength = table.column("wavelength"), ff = table.column("covariance_ff"),
             ss = table.column("covariance_ss");
  std::vector<Spot> spots;
  for (std::size_t i = 0; i != table.rows(); ++i) {
    const io::DialsPanel &panel = model.panels[std::size_t(table.panel[i])];
    Spot &spot = spots.emplace_back();
    spot.hkl = table.millerIndex[i];
    spot.panel = std::size_t(table.panel[i]);
    spot.pixel = spot.centroid = {fast[i], slow[i]};
    spot.mm = toMm(panel, spot.pixel);
    const Vec3 place =
        sum(panel.origin, sum(scaled(panel.fast, spot.mm[0]), scaled(panel.slow, spot.mm[1])));
    spot.wavelength = wavelength[i] / units::angstrom;
    spot.ray = scaled(unit(place), 1 / spot.wavelength);
    spot.phi = model.scan ? angle[i] : 0;
    spot.intensity = spot.variance = photons[i];
    constexpr double sigmas = 3;
    const auto range = [&](int axis, double centre, double variance) {
      const double half = sigmas * std::sqrt(variance), end = double(panel.pixels[axis]);
      spot.box[2 * axis] = std::int64_t(std::clamp(std::floor(centre - half), 0.0, end - 1));
      spot.box[2 * axis + 1] =
          std::int64_t(std::clamp(std::ceil(centre + half), double(spot.box[2 * axis] + 1), end));
    };
    range(0, fast[i], ff[i]);
    range(1, slow[i], ss[i]);
  }
  return spots;
}

ReflectionFormat reflectionFormatOf(const std::string &name) {
  for (const auto &[ending, format] : {std::pair(".refl", ReflectionFormat::Dials),
                                       {".npz", ReflectionFormat::Npz},
                                       {".csv", ReflectionFormat::Csv}})
    if (name.ends_with(ending))
      return format;
  throw std::invalid_argument("a table of reflections ends in .refl (DIALS), .npz (NumPy) or .csv");
}

void writeReflections(io::OutputFile &out, ReflectionFormat format, const ReflectionTable &table,
                      const io::DialsExperiment &model) {
  switch (format) {
  case ReflectionFormat::Dials:
    return writeDials(out, table, model);
  case ReflectionFormat::Npz:
    return writeNpz(out, table);
  case ReflectionFormat::Csv:
    return writeCsv(out, table);
  }
}

} // namespace nanobragg
