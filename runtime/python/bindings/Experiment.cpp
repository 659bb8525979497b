// From numbers, arrays and names of files to a simulator.
#include "lib/Choose/Defaults.h"
#include "lib/CommandLine/Exclusions.h"
#include "lib/Experiment/LabPanels.h"
#include "lib/Experiment/RandomOrientation.h"
#include "lib/Experiment/VectorAlgebra.h"
#include "lib/Formats/ExptFile.h"
#include "lib/Formats/NexusFile.h"
#include "lib/Images/ImageFile.h"
#include "lib/Parallel/MostThreads.h"
#include "lib/Program/PossibleValues.h"
#include "lib/Quantities/CallersWords.h"
#include "lib/Quantities/ClosestWord.h"
#include "lib/Quantities/LikelyUnits.h"
#include "lib/Quantities/Quantity.h"
#include "lib/Quantities/UsageError.h"
#include "lib/Runs/ExperimentOf.h"
#include "nanobragg/DeviceChoice.h"
#include "runtime/kernels/HklCache.h"
#include "runtime/python/bindings/PythonSimulator.h"
#include "runtime/python/bindings/Settings.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <tuple>

namespace nanobragg::python {
namespace {

NumpyArray<double> arrayOf(Image image) {
  Shape shape{std::size_t(image.slow), std::size_t(image.fast)};
  if (image.panels > 1)
    shape.insert(shape.begin(), std::size_t(image.panels));
  return takeVector(std::move(image.pixels), shape);
}

/// Refuses numbers (SI) of a field, which are those of a quantity, where only a forgotten unit
/// explains them.
void checkField(const std::string &name, std::string_view flag, std::span<const double> numbers) {
  for (const double number : numbers)
    if (const auto slip = slipOfUnits(*findQuantity(flag), number, 0, Caller::Python);
        slip && slip->certain)
      throw std::invalid_argument(name + ": " + slip->sentence);
}

/// An experiment as Python's objects describe it: numbers in SI units, arrays, and names of files.
struct PythonRequest : ExperimentRequest {
  std::vector<const Quantity *> given;

  explicit PythonRequest(bool averagesByDefault, const std::string &compat) {
    caller = Caller::Python;
    noCell = "the crystal has no unit cell; set Crystal.cell, Crystal.matrix or Crystal.real_space";
    noFactors =
        "the crystal has no structure factors; set Crystal.structure_factors, Crystal.hkl or "
        "Crystal.default_F";
    options.averagesByDefault = averagesByDefault;
    if (compat == "c")
      semantics = Semantics::c();
    else if (compat == "noisify")
      semantics.noisify = true;
    else if (compat == "simtbx") // each layer has the solid angle of a plane at the sensor's face
      semantics.detectorFaces = Rule::C;
    else if (compat != "right")
      throw std::invalid_argument("compat='" + compat + "' is not right, c, noisify or simtbx");
  }

  static std::vector<const Quantity *> rowsOf(const std::string &name) {
    std::vector<const Quantity *> rows;
    for (const Quantity *row : allQuantities())
      if (row->more.python == name)
        rows.push_back(row);
    return rows;
  }

  /// In SI units; of several rows each takes one.
  void set(const std::string &name, const std::vector<double> &numbers) {
    const std::vector<const Quantity *> rows = rowsOf(name);
    for (std::size_t i = 0; i != rows.size(); ++i) {
      const std::vector<double> own =
          rows.size() == 1 ? numbers : std::vector<double>{numbers.at(i)};
      try {
        rows[i]->check(own, caller);
      } catch (const std::invalid_argument &error) {
        throw std::invalid_argument(name + ": " + error.what());
      }
      rows[i]->set(options, own);
      given.push_back(rows[i]);
    }
  }

  /// A choice that is one of several flags, or the value of one.
  void choose(const std::string &name, const std::string &word) {
    for (const Quantity *row : rowsOf(name))
      if (!row->values.empty() || word == row->field().words[std::size_t(row->more.value)]) {
        row->set(options, {row->values.empty() ? 0 : row->choice(word)});
        given.push_back(row);
      }
  }

