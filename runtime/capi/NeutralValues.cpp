// What parameters are until they are set.

#include "runtime/capi/ParameterValues.h"

#include <algorithm>
#include <iterator>

namespace nanobragg {
namespace {

struct Neutral {
  const char *name;
  std::vector<double> numbers;
};

const std::vector<Neutral> &table() {
  static const std::vector<Neutral> neutral = {
      {"misset_x", {0}},
      {"misset_y", {0}},
      {"misset_z", {0}},
      {"ncells_a", {1}},
      {"ncells_b", {1}},
      {"ncells_c", {1}},
      {"fudge", {1}},
      {"mosaic_spread", {0}},
      {"mosaic_axis", {0, 0, 0}},
      {"mosaic_unit_angle", {0}},
      {"mosaic_domains", {1}},
      {"spindle_axis", {0, 0, 1}},
      {"phi0", {0}},
      {"osc", {0}},
      {"phi_steps", {1}},
      {"beam_direction", {1, 0, 0}},
      {"polarization_axis", {0, 0, 1}},
      {"kahn_factor", {0}},
      {"dispersion", {0}},
      {"hdiv_range", {0}},
      {"vdiv_range", {0}},
      {"unit_hdiv", {0}},
      {"unit_vdiv", {0}},
      {"unit_dispersion", {0}},
      {"source_weight", {1}},
      {"sources", {1}},
      {"fast_axis", {0, 0, 1}},
      {"slow_axis", {0, -1, 0}},
      {"normal_axis", {1, 0, 0}},
      {"detector_rotx", {0}},
      {"detector_roty", {0}},
      {"detector_rotz", {0}},
      {"twotheta", {0}},
      {"twotheta_axis", {0, 1, 0}},
      {"panel_count", {1}},
      {"oversample", {1}},
      {"roi_fast_min", {0}},
      {"roi_slow_min", {0}},
      {"layers", {1}},
  };
  return neutral;
}

} // namespace

void setNeutral(const std::string &name, ParameterValue &value) {
  const auto found = std::find_if(table().begin(), table().end(),
                                  [&](const Neutral &neutral) { return neutral.name == name; });
  if (found == table().end())
    return;
  value.set = true;
  if (value.kind == NB_PARAMETER_INDEX)
    value.index = std::int64_t(found->numbers[0]);
  else
    value.numbers = found->numbers;
}

} // namespace nanobragg
