// Images and their derivatives as functions of one flat vector: what frameworks differentiate.
#include "runtime/python/bindings/Function.h"
#include "lib/Parallel/ThreadTeam.h"
#include "lib/Program/ParameterElements.h"
#include "runtime/python/bindings/ParameterTable.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace nanobragg::python {

Function::Function(const PythonSimulator &of, const std::vector<std::string> &names)
    : core(of.use([&](Simulator &s) { return s.copy(); }), of.options) {
  const Experiment &experiment = core.simulator.experiment();
  for (const std::string &name : names) {
    const Parameter *parameter = named(experiment, name).front();
    if (parameter->name != name)
      throw std::invalid_argument("'" + name + "' is a group; name its members");
    if (!parameter->differentiable())
      throw std::invalid_argument("'" + name + "' (" + parameter->meaning +
                                  ") is a discrete choice and has no derivative");
    if (std::ranges::any_of(parts, [&](const Part &p) { return p.parameter == parameter; }))
      throw std::invalid_argument("'" + name + "' is named twice");
    const std::size_t size = elementCount(experiment, *parameter);
    parts.push_back({parameter, length, size});
    length += size;
    wrt += (wrt.empty() ? "" : ",") + name;
  }
}

void Function::set(Simulator &simulator, std::span<const double> theta) const {
  if (theta.size() != length)
    throw std::invalid_argument("the function takes " + std::to_string(length) +
                                " numbers and is given " + std::to_string(theta.size()));
  for (const Part &part : parts)
    setChecked(simulator, *part.parameter, theta.subspan(part.begin, part.size));
  checkCell(simulator);
}

void Function::checkPixels(std::size_t size) const {
  if (size != core.simulator.pixels())
    throw std::invalid_argument("the image has " + std::to_string(core.simulator.pixels()) +
                                " pixels and is given " + std::to_string(size));
}

std::vector<Direction> Function::direction(std::span<const double> v) const {
  if (v.size() != length)
    throw std::invalid_argument("a direction has " + std::to_string(length) +
                                " numbers and this one " + std::to_string(v.size()));
  std::vector<Direction> all;
  for (const Part &part : parts)
    all.push_back({part.parameter->name,
                   std::vector<double>(v.begin() + std::ptrdiff_t(part.begin),
                                       v.begin() + std::ptrdiff_t(part.begin + part.size))});
  return all;
}

void Function::flatten(const std::vector<Gradient> &gradients, std::span<double> out) const {
  for (const Gradient &g : gradients) {
    const auto part = std::ranges::find_if(
        parts, [&](const Part &p) { return g.parameter == p.parameter->name; });
    std::ranges::copy(g.values, out.begin() + std::ptrdiff_t(part->begin));
  }
}

void Function::image(std::span<const double> theta, std::span<double> out, Caller caller) {
  checkPixels(out.size());
  run(caller, [&](Simulator &s, const RunOptions &how) {
    set(s, theta);
    if (s.render(out, how).cancelled)
      throw Cancelled();
    return 0;
  });
}

void Function::vjp(std::span<const double> theta, std::span<const double> cotangent,
                   std::span<double> out, Caller caller) {
  checkPixels(cotangent.size());
  run(caller, [&](Simulator &s, const RunOptions &) {
    set(s, theta);
    if (!parts.empty())
      flatten(s.gradient(wrt, cotangent), out);
    return 0;
  });
}

void Function::jvp(std::span<const double> theta, std::span<const double> v, std::span<double> out,
                   Caller caller) {
  checkPixels(out.size());
  run(caller, [&](Simulator &s, const RunOptions &) {
    set(s, theta);
    if (parts.empty())
      std::ranges::fill(out, 0.0);
    else
      std::ranges::copy(s.jvp(wrt, direction(v)), out.begin());
    return 0;
  });
}

void Function::jvps(std::span<const double> theta, std::span<const double> vs,
                    std::span<double> out) {
  // By what no direction changes nothing is differentiated.
  std::vector<Part> moved;
  std::string names;
  for (const Part &part : parts) {
    bool moves = false;
    for (std::size_t row = 0; !moves && row < vs.size(); row += length)
      moves = std::ranges::any_of(vs.subspan(row + part.begin, part.size),
                                  [](double change) { return change != 0; });
    if (moves) {
      moved.push_back(part);
      names += (names.empty() ? "" : ",") + std::string(part.parameter->name);
    }
  }
  if (moved.empty()) {
    std::ranges::fill(out, 0.0);
    return;
  }
  const auto direction = [&](std::size_t row) {
    std::vector<Direction> all;
    for (const Part &part : moved) {
      const std::span<const double> change = vs.subspan(row * length + part.begin, part.size);
      all.push_back({part.parameter->name, {change.begin(), change.end()}});
    }
    return all;
  };
  core.run([&](Simulator &s, const RunOptions &) {
    set(s, theta);
    // A kernel is compiled for a number of directions: even ones, so that there are few.
    constexpr std::size_t most = 16;
    for (std::size_t row = 0, rows = vs.size() / length; row != rows;) {
      const std::size_t count = std::min(rows - row, most);
      std::vector<std::vector<Direction>> directions;
      std::vector<std::span<double>> images;
      const std::size_t even = count == 1 ? 1 : count + count % 2;
      for (std::size_t i = 0; i != even; ++i)
        directions.push_back(i < count ? direction(row + i) : std::vector<Direction>());
      for (std::size_t i = 0; i != count; ++i)
        images.push_back(out.subspan((row + i) * s.pixels(), s.pixels()));
      s.jvps(names, directions, images);
      row += count;
    }
    return 0;
  });
}

