//===- Axes.cpp -----------------------------------------------------------===//
#include "Axes.h"

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

std::vector<Workload> fullTable() {
  Axes sizes;
  sizes.factors = {"constant", "nearest", "tricubic"};
  sizes.cells = {5, 10, 100, 1000};
  std::vector<Workload> all = sizes.crossed();
  const auto with = [&](std::vector<int> Axes::*axis, std::vector<int> values) {
    Axes axes;
    axes.factors = {"constant", "nearest", "tricubic"};
    axes.*axis = std::move(values);
    append(all, axes);
  };
  with(&Axes::domains, {1, 100});
  with(&Axes::oversample, {3});
  with(&Axes::sources, {9});
  with(&Axes::phiSteps, {10});
  return all;
}

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
