// The state of a simulator.
#ifndef NANOBRAGG_SIMULATOR_STATE_H
#define NANOBRAGG_SIMULATOR_STATE_H

#include "runtime/simulator/ProgramSource.h"

namespace nanobragg {

struct Simulator::State {
  explicit State(std::unique_ptr<ImageSource> source) : source(std::move(source)) {}

  const Experiment &experiment() const { return source->whole().experiment; }
  const ListedPixels &listed() const { return source->whole().listed; }
  /// The parameters of names and groups with commas between.
  ImageSource::Names namesOf(std::string_view parameters) const;
  /// Throws std::invalid_argument when the experiment has none of this name.
  const Parameter &parameter(std::string_view name) const;
  /// Throws std::invalid_argument unless that is the number of pixels.
  void requirePixels(std::size_t numbers) const;

  const std::unique_ptr<ImageSource> source;
  RunOptions everyRun;                ///< that is given none of its own
  std::vector<std::uint8_t> rendered; ///< found when it is first asked for: images need it not
  // Kept from one gradient of a loss to the next.
  std::vector<double> lossCotangent;
  Loss::Memory lossMemory;
};

} // namespace nanobragg
#endif
