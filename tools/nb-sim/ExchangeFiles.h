// Files of one image for other programs: miniCBF, NXmx, .expt, .refl, .stream, MTZ and tables of
// reflections.
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

/// For --write-mtz: the content of an MTZ file with F(+) and F(-), electrons, of each reflection of
/// the asymmetric unit that is not 0 in the list of the run, in the space group of -hkl or --expt
/// (P 1 where neither has one). F is their mean. Throws UsageError where factors depend on the
/// energy or no list says them.
std::string trueFactors(const RunSetup &setup);

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
