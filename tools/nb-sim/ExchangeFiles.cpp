#include "tools/nb-sim/ExchangeFiles.h"

#include "lib/Images/CbfFile.h"
#include "lib/Formats/ExptFile.h"
#include "tools/nb-sim/DialsExperimentOf.h"
#include "tools/nb-sim/FrameFiles.h"
#include "tools/nb-sim/Noise.h"
#include "tools/nb-sim/SeriesJournal.h"
#include "tools/nb-sim/TrueFactors.h"

#include <filesystem>

namespace nanobragg {

void refuseUnfitCbf(const CommandLine &line, const io::DialsExperiment &description) {
  std::string why;
  if (line.outputs.cbfFile)
    io::cbfHeaderOf(description, why);
  if (!why.empty())
    throw UsageError("--cbf: " + why + ", for which miniCBF has no room; use --nexus=FILE");
}

io::NexusOptions nexusOptionsOf(const CommandLine &line, const Experiment &experiment) {
  io::NexusOptions options;
  options.floats = !line.outputs.noise;
  options.bitshuffle = line.outputs.nexusBitshuffle && io::canBitshuffle();
  if (line.outputs.nexusBitshuffle && !options.bitshuffle && !line.tool.quiet)
    std::fprintf(stderr,
                 "WARNING: --nexus-bitshuffle: HDF5 finds no plugin for bitshuffle (in wheels for "
                 "pip it takes none to write), so that the frames are shuffled and deflated; "
                 "install one (Debian: bitshuffle) or set HDF5_PLUGIN_PATH\n");
  options.frameFast = std::size_t(experiment.detector.fastPixels);
  options.frameSlow = std::size_t(experiment.detector.slowPixels);
  options.mask = experiment.detector.mask;
  return options;
}

ExchangeFiles::ExchangeFiles(const RunSetup &setup)
    : setup(setup), labels(setup, 1, !(setup.complete.report.osc > 0), alone, true) {
  const OutputOptions &o = setup.line.outputs;
  if (o.mtzFile) {
    factors = trueFactors(setup);
    mtz.emplace(*o.mtzFile);
  }
  if (!o.cbfFile && !o.exptFile && !o.nexusFile)
    return;
  description = dialsExperimentOf(setup.complete, setup.line, setup.loaded, 1);
  refuseUnfitCbf(setup.line, description);
  if (o.cbfFile) {
    io::OutputFile::refuseFrameOfOther(*o.cbfFile);
    cbf.emplace(*o.cbfFile);
  }
  if (o.exptFile)
    expt.emplace(*o.exptFile);
  if (o.nexusFile) // written at the end: says now whether it can be
    io::OutputFile probe(*o.nexusFile);
}

void ExchangeFiles::write(const RenderedImage &image) {
  const CommandLine &line = setup.line;
  const OutputOptions &o = line.outputs;
  std::string ignored;
  if (cbf) {
    const auto bytes =
        io::cbfBytes(io::cbfHeaderOf(description, ignored), countsOf(image, line, setup.complete));
    cbf->write(bytes.data(), bytes.size());
  }
  if (o.nexusFile) {
    io::NexusOptions options = nexusOptionsOf(line, setup.complete.experiment);
    options.stills = !description.scan;
    options.complete = true;
    const auto nexus = io::openNexus(*o.nexusFile, description, options);
    if (line.outputs.noise)
      nexus->write(
          0, std::as_bytes(std::span<const std::int32_t>(countsOf(image, line, setup.complete))));
    else
      nexus->write(0, std::as_bytes(image.pixels));
    nexus->finish();
  }
  if (expt) {
    io::ExptImages images;
    images.names.push_back(imageName());
    io::DialsExperiment e = description;
    e.imageSet = 0;
    io::writeExpt(*expt, std::span(&e, 1), images);
  }
  if (mtz)
    mtz->write(factors);
  if (labels.wanted()) {
    labels.add(0, setup.complete, simulatedExperiment(setup.complete, line, setup.loaded, 1),
               image.pixels);
    labels.write(
        [&](std::int64_t) {
          return SpotLabels::ImageName{imageName(), o.nexusFile && !o.cbfFile ? "//0" : ""};
        },
        [](std::int64_t) { return 1; });
  }
}

/// The name of the image for DIALS.
std::string ExchangeFiles::imageName() const {
  const OutputOptions &o = setup.line.outputs;
  const std::string name = o.cbfFile     ? *o.cbfFile
                           : o.nexusFile ? *o.nexusFile
                           : o.noise     ? o.noiseFile
                                         : o.intFile;
  std::error_code error;
  return std::filesystem::absolute(name, error).lexically_normal().string();
}

void ExchangeFiles::publish() {
  for (std::optional<io::OutputFile> *file : {&cbf, &expt, &mtz})
    if (*file)
      (*file)->commit();
  labels.publish();
}

std::vector<std::string> ExchangeFiles::names() const {
  const OutputOptions &o = setup.line.outputs;
  std::vector<std::string> all;
  for (const auto &name : {o.cbfFile, o.nexusFile, o.exptFile, o.reflFile, o.streamFile, o.mtzFile})
    if (name) {
      std::error_code error;
      all.push_back(std::filesystem::absolute(*name, error).lexically_normal().string());
    }
  return all;
}

} // namespace nanobragg
