// The state of a simulator.
#ifndef NANOBRAGG_SIMULATOR_STATE_H
#define NANOBRAGG_SIMULATOR_STATE_H

#include "runtime/simulator/ProgramSource.h"
#include "runtime/simulator/ReflectionSource.h"

namespace nanobragg {

/// Throws std::invalid_argument for a change of something that is not among the parameters.
void checkDirection(const std::vector<std::string> &parameters,
                    std::span<const Direction> direction);

struct Simulator::State {
  explicit State(std::unique_ptr<ImageSource> source) : source(std::move(source)) {}

  const Experiment &experiment() const { return source->whole().experiment; }
  const ListedPixels &listed() const { return source->whole().listed; }
  /// The parameters of comma-separated names and groups.
  ImageSource::Names namesOf(std::string_view parameters) const;
  /// Throws std::invalid_argument when the experiment has none of this name.
  const Parameter &parameter(std::string_view name) const;
  /// The parameters of these that the program of the last table of reflections has. Throws
  /// std::logic_error before the first table.
  ImageSource::Names namesOfReflections(std::string_view parameters) const;
  /// Throws std::invalid_argument unless that is the number of pixels.
  void requirePixels(std::size_t numbers) const;

  const std::unique_ptr<ImageSource> source;
  std::unique_ptr<ReflectionSource> reflections; ///< made when they are first asked for
  RunOptions everyRun;                           ///< that is given none of its own
  std::vector<std::uint8_t> rendered; ///< found when it is first asked for: images need it not
  // Kept from one gradient of a loss to the next.
  std::vector<double> lossCotangent;
  Loss::Memory lossMemory;
};

} // namespace nanobragg
#endif
