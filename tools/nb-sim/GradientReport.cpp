#include "tools/nb-sim/GradientReport.h"

#include "lib/Program/ParameterElements.h"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace nanobragg {

using Json = nlohmann::ordered_json;

const char *nameOf(Engine engine) { return engine == Engine::Fused ? "fused" : "interpreter"; }

const char *kindOf(const LossOptions &loss) {
  static constexpr const char *names[] = {"sum", "chi2", "poisson", "gauss"};
  return names[int(loss.kind)];
}

static std::vector<std::string> elementNames(const Simulator &simulator, const Gradient &g) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i != g.values.size(); ++i)
    names.push_back(elementName(simulator.experiment(), *findParameter(g.parameter), i));
  return names;
}

std::string GradientReport::toJson() const {
  Json all = {{"engine", nameOf(simulator.engine())},
              {"loss_kind", lossKind},
              {"pixels", pixels},
              {"loss", result.loss}};
  for (const Gradient &g : result.gradient) {
    const std::vector<double> value = simulator.get(g.parameter);
    Json entry = {{"parameter", g.parameter}, {"unit", g.unit}};
    if (findParameter(g.parameter)->kind() == NB_PARAMETER_F64) {
      entry["value"] = value[0];
      entry["gradient"] = g.values[0];
    } else {
      entry["elements"] = elementNames(simulator, g);
      entry["value"] = value;
      entry["gradient"] = g.values;
    }
    all["gradient"].push_back(std::move(entry));
  }
  if (loss.hasBackground())
    all["of_loss"]["background"] = result.ofLoss.background;
  if (loss.hasReadOut())
    all["of_loss"]["readout"] = result.ofLoss.readOut;
  all["dead"] = Json::array();
  for (const DeadGradient &d : dead)
    all["dead"].push_back({{"parameter", d.parameter}, {"why", d.why}});
  return all.dump(2) + "\n";
}

std::string GradientReport::toTable() const {
  char line[256];
  std::snprintf(line, sizeof line, "loss (%s of %lld pixels) = %.17g\n", lossKind.c_str(),
                static_cast<long long>(pixels), result.loss);
  std::string text = line;
  std::snprintf(line, sizeof line, "%-28s %-9s %24s %24s\n", "parameter", "unit", "value",
                "gradient per unit");
  text += line;
  for (const Gradient &g : result.gradient) {
    const std::vector<double> value = simulator.get(g.parameter);
    const std::vector<std::string> names = elementNames(simulator, g);
    for (std::size_t i = 0; i != g.values.size(); ++i) {
      std::snprintf(line, sizeof line, "%-28s %-9s %24.17g %24.16e\n", names[i].c_str(),
                    g.unit.c_str(), value[i], g.values[i]);
      text += line;
    }
  }
  const auto own = [&](const char *name, double slope) {
    std::snprintf(line, sizeof line, "%-28s %-9s %24s %24.16e\n", name, "", "of the loss", slope);
    text += line;
  };
  if (loss.hasBackground())
    own("background", result.ofLoss.background);
  if (loss.hasReadOut())
    own("readout", result.ofLoss.readOut);
  return text;
}

} // namespace nanobragg
