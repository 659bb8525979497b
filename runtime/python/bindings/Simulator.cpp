#include "lib/Experiment/ParameterElements.h"
#include "lib/Experiment/ParameterGroups.h"
#include "lib/Experiment/PossibleValues.h"
#include "runtime/kernels/KernelProvider.h"
#include "runtime/python/bindings/ExperimentArchive.h"
#include "runtime/python/bindings/ParameterTable.h"
#include "runtime/python/bindings/PythonSimulator.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

namespace nanobragg::python {

void setChecked(Simulator &simulator, const Parameter &parameter, std::span<const double> values) {
  checkPossible(parameter.name, values.data(), std::int64_t(values.size()));
  simulator.set(parameter.name, values);
}

void checkCell(const Simulator &simulator) {
  const Experiment &e = simulator.experiment();
  if (e.variant.cellSource != CellSource::Matrix)
    checkCellAngles(e.crystal.cellAlpha, e.crystal.cellBeta, e.crystal.cellGamma);
}

namespace {

/// A number as Python's own, else an array.
nb::object asPython(std::vector<double> values, const Shape &shape) {
  if (shape.empty())
    return nb::float_(values.at(0));
  return nb::cast(takeVector(std::move(values), shape));
}

nb::object valueOf(const PythonSimulator &self, const Parameter &parameter) {
  const Experiment &experiment = self.simulator.experiment();
  if (parameter.place.index)
    return nb::int_(parameter.place.index(experiment));
  if (parameter.place.mask) {
    const std::span<const std::uint8_t> mask = parameter.place.mask(experiment);
    return nb::cast(
        takeVector(std::vector<std::uint8_t>(mask.begin(), mask.end()), imageShape(experiment)));
  }
  return asPython(self.use([&](Simulator &s) { return s.get(parameter.name); }),
                  shapeOf(experiment, parameter));
}

nb::object get(const PythonSimulator &self, const std::string &name) {
  const Experiment &experiment = self.simulator.experiment();
  const std::vector<const Parameter *> members = named(experiment, name);
  if (!findGroup(name))
    return valueOf(self, *members.front());
  std::vector<double> values;
  for (const Parameter *p : members) {
    if (p->kind() != NB_PARAMETER_F64)
      throw std::invalid_argument("the group '" + name + "' has '" + p->name +
                                  "', which is not one number: ask for its members one by one");
    values.push_back(self.use([&](Simulator &s) { return s.get(p->name).at(0); }));
  }
  const Shape shape{values.size()};
  return nb::cast(takeVector(std::move(values), shape));
}

struct Change {
  const Parameter *parameter;
  std::vector<double> values;
};

void addChanges(const Experiment &experiment, const std::string &name, const Doubles &value,
                std::vector<Change> &changes) {
  const std::vector<const Parameter *> members = named(experiment, name);
  const auto refuse = [&](const Shape &wanted) {
    Shape given;
    for (std::size_t i = 0; i != value.ndim(); ++i)
      given.push_back(value.shape(i));
    throw std::invalid_argument("'" + name + "' has the shape " + shapeText(wanted) +
                                " and is given an array of the shape " + shapeText(given));
  };
  for (const Parameter *p : members)
    if (!p->place.mutableNumbers)
      throw std::invalid_argument("'" + std::string(p->name) + "' (" + p->meaning +
                                  ") belongs to the experiment as it was made and cannot be set; "
                                  "make another simulator");
  const bool group = findGroup(name);
  Shape wanted = group ? Shape{members.size()} : shapeOf(experiment, *members.front());
  if (group)
    for (const Parameter *p : members)
      if (p->kind() != NB_PARAMETER_F64)
        throw std::invalid_argument("the group '" + name + "' has '" + p->name +
                                    "', which is not one number: set its members one by one");
  bool same = value.ndim() == wanted.size();
  for (std::size_t i = 0; same && i != wanted.size(); ++i)
    same = value.shape(i) == wanted[i];
  if (!same)
    refuse(wanted);
  if (!group) {
    changes.push_back({members.front(), {value.data(), value.data() + value.size()}});
    return;
  }
  for (std::size_t i = 0; i != members.size(); ++i)
    changes.push_back({members[i], {value.data()[i]}});
}

/// All of them, or when one is impossible none.
void setAll(PythonSimulator &self, const std::vector<std::pair<std::string, Doubles>> &given) {
  std::vector<Change> changes;
  for (const auto &[name, value] : given)
    addChanges(self.simulator.experiment(), name, value, changes);
  for (const Change &c : changes)
    checkPossible(c.parameter->name, c.values.data(), std::int64_t(c.values.size()));
  self.use([&](Simulator &s) {
    std::vector<Change> before;
    for (const Change &c : changes)
      before.push_back({c.parameter, s.get(c.parameter->name)});
    for (const Change &c : changes)
      s.set(c.parameter->name, c.values);
    try {
      checkCell(s);
    } catch (...) {
      for (auto c = before.rbegin(); c != before.rend(); ++c)
        s.set(c->parameter->name, c->values);
      throw;
    }
    return 0;
  });
  ++self.version;
}

nb::object image(PythonSimulator &self, const std::string &dtype, nb::object out,
                 const nb::object &progress) {
  const Shape shape = self.imageShape();
  const auto render = [&](auto pixel, const auto &array) {
    using Pixel = decltype(pixel);
    const std::span<Pixel> pixels(array.data(), array.size());
    self.run(
        [&](Simulator &s, const RunOptions &how) {
          if (s.render(pixels, how).cancelled)
            throw Cancelled();
          return 0;
        },
        progress);
  };
  const auto into = [&](auto pixel) -> nb::object {
    using Pixel = decltype(pixel);
    if (out.is_none()) {
      const NumpyArray<Pixel> made = makeArray<Pixel>(shape);
      render(pixel, made);
      return nb::cast(made);
    }
    using Writable = nb::ndarray<Pixel, nb::c_contig, nb::device::cpu>;
    Writable given;
    if (!nb::try_cast(out, given, false))
      throw std::invalid_argument("out= wants an array of " +
                                  std::string(sizeof(Pixel) == 8 ? "float64" : "float32") +
                                  ", one element after another, that may be written, in this "
                                  "machine's memory");
    bool same = given.ndim() == shape.size();
    for (std::size_t i = 0; same && i != shape.size(); ++i)
      same = given.shape(i) == shape[i];
    if (!same)
      throw std::invalid_argument("out= wants an array of the shape " + shapeText(shape));
    render(pixel, given);
    return out;
  };
  if (dtype == "float64")
    return into(double());
  if (dtype == "float32")
    return into(float());
  throw std::invalid_argument("an image has dtype float64 or float32, not " + dtype);
}

void checkImageSize(const PythonSimulator &self, const Doubles &array, const char *what) {
  if (array.size() != self.simulator.pixels())
    throw std::invalid_argument(std::string(what) + " has " + std::to_string(array.size()) +
                                " pixels and the image " + std::to_string(self.simulator.pixels()));
}

nb::dict asDict(const PythonSimulator &self, const std::vector<Gradient> &gradients) {
  nb::dict result;
  for (const Gradient &g : gradients)
    result[g.parameter.c_str()] =
        asPython(g.values, shapeOf(self.simulator.experiment(), *findParameter(g.parameter)));
  return result;
}

std::vector<Direction> directionOf(const nb::dict &given, const Experiment &experiment) {
  std::vector<Direction> direction;
  for (auto [key, value] : given) {
    const std::string name = nb::cast<std::string>(key);
    std::vector<Change> changes;
    addChanges(experiment, name, nb::cast<Doubles>(value), changes);
    for (Change &c : changes)
      direction.push_back({c.parameter->name, std::move(c.values)});
  }
  return direction;
}

nb::list table(const PythonSimulator &self) {
  nb::list rows;
  const Experiment &experiment = self.simulator.experiment();
  for (const Parameter *p : parametersOf(experiment.variant)) {
    nb::list shape;
    for (std::size_t n : shapeOf(experiment, *p))
      shape.append(n);
    rows.append(nb::make_tuple(p->name, p->unit, p->meaning, p->differentiable(), nb::tuple(shape),
                               p->groups));
  }
  return rows;
}

nb::object structureFactors(const PythonSimulator &self) {
  const auto grid = self.use([](Simulator &s) { return s.experiment().crystal.grid; });
  if (!grid)
    return nb::none();
  const Shape shape = shapeOf(self.simulator.experiment(), *findParameter("F"));
  return nb::make_tuple(takeVector(std::vector<double>(grid->values), shape),
                        nb::make_tuple(grid->hMin, grid->kMin, grid->lMin));
}

void setStructureFactors(PythonSimulator &self, const Doubles &values,
                         std::array<std::int64_t, 3> lowest) {
  if (values.ndim() != 3 || values.size() == 0)
    throw std::invalid_argument("structure factors are an array of three dimensions, h, k and l, "
                                "which is not empty");
  const auto last = [&](std::size_t i) { return lowest[i] + std::int64_t(values.shape(i)) - 1; };
  const nb_hkl_grid grid{lowest[0], last(0), lowest[1], last(1), lowest[2], last(2), values.data()};
  self.use([&](Simulator &s) {
    s.setStructureFactors(grid);
    return 0;
  });
  ++self.version;
}

SimulatorOptions optionsFrom(const nb::tuple &t) {
  SimulatorOptions options;
  options.threads = nb::cast<int>(t[0]);
  options.precision = nb::cast<std::string>(t[1]);
  options.device = nb::cast<std::string>(t[2]);
  const int engine = nb::cast<int>(t[3]);
  if (engine >= 0)
    options.engine = nanobragg::Engine(engine);
  options.kernelFile = nb::cast<std::string>(t[4]);
  options.fallback = nb::cast<bool>(t[5]);
  options.passes.pipeline = nb::cast<std::string>(t[6]);
  options.passes.plugins = nb::cast<std::string>(t[7]);
  options.passes.patterns = nb::cast<std::string>(t[8]);
  options.cull = nb::cast<std::string>(t[9]);
  return options;
}

nb::tuple stateOf(const PythonSimulator &self) {
  if (!self.options.pixels.empty())
    throw std::invalid_argument("a simulator of a list of pixels cannot be pickled; make it again "
                                "from its flags");
  const std::string bytes = self.use([](Simulator &s) { return archive(s.experiment()); });
  const SimulatorOptions &o = self.options;
  return nb::make_tuple(
      nb::bytes(bytes.data(), bytes.size()),
      nb::make_tuple(o.threads, o.precision, o.device, o.engine ? int(*o.engine) : -1, o.kernelFile,
                     o.fallback, o.passes.pipeline, o.passes.plugins, o.passes.patterns, o.cull));
}

} // namespace

void bindSimulator(nb::module_ &module) {
  nb::class_<PythonSimulator>(module, "Core", nb::is_weak_referenceable(),
                              "The compiled part of a Simulator.")
      .def("get", &get, nb::arg("name"))
      .def(
          "set",
          [](PythonSimulator &self, const nb::dict &values) {
            std::vector<std::pair<std::string, Doubles>> given;
            for (auto [key, value] : values)
              given.emplace_back(nb::cast<std::string>(key), nb::cast<Doubles>(value));
            setAll(self, given);
          },
          nb::arg("values"))
      .def_ro("version", &PythonSimulator::version)
      .def_prop_ro("shape",
                   [](const PythonSimulator &self) {
                     nb::list shape;
                     for (std::size_t n : self.imageShape())
                       shape.append(n);
                     return nb::tuple(shape);
                   })
      .def("table", &table)
      .def("groups",
           [](const PythonSimulator &self) {
             nb::dict groups;
             for (const ParameterGroup &g : parameterGroups()) {
               nb::list members;
               for (std::string_view m : g.members)
                 if (findParameter(m)->isUsedBy(self.simulator.experiment().variant))
                   members.append(nb::str(m.data(), m.size()));
               groups[g.name] = nb::make_tuple(g.meaning, members);
             }
             return groups;
           })
      .def("members",
           [](const PythonSimulator &self, const std::string &name) {
             nb::list all;
             for (const Parameter *p : named(self.simulator.experiment(), name))
               all.append(nb::make_tuple(p->name,
                                         nb::cast(shapeOf(self.simulator.experiment(), *p)),
                                         p->differentiable()));
             return nb::make_tuple(findGroup(name) != nullptr, all);
           })
      .def("image", &image, nb::arg("dtype"), nb::arg("out").none(), nb::arg("progress").none())
      .def("rendered",
           [](const PythonSimulator &self) {
             const auto rendered = self.use([](Simulator &s) {
               const auto r = s.rendered();
               return std::vector<std::uint8_t>(r.begin(), r.end());
             });
             return takeVector(std::vector<std::uint8_t>(rendered), self.imageShape());
           })
      .def("loss",
           [](PythonSimulator &self, const nanobragg::Loss &loss) {
             return self.run([&](Simulator &s, const RunOptions &) { return s.loss(loss); });
           })
      .def("gradient",
           [](PythonSimulator &self, const std::string &wrt, const Doubles &cotangent) {
             checkImageSize(self, cotangent, "the cotangent");
             const auto g = self.run([&](Simulator &s, const RunOptions &) {
               return s.gradient(wrt, spanOf(cotangent));
             });
             return asDict(self, g);
           })
      .def("gradient_of_loss",
           [](PythonSimulator &self, const std::string &wrt, const nanobragg::Loss &loss) {
             const auto g =
                 self.run([&](Simulator &s, const RunOptions &) { return s.gradient(wrt, loss); });
             return nb::make_tuple(g.loss, asDict(self, g.gradient));
           })
      .def("jacobian",
           [](PythonSimulator &self, const std::string &wrt) {
             auto images =
                 self.run([&](Simulator &s, const RunOptions &) { return s.jacobian(wrt); });
             nb::dict result;
             const Shape shape = self.imageShape();
             for (DerivativeImage &i : images)
               result[i.parameter.c_str()] = takeVector(std::move(i.pixels), shape);
             return result;
           })
      .def("jvp",
           [](PythonSimulator &self, const std::string &wrt, const nb::dict &direction) {
             const auto d = directionOf(direction, self.simulator.experiment());
             auto pixels =
                 self.run([&](Simulator &s, const RunOptions &) { return s.jvp(wrt, d); });
             return takeVector(std::move(pixels), self.imageShape());
           })
      .def("hvp",
           [](PythonSimulator &self, const std::string &wrt, const nb::dict &direction,
              const Doubles &cotangent) {
             checkImageSize(self, cotangent, "the cotangent");
             const auto d = directionOf(direction, self.simulator.experiment());
             const auto g = self.run([&](Simulator &s, const RunOptions &) {
               return s.hvp(wrt, d, spanOf(cotangent));
             });
             return asDict(self, g);
           })
      .def("hvp_of_loss",
           [](PythonSimulator &self, const std::string &wrt, const nb::dict &direction,
              const nanobragg::Loss &loss) {
             const auto d = directionOf(direction, self.simulator.experiment());
             const auto g =
                 self.run([&](Simulator &s, const RunOptions &) { return s.hvp(wrt, d, loss); });
             return asDict(self, g);
           })
      .def("dead_gradients",
           [](const PythonSimulator &self, const std::string &wrt) {
             nb::dict result;
             for (const DeadGradient &d :
                  self.use([&](Simulator &s) { return s.deadGradients(wrt); }))
               result[d.parameter.c_str()] = d.why;
             return result;
           })
      .def("trace",
           [](PythonSimulator &self, std::int64_t panel, std::int64_t slow, std::int64_t fast) {
             if (!self.options.pixels.empty())
               throw std::invalid_argument("a list of pixels has no trace; make a simulator "
                                           "without --pixels");
             return self.run([&](Simulator &s, const RunOptions &) {
               const auto [panels, slows, fasts] = s.shape();
               if (panel < 0 || panel >= panels || slow < 0 || slow >= slows || fast < 0 ||
                   fast >= fasts)
                 throw std::invalid_argument("there is no pixel (" + std::to_string(panel) + ", " +
                                             std::to_string(slow) + ", " + std::to_string(fast) +
                                             "); the image has the shape (" +
                                             std::to_string(panels) + ", " + std::to_string(slows) +
                                             ", " + std::to_string(fasts) + ")");
               return s.trace({panel, slow, fast});
             });
           })
      .def("emit",
           [](PythonSimulator &self, const std::string &stage) {
             return self.use([&](Simulator &s) { return s.emit(stage); });
           })
      .def("target",
           [](PythonSimulator &self) { return self.use([](Simulator &s) { return s.target(); }); })
      .def("prepare",
           [](PythonSimulator &self) {
             self.use([](Simulator &s) {
               s.prepare();
               return 0;
             });
           })
      .def("engine",
           [](const PythonSimulator &self) {
             return self.use([](Simulator &s) { return s.engine(); }) == nanobragg::Engine::Fused
                        ? "fused"
                        : "interpreter";
           })
      .def("fallback_reasons",
           [](const PythonSimulator &self) {
             return self.use([](Simulator &s) {
               return std::pair(s.fallbackReason(), s.deviceFallbackReason());
             });
           })
      .def("timing",
           [](const PythonSimulator &self) {
             const SimulatorTiming t = self.use([](Simulator &s) { return s.timing(); });
             nb::dict d;
             d["value_seconds"] = t.value;
             d["derivative_seconds"] = t.derivative;
             d["values"] = t.values;
             d["derivatives"] = t.derivatives;
             d["device"] = t.device;
             return d;
           })
      .def("structure_factors", &structureFactors)
      .def("set_structure_factors", &setStructureFactors, nb::arg("values"), nb::arg("lowest"))
      .def("options",
           [](const PythonSimulator &self) {
             nb::dict d;
             d["threads"] = self.options.threads;
             d["precision"] = self.options.precision;
             d["device"] = self.options.device.empty() ? "auto" : self.options.device;
             return d;
           })
      .def("variant",
           [](const PythonSimulator &self) {
             return self.simulator.experiment().variant.toString();
           })
      .def("copy",
           [](const PythonSimulator &self) {
             return self.use([&](Simulator &s) {
               return std::make_unique<PythonSimulator>(s.copy(), self.options);
             });
           })
      .def("state", &stateOf);

  module.def(
      "restore",
      [](const nb::bytes &bytes, const nb::tuple &options) {
        const Experiment experiment = restore(std::string_view(bytes.c_str(), bytes.size()));
        return std::make_unique<PythonSimulator>(experiment, optionsFrom(options));
      },
      nb::arg("bytes"), nb::arg("options"));

  module.def("counters", [] {
    const KernelCounters c = KernelProvider::ofProcess().counters();
    nb::dict d;
    d["hits"] = c.hits;
    d["loads"] = c.loads;
    d["compiles"] = c.compiles;
    d["cache_seconds"] = c.cacheSeconds;
    d["compiler_load_seconds"] = c.compilerLoadSeconds;
    d["compile_seconds"] = c.compileSeconds;
    return d;
  });
}

} // namespace nanobragg::python