  void setFile(const std::string &kind, const std::filesystem::path &path) {
    const std::string &name = path.native();
    const std::pair<std::string_view, std::optional<std::string> *> kinds[] = {
        {"hkl", &files.hkl},
        {"sources", &files.sources},
        {"panels", &files.panels},
        {"expt", &files.expt},
        {"geometry", &files.geometry},
        {"spectrum", &files.spectrum},
        {"efficiency", &files.efficiency},
        {"sensor_material", &files.sensorMaterial},
        {"gain_map", &files.gainMap}};
    if (kind == "background")
      files.backgrounds.push_back({"Beam.background", name, 1e10, {}});
    for (const auto &[known, file] : kinds)
      if (kind == known)
        *file = name;
  }

  void setGrid(const Doubles &values, std::array<std::int64_t, 3> lowest) {
    if (values.ndim() != 3)
      throw std::invalid_argument(
          "structure factors are an array of three dimensions, h, k and l, and this one has " +
          std::to_string(values.ndim()));
    auto grid = std::make_shared<HklGrid>();
    std::tie(grid->hMin, grid->kMin, grid->lMin) = std::tuple_cat(lowest);
    grid->hMax = grid->hMin + std::int64_t(values.shape(0)) - 1;
    grid->kMax = grid->kMin + std::int64_t(values.shape(1)) - 1;
    grid->lMax = grid->lMin + std::int64_t(values.shape(2)) - 1;
    grid->values.assign(values.data(), values.data() + values.size());
    if (grid->values.empty())
      throw std::invalid_argument("the array of structure factors is empty");
    for (double f : grid->values)
      if (!std::isfinite(f))
        throw std::invalid_argument("a structure factor is not finite");
    inputs.grid = std::move(grid);
  }

  void setMask(const Bytes &mask) {
    if (mask.ndim() < 2)
      throw std::invalid_argument("a mask is an array (slow, fast)");
    MaskImage image;
    image.fastPixels = std::int64_t(mask.shape(mask.ndim() - 1));
    image.slowPixels = std::int64_t(mask.size()) / std::max<std::int64_t>(image.fastPixels, 1);
    image.pixels.assign(mask.data(), mask.data() + mask.size());
    inputs.mask = std::move(image);
  }

  void setGainMap(const Doubles &gains) {
    if (gains.ndim() < 2)
      throw std::invalid_argument("a gain map is an array (slow, fast) or (panel, slow, fast)");
    GainMapImage image;
    image.fastPixels = std::int64_t(gains.shape(gains.ndim() - 1));
    image.slowPixels = std::int64_t(gains.size()) / std::max<std::int64_t>(image.fastPixels, 1);
    image.gains.assign(gains.data(), gains.data() + gains.size());
    inputs.gainMap = std::move(image);
  }

  void addSource(std::array<double, 3> position, double weight, std::optional<double> wavelength) {
    if (wavelength)
      checkField("Beam.sources", "-lambda", {&*wavelength, 1});
    SourceRow row;
    for (std::size_t i = 0; i != 3; ++i)
      row.position[i] = position[i];
    row.weight = weight;
    row.wavelength = wavelength;
    inputs.sources.push_back(row);
  }

  /// Rows of wavelength (m) and density over the wavelength; returns the mean wavelength.
  double setSpectrum(std::vector<std::array<double, 2>> points) {
    for (const auto &[wavelength, density] : points) {
      checkField("Beam.spectrum", "-lambda", {&wavelength, 1});
      if (!(density >= 0 && density < std::numeric_limits<double>::infinity()))
        throw std::invalid_argument("Beam.spectrum has a density of " + std::to_string(density) +
                                    "; it has to be finite and not negative");
    }
    if (points.empty())
      throw std::invalid_argument("Beam.spectrum has no points; give wavelengths and densities");
    std::ranges::sort(points);
    inputs.spectrum = std::move(points);
    return meanWavelength(inputs.spectrum);
  }

  /// Rows of wavelength (m) and the part of the photons that counts.
  void setEfficiency(std::vector<std::array<double, 2>> points) {
    for (const auto &[wavelength, part] : points) {
      checkField("Detector.efficiency", "-lambda", {&wavelength, 1});
      if (!(part >= 0 && part <= 1))
        throw std::invalid_argument("Detector.efficiency has a part of " + std::to_string(part) +
                                    " of the photons; it has to be from 0 to 1");
    }
    std::ranges::sort(points);
    inputs.efficiency = std::move(points);
  }

