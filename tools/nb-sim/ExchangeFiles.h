// Files of one image for other programs: miniCBF, NXmx, .expt, .refl, .stream,
// and tables of reflections.
#ifndef NANOBRAGG_NBSIM_EXCHANGEFILES_H
#define NANOBRAGG_NBSIM_EXCHANGEFILES_H

#include "lib/Files/OutputFile.h"
#include "lib/Formats/NexusFile.h"
#include "lib/Spots/ReflectionFile.h"
#include "nanobragg/Simulator.h"
#include "tools/nb-sim/Noise.h"
#include "tools/nb-sim/SpotLabels.h"
#include "tools/shared/RunSetup.h"

#include <optional>
#include <string>
#include <vector>

namespace nanobragg {

/// Throws UsageError where --cbf is asked for and miniCBF has no room for the experiment.
void refuseUnfitCbf(const CommandLine &line, const io::DialsExperiment &description);

class ExchangeFiles {
public:
  /// Opens those that the command line names. Throws UsageError, io::FileError.
  explicit ExchangeFiles(const RunSetup &setup);
  /// `simulator` made the image.
  void write(const RenderedImage &image, Simulator &simulator);
  void publish();
  std::vector<std::string> names() const;

private:
  std::string imageName() const;

  const RunSetup &setup;
  io::DialsExperiment description;
  std::optional<io::OutputFile> cbf, expt, mtz, reflections;
  std::string factors; ///< the content of mtz
  ReflectionFormat reflectionFormat = ReflectionFormat::Csv;
  SpotLabels labels;
};

} // namespace nanobragg
#endif
