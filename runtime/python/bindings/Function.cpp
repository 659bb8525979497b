// Images and their derivatives as functions of one flat vector: what frameworks differentiate.
#include "runtime/python/bindings/Function.h"
#include "lib/Parallel/ThreadTeam.h"
#include "lib/Program/ParameterElements.h"
#include "runtime/python/bindings/ParameterTable.h"
#include "runtime/python/bindings/SimulatorClass.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace nanobragg::python {

namespace {

/// The row of shot i, or the one that all share.
template <typename T>
std::span<T> rowOf(std::span<T> rows, std::size_t size, std::size_t i) {
  return rows.size() == size ? rows : rows.subspan(i * size, size);
}

bool areEqual(std::span<const double> rows, std::size_t size) {
  for (std::size_t i = size; i < rows.size(); i += size)
    if (!std::ranges::equal(rows.first(size), rows.subspan(i, size)))
      return false;
  return true;
}

/// The columns one after another; returns what is left of `out`.
std::span<double> toUserUnits(const ReflectionNumbers &columns, std::span<double> out) {
  for (std::size_t i = 0; i != reflectionColumns.size(); ++i) {
    std::ranges::copy(reflectionColumns[i].toUserUnits(columns[i]), out.begin());
    out = out.subspan(columns[i].size());
  }
  return out;
}

} // namespace

Function::Function(const PythonSimulator &of, const std::vector<std::string> &names,
                   const std::vector<std::string> &wrt,
                   std::optional<std::vector<AskedReflection>> rows)
    : core(of.use([&](Simulator &s) { return s.copy(); }), of.options),
      table(rows ? std::optional(ReflectionLimits{.rows = std::move(rows)}) : std::nullopt) {
  const Experiment &experiment = core.simulator.experiment();
  for (const std::string &name : names) {
    const Parameter *parameter = named(experiment, name).front();
    const bool differentiated = std::ranges::find(wrt, name) != wrt.end();
    if (parameter->name != name)
      throw std::invalid_argument("'" + name + "' is a group; name its members");
    if (!parameter->place.mutableNumbers || (differentiated && !parameter->differentiable()))
      throw std::invalid_argument("'" + name + "' (" + parameter->meaning +
                                  ") is a discrete choice and has no derivative");
    if (std::ranges::any_of(parts, [&](const Part &p) { return p.parameter == parameter; }))
      throw std::invalid_argument("'" + name + "' is named twice");
    const std::size_t size = elementCount(experiment, *parameter);
    parts.push_back({parameter, length, size, differentiated});
    length += size;
    if (differentiated)
      this->wrt += (this->wrt.empty() ? "" : ",") + name;
  }
}

void Function::set(Simulator &simulator, std::span<const double> theta) const {
  for (const Part &part : parts)
    setChecked(simulator, *part.parameter, theta.subspan(part.begin, part.size));
  checkCell(simulator);
}

void Function::checkRows(std::span<const double> numbers, std::size_t shots, std::size_t size,
                         const char *what) {
  if (numbers.size() != size && numbers.size() != shots * size)
    throw std::invalid_argument(std::string(what) + " has " + std::to_string(size) +
                                " numbers in each of " + std::to_string(shots) +
                                " shots, and is given " + std::to_string(numbers.size()));
}

bool Function::movesAlong(const Part &part, std::span<const double> vs) const {
  for (std::size_t row = 0; part.differentiated && row < vs.size(); row += length)
    if (std::ranges::any_of(vs.subspan(row + part.begin, part.size),
                            [](double change) { return change != 0; }))
      return true;
  return false;
}

std::vector<Direction> Function::direction(std::span<const Part> along,
                                           std::span<const double> v) const {
  std::vector<Direction> all;
  for (const Part &part : along) {
    const std::span<const double> change = v.subspan(part.begin, part.size);
    if (part.differentiated)
      all.push_back({part.parameter->name, {change.begin(), change.end()}});
  }
  return all;
}

void Function::flatten(const std::vector<Gradient> &gradients, std::span<double> out) const {
  std::ranges::fill(out, 0.0);
  for (const Gradient &g : gradients) {
    const auto part = std::ranges::find_if(
        parts, [&](const Part &p) { return g.parameter == p.parameter->name; });
    std::ranges::copy(g.values, out.begin() + std::ptrdiff_t(part->begin));
  }
}