void Function::hvp(std::span<const double> theta, std::span<const double> v,
                   std::span<const double> cotangent, std::span<double> out, Caller caller) {
  checkPixels(cotangent.size());
  run(caller, [&](Simulator &s, const RunOptions &) {
    set(s, theta);
    if (!parts.empty())
      flatten(s.hvp(wrt, direction(v), cotangent), out);
    return 0;
  });
}

void Function::images(std::span<const double> thetas, std::span<double> out, std::size_t shots) {
  const std::size_t pixels = core.simulator.pixels();
  // Below this one image keeps no second thread busy for long enough.
  constexpr std::size_t small = 512 * 512;
  const int wanted = int(std::min(shots, std::size_t(threadsOf(core.options.threads))));
  core.run([&](Simulator &first, const RunOptions &how) {
    const auto render = [&](Simulator &s, std::size_t i, int threads) {
      RunOptions run;
      run.threads = threads;
      run.cancel = how.cancel;
      set(s, thetas.subspan(i * length, length));
      if (s.render(out.subspan(i * pixels, pixels), run).cancelled)
        throw Cancelled();
    };
    if (wanted <= 1 || pixels >= small) {
      for (std::size_t i = 0; i < shots; ++i)
        render(first, i, 0);
      return 0;
    }
    first.prepare(); // made once, before each thread asks for it
    ThreadTeam team(wanted);
    std::vector<std::optional<Simulator>> own(std::size_t(team.size()));
    team.forEach(std::int64_t(shots), [&](std::int64_t i, int thread) {
      std::optional<Simulator> &s = own[std::size_t(thread)];
      if (!s)
        s.emplace(first.copy());
      render(*s, std::size_t(i), 1);
    });
    return 0;
  });
}

void bindFunction(nb::module_ &module) {
  nb::class_<Function>(module, "Function", nb::is_weak_referenceable(),
                       "The image of an experiment, which does not change any more, as a function "
                       "of some of its numbers in one flat vector.")
      .def(nb::init<const PythonSimulator &, const std::vector<std::string> &>(),
           nb::arg("simulator"), nb::arg("names"))
      .def_prop_ro("length", [](const Function &f) { return f.length; })
      .def_prop_ro("shape",
                   [](const Function &f) {
                     nb::list shape;
                     for (std::size_t n : f.core.imageShape())
                       shape.append(n);
                     return nb::tuple(shape);
                   })
      .def_prop_ro("address",
                   [](const Function &f) { return reinterpret_cast<std::uintptr_t>(&f); })
      .def(
          "image",
          [](Function &f, const Doubles &theta) {
            auto out = makeArray<double>(f.core.imageShape());
            f.image(spanOf(theta), {out.data(), out.size()});
            return out;
          },
          nb::arg("theta"))
      .def(
          "vjp",
          [](Function &f, const Doubles &theta, const Doubles &cotangent) {
            auto out = makeArray<double>({f.length});
            f.vjp(spanOf(theta), spanOf(cotangent), {out.data(), out.size()});
            return out;
          },
          nb::arg("theta"), nb::arg("cotangent"))
      .def(
          "jvp",
          [](Function &f, const Doubles &theta, const Doubles &v) {
            auto out = makeArray<double>(f.core.imageShape());
            f.jvp(spanOf(theta), spanOf(v), {out.data(), out.size()});
            return out;
          },
          nb::arg("theta"), nb::arg("v"))
      .def(
          "jvps",
          [](Function &f, const Doubles &theta, const Doubles &vs) {
            if (vs.ndim() != 2 || vs.shape(1) != f.length)
              throw std::invalid_argument("directions are an array (directions, " +
                                          std::to_string(f.length) + ")");
            Shape shape = f.core.imageShape();
            shape.insert(shape.begin(), vs.shape(0));
            auto out = makeArray<double>(shape);
            f.jvps(spanOf(theta), spanOf(vs), {out.data(), out.size()});
            return out;
          },
          nb::arg("theta"), nb::arg("vs"))
      .def(
          "hvp",
          [](Function &f, const Doubles &theta, const Doubles &v, const Doubles &cotangent) {
            auto out = makeArray<double>({f.length});
            f.hvp(spanOf(theta), spanOf(v), spanOf(cotangent), {out.data(), out.size()});
            return out;
          },
          nb::arg("theta"), nb::arg("v"), nb::arg("cotangent"))
      .def(
          "images",
          [](Function &f, const Doubles &thetas) {
            if (thetas.ndim() != 2 || thetas.shape(1) != f.length)
              throw std::invalid_argument("a batch is an array (shots, " +
                                          std::to_string(f.length) + ")");
            Shape shape = f.core.imageShape();
            shape.insert(shape.begin(), thetas.shape(0));
            auto out = makeArray<double>(shape);
            f.images(spanOf(thetas), {out.data(), out.size()}, thetas.shape(0));
            return out;
          },
          nb::arg("thetas"));
}

} // namespace nanobragg::python
