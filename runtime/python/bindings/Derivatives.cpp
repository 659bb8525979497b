// Derivatives of a simulator's image and losses.
#include "runtime/python/bindings/ParameterTable.h"
#include "runtime/python/bindings/SimulatorClass.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace nanobragg::python {
namespace {

void checkImageSize(const PythonSimulator &self, const Doubles &array, const char *what) {
  if (array.size() != self.simulator.pixels())
    throw std::invalid_argument(std::string(what) + " has " + std::to_string(array.size()) +
                                " pixels and the image " + std::to_string(self.simulator.pixels()));
}

} // namespace

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

nb::dict asDict(const PythonSimulator &self, const std::vector<Gradient> &gradients) {
  nb::dict result;
  for (const Gradient &g : gradients)
    result[g.parameter.c_str()] =
        asPython(g.values, shapeOf(self.simulator.experiment(), *findParameter(g.parameter)));
  return result;
}

void bindDerivatives(SimulatorClass &simulator) {
  simulator
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
             return nb::make_tuple(g.loss, asDict(self, g.gradient), g.ofLoss.background,
                                   g.ofLoss.readOut);
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
      .def("dead_gradients", [](const PythonSimulator &self, const std::string &wrt) {
        nb::dict result;
        for (const DeadGradient &d : self.use([&](Simulator &s) { return s.deadGradients(wrt); }))
          result[d.parameter.c_str()] = d.why;
        return result;
      });
}

} // namespace nanobragg::python