template <typename Work>
void Function::forEach(Caller caller, std::size_t shots, std::span<const double> thetas,
                       Work work) {
  checkRows(thetas, shots, length, "theta");
  if (shots == 0)
    return;
  run(caller, [&](Simulator &first, const RunOptions &how) {
    const auto shot = [&](Simulator &s, std::size_t i, const RunOptions &run) {
      set(s, rowOf(thetas, length, i));
      work(s, i, run);
    };
    // Below this one image keeps no second thread busy for long enough.
    constexpr std::size_t small = 512 * 512;
    const int wanted = int(std::min(shots - 1, std::size_t(threadsOf(core.options.threads))));
    const std::size_t alone = wanted <= 1 || this->pixels() >= small ? shots : 1;
    for (std::size_t i = 0; i != alone; ++i) // the first also makes the program for all threads
      shot(first, i, how);
    if (alone == shots)
      return 0;
    ThreadTeam team(wanted);
    RunOptions one;
    one.threads = 1;
    one.cancel = how.cancel;
    others.resize(std::max(others.size(), std::size_t(team.size())));
    team.forEach(std::int64_t(shots - alone), [&](std::int64_t i, int thread) {
      std::optional<Simulator> &s = others[std::size_t(thread)];
      if (!s)
        s.emplace(first.copy());
      s->setRunOptions(one);
      shot(*s, std::size_t(i) + alone, one);
    });
    return 0;
  });
}

Shape Function::shape() const {
  return table ? Shape{reflectionColumns.size() + 1, table->rows->size()} : core.imageShape();
}

std::size_t Function::pixels() const {
  return table ? (reflectionColumns.size() + 1) * table->rows->size() : core.simulator.pixels();
}

void Function::value(Simulator &simulator, std::span<double> out, const RunOptions &run) const {
  if (table) {
    const ReflectionTable made = simulator.reflections(*table);
    std::ranges::copy(made.panel, toUserUnits(made.columns, out).begin());
  } else if (simulator.render(out, run).cancelled) {
    throw Cancelled();
  }
}

std::vector<Gradient> Function::reverse(Simulator &simulator,
                                        std::span<const double> cotangent) const {
  if (!table)
    return simulator.gradient(wrt, cotangent);
  simulator.reflections(*table);
  ReflectionNumbers numbers;
  const std::size_t rows = table->rows->size();
  for (std::size_t i = 0; i != reflectionColumns.size(); ++i) {
    const std::span<const double> column = cotangent.subspan(i * rows, rows);
    // By a number in `unit` as much more as it has users' units.
    numbers[i] = reflectionColumns[i].toUserUnits({column.begin(), column.end()});
  }
  return simulator.reflectionGradient(wrt, numbers);
}

void Function::forward(Simulator &simulator, const std::string &names,
                       std::span<const std::vector<Direction>> directions,
                       std::span<const std::span<double>> images) const {
  if (!table) {
    simulator.jvps(names, directions, images);
    return;
  }
  simulator.reflections(*table);
  const std::vector<ReflectionNumbers> changes = simulator.reflectionJvps(names, directions);
  for (std::size_t i = 0; i != images.size(); ++i)
    std::ranges::fill(toUserUnits(changes[i], images[i]), 0.0);
}

void Function::image(std::size_t shots, std::span<const double> thetas, std::span<double> out,
                     Caller caller) {
  const std::size_t pixels = this->pixels();
  forEach(caller, shots, thetas, [&](Simulator &s, std::size_t i, const RunOptions &run) {
    value(s, out.subspan(i * pixels, pixels), run);
  });
}