  void addBackground(std::vector<double> stol, std::vector<double> factor,
                     std::optional<double> thickness, std::optional<double> density,
                     std::optional<double> molarMass) {
    if (stol.empty() || stol.size() != factor.size() || !std::ranges::is_sorted(stol))
      throw std::invalid_argument("a background is a table of at least one row (sin(theta)/lambda "
                                  "in 1/m, ascending; electrons per molecule)");
    checkUnits("background_stol", "Background.stol", stol, caller);
    inputs.backgrounds.push_back({"Beam.background",
                                  "",
                                  std::move(stol),
                                  std::move(factor),
                                  {thickness, density, molarMass}});
  }

  /// A sentence for each field without effect.
  std::vector<std::string> withoutEffect(const CompleteExperiment &complete) const {
    std::vector<std::string> warnings;
    for (const Quantity *row : given)
      if (const std::string what = lostEffect(*row, options, complete.neverRead); !what.empty())
        warnings.push_back(std::string(row->more.python) + inWordsOf(caller, what));
    return warnings;
  }
};

struct Made {
  std::unique_ptr<PythonSimulator> simulator;
  std::vector<std::string> warnings;
};

Made makeTyped(const PythonRequest &request, const SimulatorOptions &settings) {
  const LoadedInputs loaded = [&] {
    try {
      return loadInputs(request, HklCache::fromEnvironment().get());
    } catch (const UsageError &error) {
      throw UsageError(inWordsOf(request.caller, error.what()));
    }
  }();
  const CompleteExperiment complete = completeExperiment(request, loaded);
  Made made;
  for (const auto &texts : {loaded.warnings, complete.warnings, request.withoutEffect(complete)})
    made.warnings.insert(made.warnings.end(), texts.begin(), texts.end());
  made.simulator = std::make_unique<PythonSimulator>(complete.experiment, settings);
  return made;
}

/// With flags of nb-sim over the request.
Made makeOfFlags(const PythonRequest &request, const std::vector<std::string> &flags,
                 const nb::dict &settings) {
  CommandLine said;
  said.options = request.options;
  said.files = request.files;
  CommandLine line;
  ExperimentRequest merged;
  LoadedInputs loaded;
  CompleteExperiment complete;
  SimulatorOptions options;
  {
    nb::gil_scoped_release released;
    line = parseExperiment(flags, said);
    const SeriesTables none;
    merged = requestOf(line, none);
    merged.inputs = request.inputs;
    merged.panels = request.panels;
    loaded = loadInputs(merged, HklCache::fromEnvironment().get());
    complete = completeExperiment(merged, loaded);
    options = simulatorOptionsOf(flags, complete.experiment);
  }
  Made made;
  for (const auto &texts :
       {line.warnings, loaded.warnings, complete.warnings,
        flagsWithoutEffect(line, complete.neverRead), request.withoutEffect(complete)})
    made.warnings.insert(made.warnings.end(), texts.begin(), texts.end());
  for (const std::string &flag : flagsOfImageFiles(line))
    made.warnings.push_back(
        flag + " has no effect: in Python an image is an array, and no file is written");
  applySettings(settings, options);
  nb::gil_scoped_release released;
  made.simulator = std::make_unique<PythonSimulator>(complete.experiment, options);
  return made;
}

/// A row of Python's fields.
nb::list quantities() {
  nb::list all;
  std::vector<std::string_view> told;
  for (const Quantity *first : allQuantities()) {
    const std::string_view name = first->more.python;
    if (name.empty() || std::ranges::find(told, name) != told.end())
      continue;
    told.push_back(name);
    const std::vector<const Quantity *> rows = PythonRequest::rowsOf(std::string(name));
    const Field &field = first->field();
    const bool choice = field.kind == Field::Kind::Choice;
    nb::list takes;
    std::string meaning;
    for (const Quantity *row : rows) {
      if (choice && row->values.empty())
        takes.append(field.words[std::size_t(row->more.value)]);
      if (!choice || row == first)
        meaning += (meaning.empty() ? "" : ", and ") + std::string(row->meaning);
    }
    if (choice && !first->values.empty())
      for (const char *word : field.words)
        if (first->values.find(word) != std::string_view::npos)
          takes.append(word);
    if (!choice) {
      const std::size_t fields = std::size_t(
          std::ranges::count_if(first->fields, [](const Field *f) { return f != nullptr; }));
      const std::size_t most = rows.size() > 1 ? rows.size() : std::max(fields, field.size);
      if (fields > 1 || first->more.oneForAll)
        takes.append(1);
      takes.append(most);
    }
    const char *kind = choice ? "choice" : field.kind == Field::Kind::Number ? "number" : "whole";
    const int lowest = first->range.low < 0 ? int(first->range.low) : 1;
    all.append(nb::make_tuple(std::string(name), kind, takes, first->unit->si, meaning, lowest));
  }
  return all;
}

} // namespace

void bindExperiment(nb::module_ &module) {
  nb::class_<LabPanel>(module, "Panel",
                       "A panel of a detector, in the laboratory, with the sample at the origin.")
      .def(
          "__init__",
          [](LabPanel *self, const Vec3 &origin, const Vec3 &fast, const Vec3 &slow,
             std::pair<std::int64_t, std::int64_t> shape) {
            checkField("Panel.origin", "-distance", origin);
            new (self) LabPanel{origin, fast, slow, shape.second, shape.first, {}};
          },
          nb::arg("origin"), nb::arg("fast_axis"), nb::arg("slow_axis"), nb::arg("shape"),
          "origin: outer corner of the first pixel, m. fast_axis, slow_axis: directions in which "
          "pixels count up, of any length. shape: pixels (slow, fast).")
      .def_ro("origin", &LabPanel::origin)
      .def_ro("fast_axis", &LabPanel::fastAxis)
      .def_ro("slow_axis", &LabPanel::slowAxis)
      .def_prop_ro("shape",
                   [](const LabPanel &p) { return std::pair(p.slowPixels, p.fastPixels); });

  nb::class_<PythonRequest>(module, "Request", "An experiment whose open fields are chosen.")
      .def(nb::init<bool, const std::string &>(), nb::arg("averages_by_default") = false,
           nb::arg("compat") = "right")
      .def("set", &PythonRequest::set, nb::arg("name"), nb::arg("numbers"))
      .def("choose", &PythonRequest::choose, nb::arg("name"), nb::arg("word"))
      .def("random_orientation", [](PythonRequest &self) { self.options.missetRandom = true; })
      .def("set_file", &PythonRequest::setFile, nb::arg("kind"), nb::arg("name"))
      .def("set_grid", &PythonRequest::setGrid, nb::arg("values"), nb::arg("lowest"))
      .def("set_mask", &PythonRequest::setMask, nb::arg("mask"))
      .def("set_gain_map", &PythonRequest::setGainMap, nb::arg("gains"))
      .def(
          "set_panels",
          [](PythonRequest &self, const std::vector<LabPanel> &panels) {
            if (panels.empty())
              throw std::invalid_argument("Detector.panels is empty; give at least one Panel");
            self.panels = panels;
          },
          nb::arg("panels"))
      .def(
          "set_matrix",
          [](PythonRequest &self, const Mat3 &rows) {
            checkUnits("reciprocal_matrix", "Crystal.matrix", rows, self.caller);
            self.inputs.matrix = rows;
          },
          nb::arg("rows"))
      .def("add_source", &PythonRequest::addSource, nb::arg("position"), nb::arg("weight"),
           nb::arg("wavelength").none())
      .def("set_spectrum", &PythonRequest::setSpectrum, nb::arg("points"))
      .def("set_efficiency", &PythonRequest::setEfficiency, nb::arg("points"))
      .def("add_background", &PythonRequest::addBackground, nb::arg("stol"), nb::arg("factor"),
           nb::arg("thickness").none(), nb::arg("density").none(), nb::arg("molar_mass").none());

  module.def(
      "expt_detector",
      [](const std::filesystem::path &path) {
        const io::DialsExperiment e = io::readExpt(path.native(), 0).front();
        std::vector<std::tuple<Vec3, Vec3, Vec3>> panels;
        panels.reserve(e.panels.size());
        for (const io::DialsPanel &p : e.panels)
          panels.emplace_back(p.origin, p.fast, p.slow);
        return std::tuple(e.beam.wavelength, scaled(e.beam.direction, -1), panels);
      },
      nb::arg("path"),
      "Reads the first experiment of an .expt: the wavelength (A), the beam's direction, and each "
      "panel's origin (mm), fast and slow axes in the laboratory.");
  module.def(
      "misset_of", &anglesXYZ, nb::arg("rotation"),
      "The angles about lab X, then Y, then Z (rad) that make up a rotation matrix (row-major).");
  module.def("rotation_of", &rotationXYZ, nb::arg("angles"),
             "The matrix (row-major) of rotations about lab X, then Y, then Z (rad).");

  module.def(
      "check_field",
      [](const std::string &name, const std::string &flag, const std::vector<double> &numbers) {
        checkField(name, flag, numbers);
      },
      nb::arg("name"), nb::arg("flag"), nb::arg("numbers"),
      "Refuses numbers of a field that only a forgotten unit explains; `flag` has such numbers.");

  module.def(
      "unusual",
      [](const std::string &parameter, const std::vector<double> &numbers) {
        return checkUnits(parameter, parameter, numbers, Caller::Python);
      },
      nb::arg("parameter"), nb::arg("numbers"),
      "A sentence about a number of a parameter that may lack its unit; None: all are usual.");

  module.def("quantities", quantities,
             "For each quantity that Python names: its class and field, the kind (number, whole or "
             "choice), how many numbers or which words it takes, its SI unit and its meaning.");

  module.def(
      "create",
      // Words as programs get them: names of files need not be UTF-8.
      [](const PythonRequest &request,
         const std::optional<std::vector<std::filesystem::path>> &flags, const nb::dict &settings) {
        Made made;
        if (!flags) {
          SimulatorOptions options;
          applySettings(settings, options);
          nb::gil_scoped_release released;
          made = makeTyped(request, options);
        } else {
          made = makeOfFlags(request, {flags->begin(), flags->end()}, settings);
        }
        return nb::make_tuple(std::move(made.simulator), made.warnings);
      },
      nb::arg("request"), nb::arg("flags").none(), nb::arg("settings"),
      "The simulator of an experiment, over which flags of nb-sim may be laid, and warnings.");

  module.def(
      "read_image",
      [](const std::filesystem::path &file) {
        Image image;
        {
          nb::gil_scoped_release released;
          image = readImage(file.native(), std::nullopt);
        }
        return arrayOf(std::move(image));
      },
      nb::arg("file"),
      "The numbers in an image file, (slow, fast) or (panel, slow, fast): .npy, SMV, CBF, NXmx (of "
      "which file.nxs:7 is the frame of number 7, counted from 0) or raw floats of a square.");

  module.def(
      "nexus_image",
      [](const std::filesystem::path &file, std::size_t frame) {
        io::NexusImage nexus;
        {
          nb::gil_scoped_release released;
          nexus = io::readNexus(file.native(), frame);
        }
        const double undefined = nexus.undefined;
        return std::tuple(arrayOf({1, std::int64_t(nexus.slow), std::int64_t(nexus.fast),
                                   std::move(nexus.pixels)}),
                          undefined);
      },
      nb::arg("file"), nb::arg("frame"),
      "A frame of an NXmx file, (slow, fast), and the number of pixels without data.");

  module.def(
      "parse_image",
      [](const std::filesystem::path &name, nb::bytes bytes) {
        std::string content(bytes.c_str(), bytes.size());
        Image image;
        {
          nb::gil_scoped_release released;
          image = parseImage(name.native(), std::move(content));
        }
        return arrayOf(std::move(image));
      },
      nb::arg("name"), nb::arg("bytes"), "The numbers in an image file that was read.");

  module.def(
      "hdf5_tree",
      [](const std::filesystem::path &path) {
        nb::gil_scoped_release released;
        return io::readHdf5Tree(path.native());
      },
      nb::arg("path"), "The groups and small data sets of an HDF5 file, as JSON.");

  module.def(
      "hdf5_numbers",
      [](const std::filesystem::path &path, const std::string &name) {
        io::NumberBlock block;
        {
          nb::gil_scoped_release released;
          block = io::readHdf5Numbers(path.native(), name);
        }
        return takeVector(std::move(block.values), block.size);
      },
      nb::arg("path"), nb::arg("name"), "All numbers of a data set of an HDF5 file.");

  module.def(
      "closest_word",
      [](const std::string &word, const std::vector<std::string> &candidates) {
        const std::vector<std::string_view> views(candidates.begin(), candidates.end());
        return views.empty() ? std::string() : std::string(closestWord(word, views));
      },
      nb::arg("word"), nb::arg("candidates"), "The candidate that is spelt most like the word.");
}

} // namespace nanobragg::python
