// From flags and arrays to an experiment.
#include "lib/CommandLine/Flag.h"
#include "lib/CommandLine/NoEffect.h"
#include "lib/Experiment/ClosestWord.h"
#include "lib/Experiment/Defaults.h"
#include "lib/Experiment/Quantity.h"
#include "lib/IO/ImageFile.h"
#include "lib/Inputs/ExperimentOf.h"
#include "lib/Parallel/MostThreads.h"
#include "nanobragg/DeviceChoice.h"
#include "runtime/python/bindings/PythonSimulator.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace nanobragg::python {
namespace {

NumpyArray<double> arrayOf(Image image) {
  Shape shape{std::size_t(image.slow), std::size_t(image.fast)};
  if (image.panels > 1)
    shape.insert(shape.begin(), std::size_t(image.panels));
  return takeVector(std::move(image.pixels), shape);
}

/// What Python's objects say: quantities, files, and what comes from memory instead of from a file.
struct MemoryInputs {
  Inputs inputs;
  CommandLine said;

  explicit MemoryInputs(bool averagesByDefault) {
    said.options.averagesByDefault = averagesByDefault;
  }

  static std::vector<const Quantity *> rowsOf(const std::string &name) {
    std::vector<const Quantity *> rows;
    for (const Quantity *row : allQuantities())
      if (row->more.python == name)
        rows.push_back(row);
    return rows;
  }

  void note(const Quantity &row) {
    said.given.push_back({std::string(row.name()), std::string(row.more.python), {}});
  }

  /// In SI units; of several rows each takes one.
  void set(const std::string &name, const std::vector<double> &numbers) {
    const std::vector<const Quantity *> rows = rowsOf(name);
    for (std::size_t i = 0; i != rows.size(); ++i) {
      std::vector<double> own;
      for (std::size_t j = 0; j != numbers.size(); ++j)
        if (rows.size() == 1 || i == j)
          own.push_back(rows[i]->unit->fromSI(numbers[j], j));
      try {
        rows[i]->set(said.options, own);
      } catch (const std::invalid_argument &error) {
        throw std::invalid_argument(name + ": " + error.what());
      }
      note(*rows[i]);
    }
  }

  /// A choice that is one of several flags, or the value of one.
  void choose(const std::string &name, const std::string &word) {
    for (const Quantity *row : rowsOf(name))
      if (!row->values.empty() || word == row->field().words[std::size_t(row->more.value)]) {
        row->set(said.options, {row->values.empty() ? 0 : row->choice(word)});
        note(*row);
      }
  }

  /// What a flag with one value says that is no quantity: a file, a background's material.
  void setFlag(const std::string &name, const std::string &value) {
    const Flag &flag = *findFlag(name);
    flag.apply(said, Values(flag, name, {value}, {}));
    said.given.push_back({name, name, {value}});
  }

