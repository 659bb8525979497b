#include "nanobragg/Reflections.h"

#include "lib/Program/ParameterGroups.h"
#include "runtime/simulator/State.h"

#include <stdexcept>

namespace nanobragg {

using Mode = Derivative::Mode;

ReflectionTable Simulator::reflections(const ReflectionLimits &limits) {
  if (!state->reflections)
    state->reflections =
        std::make_unique<ReflectionSource>(state->experiment(), state->source->whole().options);
  return state->reflections->table(state->experiment(), limits, state->everyRun);
}

ImageSource::Names Simulator::State::namesOfReflections(std::string_view parameters) const {
  if (!reflections)
    throw std::logic_error("derivatives of a table of reflections are those of the last one, and "
                           "there is none yet; call reflections() first");
  return resolveParameters(parameters, reflections->variant());
}

std::vector<ReflectionNumbers>
Simulator::reflectionJvps(std::string_view parameters,
                          std::span<const std::vector<Direction>> directions) {
  const ImageSource::Names names = state->namesOfReflections(parameters);
  for (const std::vector<Direction> &direction : directions)
    checkDirection(names, direction);
  if (directions.empty())
    return {};
  return state->reflections->jvps({Mode::JVP, names, int(directions.size())}, directions,
                                  state->everyRun);
}

std::vector<Gradient> Simulator::reflectionGradient(std::string_view parameters,
                                                    const ReflectionNumbers &cotangents) {
  const ImageSource::Names names = state->namesOfReflections(parameters);
  return state->reflections->gradient({Mode::VJP, names}, cotangents, state->everyRun);
}

} // namespace nanobragg
