#include "tools/nb-bench/Axes.h"

namespace nanobragg {

std::vector<Workload> Axes::crossed() const {
  std::vector<Workload> all;
  for (const std::string &factor : factors)
    for (int n : cells)
      for (int domain : domains)
        for (int over : oversample)
          for (int source : sources)
            for (int phi : phiSteps)
              for (const std::string &shape : shapes) {
                Workload w;
                w.shape = shape;
                w.factors = factor;
                w.cells = n;
                w.domains = domain;
                w.oversample = over;
                w.sources = source;
                w.phiSteps = phi;
                all.push_back(w);
              }
  return all;
}

static void append(std::vector<Workload> &all, const Axes &axes) {
  const std::vector<Workload> more = axes.crossed();
  all.insert(all.end(), more.begin(), more.end());
}

std::vector<Workload> quickTable() {
  std::vector<Workload> all = Axes().crossed();
  Axes factors;
  factors.shapes = {"square"};
  factors.factors = {"constant", "tricubic"};
  append(all, factors);
  return all;
}

/// The values of every axis, the base point's first.
static Axes everyValue() {
  Axes all;
  all.factors = {"nearest", "constant", "tricubic"};
  all.cells = {10, 5, 100, 1000};
  all.domains = {10, 1, 100};
  all.oversample = {1, 3};
  all.sources = {1, 9};
  all.phiSteps = {1, 10};
  return all;
}

std::vector<Workload> fullTable() {
  const Axes every = everyValue();
  Axes base;
  base.shapes = {"square"};
  std::vector<Workload> all = base.crossed();
  const auto along = [&](auto Axes::*axis) {
    Axes axes = base;
    axes.*axis = every.*axis;
    for (const Workload &workload : axes.crossed())
      if (workload.name() != all.front().name())
        all.push_back(workload);
  };
  along(&Axes::shapes);
  along(&Axes::factors);
  along(&Axes::cells);
  along(&Axes::domains);
  along(&Axes::oversample);
  along(&Axes::sources);
  along(&Axes::phiSteps);
  return all;
}

std::vector<Workload> crossTable() { return everyValue().crossed(); }

std::vector<Workload> guardedTable() {
  std::vector<Workload> all = quickTable();
  const auto with = [&](std::vector<int> Axes::*axis, int value) {
    Axes axes;
    axes.shapes = {"square"};
    axes.domains = {1};
    axes.*axis = {value};
    append(all, axes);
  };
  with(&Axes::oversample, 1);
  with(&Axes::oversample, 3);
  with(&Axes::sources, 9);
  with(&Axes::phiSteps, 10);
  return all;
}

} // namespace nanobragg