void Function::vjp(std::size_t shots, std::span<const double> thetas,
                   std::span<const double> cotangents, std::span<double> out, Caller caller) {
  const std::size_t pixels = this->pixels();
  checkRows(thetas, shots, length, "theta");
  checkRows(cotangents, shots, pixels, "the cotangent");
  std::vector<std::size_t> moving;
  for (const Part &part : parts)
    for (std::size_t i = 0; part.differentiated && i != part.size; ++i)
      moving.push_back(part.begin + i);
  if (moving.empty()) {
    std::ranges::fill(out, 0.0);
    return;
  }
  if (shots == 1 || shots < moving.size() || !areEqual(thetas, length)) {
    forEach(caller, shots, thetas, [&](Simulator &s, std::size_t i, const RunOptions &) {
      flatten(reverse(s, rowOf(cotangents, pixels, i)), out.subspan(i * length, length));
    });
    return;
  }
  std::vector<double> units(moving.size() * length), slopes(moving.size() * pixels);
  for (std::size_t i = 0; i != moving.size(); ++i)
    units[i * length + moving[i]] = 1;
  jvp(moving.size(), thetas.first(length), units, slopes, caller);
  std::ranges::fill(out, 0.0);
  for (std::size_t shot = 0; shot != shots; ++shot) {
    const std::span<const double> cotangent = rowOf(cotangents, pixels, shot);
    for (std::size_t pixel = 0; pixel != pixels; ++pixel)
      if (cotangent[pixel] != 0)
        for (std::size_t i = 0; i != moving.size(); ++i)
          out[shot * length + moving[i]] += cotangent[pixel] * slopes[i * pixels + pixel];
  }
}

void Function::jvp(std::size_t shots, std::span<const double> thetas, std::span<const double> vs,
                   std::span<double> out, Caller caller) {
  const std::size_t pixels = this->pixels();
  checkRows(thetas, shots, length, "theta");
  checkRows(vs, shots, length, "a direction");
  if (wrt.empty()) {
    std::ranges::fill(out, 0.0);
    return;
  }
  if (shots > 1 && vs.size() == shots * length && areEqual(thetas, length)) {
    run(caller, [&](Simulator &s, const RunOptions &) {
      set(s, thetas.first(length));
      sweep(s, shots, vs, out);
      return 0;
    });
    return;
  }
  forEach(caller, shots, thetas, [&](Simulator &s, std::size_t i, const RunOptions &) {
    const std::vector<Direction> along[] = {direction(parts, rowOf(vs, length, i))};
    const std::span<double> images[] = {out.subspan(i * pixels, pixels)};
    forward(s, wrt, along, images);
  });
}

/// By what no direction changes nothing is differentiated.
void Function::sweep(Simulator &simulator, std::size_t directions, std::span<const double> vs,
                     std::span<double> out) const {
  std::vector<Part> moved;
  std::string names;
  for (const Part &part : parts)
    if (movesAlong(part, vs)) {
      moved.push_back(part);
      names += (names.empty() ? "" : ",") + std::string(part.parameter->name);
    }
  if (moved.empty()) {
    std::ranges::fill(out, 0.0);
    return;
  }
  // A kernel is compiled for a number of directions: even ones, so that there are few, and one
  // alone where there are many directions. The derivatives of averages with respect to their inputs
  // are found once for all directions of a kernel.
  const std::size_t most = simulator.experiment().variant.isSampled() ? 8 : 24;
  const std::size_t sweeps = (directions + most - 1) / most;
  const std::size_t share = (directions + sweeps - 1) / sweeps;
  const std::size_t even = share == 1 ? 1 : share + share % 2;
  const std::size_t pixels = this->pixels();
  for (std::size_t row = 0; row != directions;) {
    const std::size_t count = std::min(directions - row, even);
    std::vector<std::vector<Direction>> some;
    std::vector<std::span<double>> images;
    for (std::size_t i = 0; i != even; ++i)
      some.push_back(i < count ? direction(moved, vs.subspan((row + i) * length, length))
                               : std::vector<Direction>());
    for (std::size_t i = 0; i != count; ++i)
      images.push_back(out.subspan((row + i) * pixels, pixels));
    forward(simulator, names, some, images);
    row += count;
  }
}

void Function::hvp(std::size_t shots, std::span<const double> thetas, std::span<const double> vs,
                   std::span<const double> cotangents, std::span<double> out, Caller caller) {
  const std::size_t pixels = this->pixels();
  if (table)
    throw std::runtime_error("second derivatives of tables of reflections are not available");
  checkRows(vs, shots, length, "a direction");
  checkRows(cotangents, shots, pixels, "the cotangent");
  if (wrt.empty()) {
    std::ranges::fill(out, 0.0);
    return;
  }
  forEach(caller, shots, thetas, [&](Simulator &s, std::size_t i, const RunOptions &) {
    flatten(s.hvp(wrt, direction(parts, rowOf(vs, length, i)), rowOf(cotangents, pixels, i)),
            out.subspan(i * length, length));
  });
}