  void setGrid(const Doubles &values, std::array<std::int64_t, 3> lowest) {
    if (values.ndim() != 3)
      throw std::invalid_argument(
          "structure factors are an array of three dimensions, h, k and l, and this one has " +
          std::to_string(values.ndim()));
    auto grid = std::make_shared<HklGrid>();
    for (std::int64_t *min : {&grid->hMin, &grid->kMin, &grid->lMin})
      *min = lowest[std::size_t(min == &grid->kMin ? 1 : min == &grid->lMin ? 2 : 0)];
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

  void setMatrix(const Mat3 &matrix) { inputs.matrix = matrix; }

  void addSource(std::array<double, 3> position, double weight, std::optional<double> wavelength) {
    SourceRow row;
    for (std::size_t i = 0; i != 3; ++i)
      row.position[i] = position[i];
    row.weight = weight;
    row.wavelength = wavelength;
    inputs.sources.push_back(row);
  }
};

/// The flags' options, and over them what Python's arguments say.
SimulatorOptions optionsOf(const SimulatorOptions &flags, std::optional<int> threads,
                           std::optional<std::string> precision, std::optional<std::string> device,
                           std::optional<std::string> engine) {
  SimulatorOptions options = flags;
  if (threads) {
    if (*threads < 0 || *threads > mostThreads)
      throw std::invalid_argument("threads=" + std::to_string(*threads) + " is not between 0 and " +
                                  std::to_string(mostThreads) +
                                  "; 0 means as many as the machine offers");
    options.threads = *threads;
  }
  if (precision)
    options.precision = precisionOf(*precision);
  if (device)
    options.device = *device;
  if (engine) {
    if (*engine == "fused")
      options.engine = Engine::Fused;
    else if (*engine == "interpreter")
      options.engine = Engine::Interpreter;
    else
      throw std::invalid_argument("engine='" + *engine + "' is none; say fused or interpreter");
  }
  return options;
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
    const std::vector<const Quantity *> rows = MemoryInputs::rowsOf(std::string(name));
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
  nb::class_<MemoryInputs>(module, "Inputs", "What comes from memory instead of from a file.")
      .def(nb::init<bool>(), nb::arg("averages_by_default") = false)
      .def("set", &MemoryInputs::set, nb::arg("name"), nb::arg("numbers"))
      .def("choose", &MemoryInputs::choose, nb::arg("name"), nb::arg("word"))
      .def("set_flag", &MemoryInputs::setFlag, nb::arg("flag"), nb::arg("value"))
      .def("set_grid", &MemoryInputs::setGrid, nb::arg("values"), nb::arg("lowest"))
      .def("set_mask", &MemoryInputs::setMask, nb::arg("mask"))
      .def("set_gain_map", &MemoryInputs::setGainMap, nb::arg("gains"))
      .def("set_matrix", &MemoryInputs::setMatrix, nb::arg("rows"))
      .def("add_source", &MemoryInputs::addSource, nb::arg("position"), nb::arg("weight"),
           nb::arg("wavelength").none());

  module.def("quantities", quantities,
             "Of each quantity that Python names: its class and field, the kind (number, whole or "
             "choice), how many numbers or which words it takes, its SI unit and its meaning.");

  module.def(
      "create",
      [](const std::vector<std::string> &flags, const MemoryInputs &given,
         std::optional<int> threads, std::optional<std::string> precision,
         std::optional<std::string> device, std::optional<std::string> engine,
         const nb::dict &passes, std::optional<Indices> pixels) {
        OwnPasses own;
        own.pipeline = nb::cast<std::string>(passes.get("pipeline", nb::str("")));
        own.plugins = nb::cast<std::string>(passes.get("plugins", nb::str("")));
        own.patterns = nb::cast<std::string>(passes.get("patterns", nb::str("")));
        const std::string kernelFile =
            nb::cast<std::string>(passes.get("kernel_file", nb::str("")));
        std::unique_ptr<PythonSimulator> made;
        std::vector<std::string> warnings;
        {
          nb::gil_scoped_release released;
          CommandLine line = parseExperiment(flags, given.said);
          LoadedInputs loaded = loadInputs(line, given.inputs);
          CompleteExperiment complete = completeExperiment(line, loaded);
          warnings = std::move(loaded.warnings);
          warnings.insert(warnings.end(), complete.warnings.begin(), complete.warnings.end());
          for (const std::string &flag : flagsOfImageFiles(line))
            warnings.push_back(
                flag + " has no effect: in Python an image is an array, and no file is written");
          SimulatorOptions options = optionsOf(simulatorOptionsOf(flags, complete.experiment),
                                               threads, precision, device, engine);
          if (own.any())
            options.passes = own;
          if (!kernelFile.empty())
            options.kernelFile = kernelFile;
          if (pixels)
            options.pixels = pixelsOf(*pixels);
          made = std::make_unique<PythonSimulator>(complete.experiment, options);
        }
        return nb::make_tuple(std::move(made), warnings);
      },
      nb::arg("flags"), nb::arg("inputs"), nb::arg("threads").none(), nb::arg("precision").none(),
      nb::arg("device").none(), nb::arg("engine").none(), nb::arg("passes") = nb::dict(),
      nb::arg("pixels").none() = nb::none(),
      "The simulator that nb-sim would make with these flags, and the warnings that it would "
      "print.");

  module.def(
      "read_image",
      [](const std::string &file) {
        Image image;
        {
          nb::gil_scoped_release released;
          image = readImage(file, std::nullopt);
        }
        return arrayOf(std::move(image));
      },
      nb::arg("file"),
      "The numbers in an image file, (slow, fast) or (panel, slow, fast): .npy, SMV, CBF, NXmx (of "
      "which file.nxs:7 is the frame of number 7, counted from 0) or raw floats of a square.");

  module.def(
      "parse_image",
      [](const std::string &name, nb::bytes bytes) {
        std::string content(bytes.c_str(), bytes.size());
        Image image;
        {
          nb::gil_scoped_release released;
          image = parseImage(name, std::move(content));
        }
        return arrayOf(std::move(image));
      },
      nb::arg("name"), nb::arg("bytes"), "The numbers in an image file that was read.");

  module.def(
      "closest_word",
      [](const std::string &word, const std::vector<std::string> &candidates) {
        const std::vector<std::string_view> views(candidates.begin(), candidates.end());
        return views.empty() ? std::string() : std::string(closestWord(word, views));
      },
      nb::arg("word"), nb::arg("candidates"), "The candidate that is spelt most like the word.");
}

} // namespace nanobragg::python