void Function::gradient(std::size_t shots, std::span<const double> thetas, const Loss &loss,
                        std::span<double> losses, std::span<double> out) {
  forEach(Caller::Python, shots, thetas, [&](Simulator &s, std::size_t i, const RunOptions &) {
    const LossGradient g = s.gradient(wrt, loss);
    losses[i] = g.loss;
    flatten(g.gradient, out.subspan(i * length, length));
  });
}

std::vector<ReflectionTable> Function::tables(std::size_t shots, std::span<const double> thetas,
                                              const ReflectionLimits &limits) {
  std::vector<ReflectionTable> tables(shots);
  forEach(Caller::Python, shots, thetas, [&](Simulator &s, std::size_t i, const RunOptions &) {
    tables[i] = s.reflections(limits);
  });
  return tables;
}

void bindFunction(nb::module_ &module) {
  // Results are (shots, ...).
  const auto imagesOf = [](Function &f, std::size_t shots) {
    Shape shape = f.shape();
    shape.insert(shape.begin(), shots);
    return makeArray<double>(shape);
  };
  nb::class_<Function>(module, "Function", nb::is_weak_referenceable(),
                       "The image of an experiment, which does not change any more, as a function "
                       "of some of its numbers in one flat vector.")
      .def(
          "__init__",
          [](Function *self, const PythonSimulator &of, const std::vector<std::string> &names,
             const std::vector<std::string> &wrt, const nb::object &rows) {
            std::optional<std::vector<AskedReflection>> table;
            if (!rows.is_none())
              table = limitsOf(rows).rows;
            new (self) Function(of, names, wrt, std::move(table));
          },
          nb::arg("simulator"), nb::arg("names"), nb::arg("wrt"), nb::arg("rows").none())
      .def_prop_ro("length", [](const Function &f) { return f.length; })
      .def_prop_ro("shape",
                   [](const Function &f) {
                     nb::list shape;
                     for (std::size_t n : f.shape())
                       shape.append(n);
                     return nb::tuple(shape);
                   })
      .def_prop_ro("address",
                   [](const Function &f) { return reinterpret_cast<std::uintptr_t>(&f); })
      .def("image",
           [=](Function &f, std::size_t shots, const Doubles &theta) {
             auto out = imagesOf(f, shots);
             f.image(shots, spanOf(theta), spanOf(out));
             return out;
           })
      .def("vjp",
           [](Function &f, std::size_t shots, const Doubles &theta, const Doubles &cotangent) {
             auto out = makeArray<double>({shots, f.length});
             f.vjp(shots, spanOf(theta), spanOf(cotangent), spanOf(out));
             return out;
           })
      .def("jvp",
           [=](Function &f, std::size_t shots, const Doubles &theta, const Doubles &v) {
             auto out = imagesOf(f, shots);
             f.jvp(shots, spanOf(theta), spanOf(v), spanOf(out));
             return out;
           })
      .def("hvp",
           [](Function &f, std::size_t shots, const Doubles &theta, const Doubles &v,
              const Doubles &cotangent) {
             auto out = makeArray<double>({shots, f.length});
             f.hvp(shots, spanOf(theta), spanOf(v), spanOf(cotangent), spanOf(out));
             return out;
           })
      .def("gradient",
           [](Function &f, std::size_t shots, const Doubles &theta, const nanobragg::Loss &loss) {
             auto losses = makeArray<double>({shots});
             auto out = makeArray<double>({shots, f.length});
             f.gradient(shots, spanOf(theta), loss, spanOf(losses), spanOf(out));
             return nb::make_tuple(losses, out);
           })
      .def("tables",
           [](Function &f, std::size_t shots, const Doubles &theta, const nb::object &rows) {
             nb::list tables;
             for (const ReflectionTable &table : f.tables(shots, spanOf(theta), limitsOf(rows)))
               tables.append(asDict(table));
             return tables;
           });
}

} // namespace nanobragg::python
