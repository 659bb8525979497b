#include "lib/CommandLine/Flag.h"
#include "lib/Program/FlagOf.h"
#include "lib/Program/Parameters.h"
#include "test/CommandLine/Support.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace nanobragg;

namespace {

struct Case {
  std::string words;
  bool (*holds)(const CommandLine &);
  bool isDefault = false; ///< holds without the words too
};

using L = const CommandLine &;

/// One of the background tables; an empty one where there are not so many.
BackgroundFile table(L line, std::size_t index = 0) {
  const std::vector<BackgroundFile> &tables = line.files.backgrounds;
  return index < tables.size() ? tables[index] : BackgroundFile{};
}

const std::vector<Case> inputs = {
    {"-hkl a.hkl", [](L l) { return l.files.hkl == "a.hkl"; }},
    {"--hkl-dmin=1.5", [](L l) { return l.options.modelDmin == 1.5; }},
    {"--k-sol=0.35", [](L l) { return l.options.solventDensity == 0.35; }},
    {"--b-sol=50", [](L l) { return l.options.solventB == 50; }},
    {"--no-anomalous", [](L l) { return !l.options.anomalousScattering; }},
    {"--geom=a.geom", [](L l) { return l.files.geometry == "a.geom"; }},
    {"--efficiency=e.txt", [](L l) { return l.files.efficiency == "e.txt"; }},
    {"--sensor-material=Si", [](L l) { return l.files.sensorMaterial == "Si"; }},
    {"--spectrum=s.txt", [](L l) { return l.files.spectrum == "s.txt"; }},
    {"--expt=a.expt:3", [](L l) { return l.files.expt == "a.expt:3"; }},
    {"-dump f.bin", [](L l) { return l.files.dump == "f.bin" && !l.outputs.dumpFile; }},
    {"-default_F -3.5", [](L l) { return l.options.defaultF == -3.5; }},
    {"-mat A.mat", [](L l) { return l.files.matrix == "A.mat"; }},
    {"-matrix A.mat", [](L l) { return l.files.matrix == "A.mat"; }},
    {"-cell 40",
     [](L l) { return l.options.cell == std::array<double, 6>{40, 40, 40, 90, 90, 90}; }},
    {"-misset 1 -2 3.5",
     [](L l) { return l.options.misset == Vec3{1, -2, 3.5} && !l.options.missetRandom; }},
    {"-misset random", [](L l) { return l.options.missetRandom && !l.options.misset; }},
    {"-misset_seed 12", [](L l) { return l.options.missetSeed == 12; }},
    {"-img i.img", [](L l) { return l.files.image == "i.img"; }},
    {"-gain_map g.npy", [](L l) { return l.files.gainMap == "g.npy"; }},
    {"-mask m.img", [](L l) { return l.files.mask == "m.img"; }},
    {"-sourcefile s.txt", [](L l) { return l.files.sources == "s.txt"; }},
    {"--hkl-channels c", [](L l) { return l.files.hklChannels == "c"; }},
    {"--channel-weights=linear", [](L l) { return l.options.betweenChannels; }},
    {"--channel-weights=nearest", [](L l) { return !l.options.betweenChannels; }, true},
    {"--anomalous-atoms a", [](L l) { return l.files.anomalousAtoms == "a"; }},
    {"--anomalous-table t", [](L l) { return l.files.anomalousTable == "t"; }},
    {"-stol s", [](L l) { return table(l).name == "s" && table(l).stolUnit == 1e10; }},
    {"-4stol s", [](L l) { return table(l).stolUnit == 1e10 / 4; }},
    {"-Q s", [](L l) { return std::fabs(table(l).stolUnit - 795774715.459477) < 1; }},
    {"-stol s -stol t", [](L l) { return table(l, 1).name == "t"; }},
    {"-thickness 3 -stol s", [](L l) { return l.files.material.thickness == 3e-3; }},
    {"-stol s -thick 3", [](L l) { return table(l).material.thickness == 3e-3; }},
    {"-stol s -density 1.2 -stol t",
     [](L l) { return table(l).material.density == 1.2e3 && !table(l, 1).material.density; }},
    {"-background_oversample 3", [](L l) { return l.options.backgroundOversample == 3; }},
    {"-density 1.2", [](L l) { return l.files.material.density == 1.2e3; }},
    {"-sample_den 1.2", [](L l) { return l.files.material.density == 1.2e3; }},
    {"-sample_density 1.2", [](L l) { return l.files.material.density == 1.2e3; }},
    {"-MW 40e3", [](L l) { return l.files.material.molarMass == 40; }},
    {"-molec 40e3", [](L l) { return l.files.material.molarMass == 40; }},
    {"-molecular_weight 40e3", [](L l) { return l.files.material.molarMass == 40; }},
    {"-stolout s", [](L l) { return l.given.size() == 1 && l.files.backgrounds.empty(); }},
};

const std::vector<Case> crystal = {
    {"-N 5", [](L l) { return l.options.na == 5 && l.options.nb == 5 && l.options.nc == 5; }},
    {"-Na 5", [](L l) { return l.options.na == 5 && !l.options.nb && !l.options.nc; }},
    {"-Nb 5", [](L l) { return l.options.nb == 5 && !l.options.na && !l.options.nc; }},
    {"-Nc 5", [](L l) { return l.options.nc == 5 && !l.options.na && !l.options.nb; }},
    {"-xtalsize .5", [](L l) { return l.options.sampleX == .5 && l.options.sampleY == .5; }},
    {"-xtal_size .5", [](L l) { return l.options.sampleX == .5 && l.options.sampleZ == .5; }},
    {"-samplesize .5", [](L l) { return l.options.sampleX == .5 && l.options.sampleY == .5; }},
    {"-sample_size .5", [](L l) { return l.options.sampleX == .5 && l.options.sampleZ == .5; }},
    {"-xtal_thick .5", [](L l) { return l.options.sampleX == .5 && !l.options.sampleY; }},
    {"-xtal_x .5", [](L l) { return l.options.sampleX == .5; }},
    {"-sample_thick .5", [](L l) { return l.options.sampleX == .5; }},
    {"-sample_x .5", [](L l) { return l.options.sampleX == .5; }},
    {"-xtal_width .5", [](L l) { return l.options.sampleY == .5 && !l.options.sampleX; }},
    {"-xtal_y .5", [](L l) { return l.options.sampleY == .5; }},
    {"-sample_width .5", [](L l) { return l.options.sampleY == .5; }},
    {"-sample_y .5", [](L l) { return l.options.sampleY == .5; }},
    {"-width .5", [](L l) { return l.options.sampleY == .5; }},
    {"-xtal_height .5", [](L l) { return l.options.sampleZ == .5 && !l.options.sampleX; }},
    {"-xtal_heigh .5", [](L l) { return l.options.sampleZ == .5; }},
    {"-xtal_z .5", [](L l) { return l.options.sampleZ == .5; }},
    {"-sample_height .5", [](L l) { return l.options.sampleZ == .5; }},
    {"-sample_heigh .5", [](L l) { return l.options.sampleZ == .5; }},
    {"-sample_z .5", [](L l) { return l.options.sampleZ == .5; }},
    {"-height .5", [](L l) { return l.options.sampleZ == .5; }},
    {"-heigh .5", [](L l) { return l.options.sampleZ == .5; }},
    {"-round_xtal -square_xtal", [](L l) { return l.options.shape == CrystalShape::Square; }, true},
    {"-round_xtal", [](L l) { return l.options.shape == CrystalShape::Round; }},
    {"-gauss_xtal", [](L l) { return l.options.shape == CrystalShape::Gauss; }},
    {"-tophat_spots", [](L l) { return l.options.shape == CrystalShape::Tophat; }},
    {"-binary_spots", [](L l) { return l.options.shape == CrystalShape::Tophat; }},
    {"-Ncells_def 1 -2.5 .5",
     [](L l) { return l.options.ncellsDef == std::array<double, 3>{1, -2.5, .5}; }},
    {"-fudge 1.7", [](L l) { return l.options.fudge == 1.7; }},
    {"-mosaic 1.5", [](L l) { return l.options.mosaicSpread == 1.5; }},
    {"-mosaici 1.5", [](L l) { return l.options.mosaicSpread == 1.5; }},
    {"-mosaicity 1.5", [](L l) { return l.options.mosaicSpread == 1.5; }},
    {"-mosaic_spr 1.5", [](L l) { return l.options.mosaicSpread == 1.5; }},
    {"-mosaic_spread 1.5", [](L l) { return l.options.mosaicSpread == 1.5; }},
    {"-mosaic_dom 7", [](L l) { return l.options.mosaicDomains == 7; }},
    {"-mosaic_domains 7", [](L l) { return l.options.mosaicDomains == 7; }},
    {"-mosaic_seed -9", [](L l) { return l.options.mosaicSeed == -9; }},
    {"-mosaic_lab", [](L l) { return l.options.mosaicInLab; }},
    {"--average=closed", [](L l) { return l.options.averaging == Averaging::Closed; }},
    {"--average=quadrature", [](L l) { return l.options.averaging == Averaging::Quadrature; }},
    {"--average-draws=100", [](L l) { return l.options.averageDraws == 100; }},
    {"--average-tolerance=0.01", [](L l) { return l.options.averageTolerance == 0.01; }},
    {"--spectrum-between=linear",
     [](L l) { return l.options.spectrumBetween == SpectrumBetween::Linear; }},
    {"--bandwidth-sigma=0.5", [](L l) { return l.options.bandwidthSigma == 0.5; }},
    {"-interpolate", [](L l) { return l.options.interpolate == true; }},
    {"-nointerpolate", [](L l) { return l.options.interpolate == false; }},
    {"-dmin 3.5", [](L l) { return l.options.dmin == 3.5; }},
    {"-mosaic_abc 1 2 3", [](L l) { return l.options.mosaicAbc == Vec3{1, 2, 3}; }},
    {"-diffuse_gamma 50", [](L l) { return l.options.diffuseGamma == Vec3{50, 50, 50}; }},
    {"-diffuse_sigma 1 2 3", [](L l) { return l.options.diffuseSigma == Vec3{1, 2, 3}; }},
    {"-laue_group 14", [](L l) { return l.options.laueGroup == 14; }},
};

const std::vector<Case> beam = {
    {"-lambda_offset -0.01", [](L l) { return l.options.wavelengthOffset == -0.01; }},
    {"-lambda_scale 1.01", [](L l) { return l.options.wavelengthScale == 1.01; }},
    {"-lambda 1.3", [](L l) { return l.options.lambda == 1.3; }},
    {"-wave 1.3", [](L l) { return l.options.lambda == 1.3; }},
    {"-wavelength 1.3", [](L l) { return l.options.lambda == 1.3; }},
    {"-energy 9876", [](L l) { return l.options.energy == 9876; }},
    {"-dispersion 3", [](L l) { return l.options.dispersion == 3; }},
    {"-dispsteps 5", [](L l) { return l.options.dispersionSteps == 5; }},
    {"-divergence 8", [](L l) { return l.options.hdivRange == 8 && l.options.vdivRange == 8; }},
    {"-hdivrange 8", [](L l) { return l.options.hdivRange == 8 && !l.options.vdivRange; }},
    {"-vdivrange 8", [](L l) { return l.options.vdivRange == 8 && !l.options.hdivRange; }},
    {"-divergence_sigma 2",
     [](L l) { return l.options.hdivSigma == 2 && l.options.vdivSigma == 2; }},
    {"-divergence_sigma 2 1", [](L l) { return l.options.vdivSigma == 1; }},
    {"-hdivstep 2", [](L l) { return l.options.hdivStep == 2 && !l.options.hdivSteps; }},
    {"-vdivstep 2", [](L l) { return l.options.vdivStep == 2 && !l.options.vdivSteps; }},
    {"-hdivsteps 2", [](L l) { return l.options.hdivSteps == 2 && !l.options.hdivStep; }},
    {"-vdivsteps 2", [](L l) { return l.options.vdivSteps == 2 && !l.options.vdivStep; }},
    {"-divsteps 3", [](L l) { return l.options.hdivSteps == 3 && l.options.vdivSteps == 3; }},
    {"-square_div -round_div", [](L l) { return l.options.roundDivergence; }, true},
    {"-square_div", [](L l) { return !l.options.roundDivergence; }},
    {"-fluence 1e24", [](L l) { return l.options.fluence == 1e24; }},
    {"-flux 1e12", [](L l) { return l.options.flux == 1e12; }},
    {"-exposure .1", [](L l) { return l.options.exposure == .1; }},
    {"-beamsize .05", [](L l) { return l.options.beamSize == .05; }},
    {"-polar -0.7", [](L l) { return l.options.polarization == -.7; }},
    {"-nopolar", [](L l) { return l.options.noPolarization; }},
    {"-water 100", [](L l) { return l.options.water == 100; }},
    {"-coherent", [](L l) { return l.given.size() == 1; }},
    {"-phi -4", [](L l) { return l.options.phi == -4; }},
    {"-osc 2", [](L l) { return l.options.osc == 2; }},
    {"-phistep .45", [](L l) { return l.options.phiStep == .45 && !l.options.phiSteps; }},
    {"-phisteps 5", [](L l) { return l.options.phiSteps == 5 && !l.options.phiStep; }},
};

const std::vector<Case> detector = {
    {"-distance 80", [](L l) { return l.options.distance == 80; }},
    {"-close_distance 75", [](L l) { return l.options.closeDistance == 75; }},
    {"-pixel .4", [](L l) { return l.options.pixelSize == .4; }},
    {"-detpixels 96", [](L l) { return l.options.fastPixels == 96 && l.options.slowPixels == 96; }},
    {"-detpixels_f 96", [](L l) { return l.options.fastPixels == 96 && !l.options.slowPixels; }},
    {"-detpixels_x 96", [](L l) { return l.options.fastPixels == 96 && !l.options.slowPixels; }},
    {"-detpixels_s 96", [](L l) { return l.options.slowPixels == 96 && !l.options.fastPixels; }},
    {"-detpixels_y 96", [](L l) { return l.options.slowPixels == 96 && !l.options.fastPixels; }},
    {"-detsize 38.4",
     [](L l) { return l.options.detSizeFast == 38.4 && l.options.detSizeSlow == 38.4; }},
    {"-detsize_f 38.4",
     [](L l) { return l.options.detSizeFast == 38.4 && !l.options.detSizeSlow; }},
    {"-detsize_s 38.4",
     [](L l) { return l.options.detSizeSlow == 38.4 && !l.options.detSizeFast; }},
    {"-detector_abs 500", [](L l) { return l.options.attenuationDepth == 500; }},
    {"-detector_absorb inf",
     [](L l) { return std::isinf(l.options.attenuationDepth.value_or(0)); }},
    {"-detector_thick 450", [](L l) { return l.options.thickness == 450; }},
    {"-detector_thicksteps 4", [](L l) { return l.options.thickSteps == 4; }},
    {"-thicksteps 4", [](L l) { return l.options.thickSteps == 4; }},
    {"-curved_det", [](L l) { return l.options.curved; }},
    {"-point_pixel", [](L l) { return l.options.pointPixel; }},
    {"-roi 1 2 -1 4",
     [](L l) {
       return l.options.roi[0] == 1 && l.options.roi[1] == 2 && !l.options.roi[2] &&
              l.options.roi[3] == 4;
     }},
    {"-oversample 3", [](L l) { return l.options.oversample == 3; }},
    {"-oversample_thick", [](L l) { return l.options.oversampleThick && !l.options.oversample; }},
    {"-oversample_polar", [](L l) { return l.options.oversamplePolar && !l.options.oversample; }},
    {"-oversample_omega", [](L l) { return l.options.oversampleOmega && !l.options.oversample; }},
};

const std::vector<Case> geometry = {
    {"-xds -mosflm", [](L l) { return l.options.convention == Convention::Mosflm; }},
    {"-denzo", [](L l) { return l.options.convention == Convention::Denzo; }},
    {"-adxv", [](L l) { return l.options.convention == Convention::Adxv; }},
    {"-xds", [](L l) { return l.options.convention == Convention::Xds; }},
    {"-dials", [](L l) { return l.options.convention == Convention::Dials; }},
    {"--beam-center 3 4.5", [](L l) { return l.options.beamCenter == std::array{3.0, 4.5}; }},
    {"-Xbeam -52.5", [](L l) { return l.options.xBeam == -52.5; }},
    {"-Ybeam 20", [](L l) { return l.options.yBeam == 20; }},
    {"-Xclose 20", [](L l) { return l.options.xClose == 20; }},
    {"-Yclose 20", [](L l) { return l.options.yClose == 20; }},
    {"-ORGX 37.2", [](L l) { return l.options.orgX == 37.2; }},
    {"-ORGY 37.2", [](L l) { return l.options.orgY == 37.2; }},
    {"-pivot sample", [](L l) { return l.options.pivot == Pivot::Sample; }},
    {"-pivot beam", [](L l) { return l.options.pivot == Pivot::Beam; }},
    {"-fdet_vector 1 2 3", [](L l) { return l.options.fastAxis == Vec3{1, 2, 3}; }},
    {"-sdet_vector 1 2 3", [](L l) { return l.options.slowAxis == Vec3{1, 2, 3}; }},
    {"-odet_vector 1 2 3", [](L l) { return l.options.normalAxis == Vec3{1, 2, 3}; }},
    {"-beam_vector 1 2 3", [](L l) { return l.options.beamVector == Vec3{1, 2, 3}; }},
    {"-polar_vector 1 2 3",
     [](L l) { return l.options.polarVector == Vec3{1, 2, 3} && !l.options.polarization; }},
    {"-spindle_axis 1 2 3", [](L l) { return l.options.spindleAxis == Vec3{1, 2, 3}; }},
    {"-twotheta_axis 1 2 3",
     [](L l) { return l.options.twothetaAxis == Vec3{1, 2, 3} && !l.options.twotheta; }},
    {"-pix0_vector 0 0 0", [](L l) { return l.options.convention == Convention::Custom; }},
    {"-twotheta 15", [](L l) { return l.options.twotheta == 15; }},
    {"-detector_rotx 5", [](L l) { return l.options.rotX == 5; }},
    {"-detector_roty -5", [](L l) { return l.options.rotY == -5; }},
    {"-detector_rotz 5", [](L l) { return l.options.rotZ == 5; }},
};

const std::vector<Case> response = {
    {"-gain 2.5", [](L l) { return l.options.gain == 2.5; }},
    {"-psf gauss", [](L l) { return l.options.pointSpread == PointSpread::Gauss; }},
    {"-psf fiber", [](L l) { return l.options.pointSpread == PointSpread::Fiber; }},
    {"-psf_fwhm 80", [](L l) { return l.options.psfFwhm == 80; }},
    {"-psf_size 80", [](L l) { return l.options.psfFwhm == 80; }},
    {"-psf_width 80", [](L l) { return l.options.psfFwhm == 80; }},
    {"-dead_time 2e-7", [](L l) { return l.options.deadTime == 2e-7; }},
    {"-psf_radius 5", [](L l) { return l.options.psfRadius == 5; }},
    {"-flicker .02", [](L l) { return noiseModel(l).flicker == .02; }},
    {"-calibration .05", [](L l) { return noiseModel(l).calibration == .05; }},
    {"-calib_seed 9", [](L l) { return noiseModel(l).calibrationSeed == -9; }},
    {"-readout_noise 3", [](L l) { return noiseModel(l).readOut == 3; }},
    {"-readout 3", [](L l) { return noiseModel(l).readOut == 3; }},
    {"-readnoise 3", [](L l) { return noiseModel(l).readOut == 3; }},
    {"--dead-pixels=.01", [](L l) { return noiseModel(l).deadPixels == .01; }},
    {"--hot-pixels=.01", [](L l) { return noiseModel(l).hotPixels == .01; }},
    {"-bits 32", [](L l) { return noiseModel(l).bits == 32; }},
    {"-bits 16", [](L l) { return noiseModel(l).bits == 16; }, true},
    {"-overload 5000", [](L l) { return noiseModel(l).largestCount() == 5000; }},
    {"--noise-shot=7", [](L l) { return noiseModel(l).shot == 7; }},
    {"--noise=serial", [](L l) { return noiseModel(l).generator == NoiseGenerator::Serial; }},
    {"--noise=philox -compat c",
     [](L l) { return noiseModel(l).generator == NoiseGenerator::Philox; }, true},
    {"-compat c", [](L l) { return noiseModel(l).generator == NoiseGenerator::Serial; }},
    {"--detector-order=simtbx", [](L l) { return noiseModel(l).order == DetectorOrder::Simtbx; }},
    {"--detector-order=noisify", [](L l) { return noiseModel(l).order == DetectorOrder::Noisify; }},
    {"-compat noisify",
     [](L l) {
       const NoiseModel m = noiseModel(l);
       return m.order == DetectorOrder::Noisify && m.generator == NoiseGenerator::Serial &&
              m.calibration == .03 && !l.semantics.isC();
     }},
    {"-compat c -compat noisify", [](L l) { return l.semantics.isC() && l.semantics.noisify; }},
    {"-compat noisify -compat right", [](L l) { return l.semantics == Semantics::right(); }, true},
};

const std::vector<Case> outputs = {
    {"-floatfile f", [](L l) { return l.outputs.floatFile == "f"; }},
    {"-floatimage f", [](L l) { return l.outputs.floatFile == "f"; }},
    {"-intfile f", [](L l) { return l.outputs.intFile == "f"; }},
    {"-intimage f", [](L l) { return l.outputs.intFile == "f"; }},
    {"-pgmfile f", [](L l) { return l.outputs.pgmFile == "f"; }},
    {"-pgmimage f", [](L l) { return l.outputs.pgmFile == "f"; }},
    {"-noisefile f", [](L l) { return l.outputs.noiseFile == "f"; }},
    {"-noiseimage f", [](L l) { return l.outputs.noiseFile == "f"; }},
    {"--cbf=a.cbf", [](L l) { return l.outputs.cbfFile == "a.cbf"; }},
    {"--nexus=a.nxs", [](L l) { return l.outputs.nexusFile == "a.nxs"; }},
    {"--nexus-bitshuffle", [](L l) { return l.outputs.nexusBitshuffle; }},
    {"--write-expt=a.expt", [](L l) { return l.outputs.exptFile == "a.expt"; }},
    {"--png-rings", [](L l) { return l.outputs.pngRings; }},
    {"--write-shots=a.txt", [](L l) { return l.outputs.shotsFile == "a.txt"; }},
    {"--write-refl=a.refl", [](L l) { return l.outputs.reflFile == "a.refl"; }},
    {"--reflections=a.csv", [](L l) { return l.outputs.reflectionsFile == "a.csv"; }},
    {"--lattices=l.txt", [](L l) { return l.series.lattices == "l.txt"; }},
    {"--write-map=a.npy", [](L l) { return l.outputs.mapFile == "a.npy"; }},
    {"--write-mtz=a.mtz", [](L l) { return l.outputs.mtzFile == "a.mtz"; }},
    {"--write-stream=a.stream", [](L l) { return l.outputs.streamFile == "a.stream"; }},
    {"--frames=7", [](L l) { return l.series.frames == 7; }},
    {"--frames=scan", [](L l) { return l.series.frames == 0; }},
    {"--osc-per-frame=0.2", [](L l) { return l.series.oscPerFrame == 0.2; }},
    {"--shots=s.txt", [](L l) { return l.series.shots == "s.txt"; }},
    {"--resume", [](L l) { return l.series.resume; }},
    {"--deal=5 --shard=0/1", [](L l) { return l.series.deal == 5; }},
    {"--shard=2/3", [](L l) { return l.series.shard->index == 2 && l.series.shard->count == 3; }},
    {"-nonoise", [](L l) { return !l.outputs.noise && l.outputs.pgm; }},
    {"-nopgm", [](L l) { return !l.outputs.pgm && l.outputs.noise; }},
    {"-scale 3", [](L l) { return l.outputs.intScale == 3 && l.outputs.pgmScale == 0; }},
    {"-pgmscale .5", [](L l) { return l.outputs.pgmScale == .5 && l.outputs.intScale == 0; }},
    {"-adc 12.5", [](L l) { return l.options.adcOffset == 12.5; }},
    {"-adcoffset 12", [](L l) { return l.options.adcOffset == 12; }},
    {"-seed 17", [](L l) { return l.options.seed == 17; }},
    {"--noise-seed=17", [](L l) { return l.options.seed == 17; }},
    {"-printout", [](L l) { return l.tool.printout && !l.tool.printoutPixel && !l.tool.progress; }},
    {"-printout_pixel 3 4",
     [](L l) {
       return l.tool.printout && l.tool.printoutPixel == std::array<std::int64_t, 2>{3, 4};
     }},
    {"-noprogress", [](L l) { return !l.tool.progress; }},
    {"-noprogress -progress", [](L l) { return l.tool.progress; }, true},
};

const std::vector<Case> tool = {
    {"--help", [](L l) { return l.tool.help; }},
    {"-help", [](L l) { return l.tool.help; }},
    {"-h", [](L l) { return l.tool.help; }},
    {"--version", [](L l) { return l.tool.version && !l.tool.help; }},
    {"-version", [](L l) { return l.tool.version; }},
    {"--list-flags", [](L l) { return l.tool.listFlags; }},
    {"--doctor", [](L l) { return l.tool.doctor; }},
    {"--check", [](L l) { return l.tool.check; }},
    {"--list-parameters", [](L l) { return l.tool.listParameters; }},
    {"--compat=c", [](L l) { return l.semantics == Semantics::c(); }},
    {"-compat c", [](L l) { return l.semantics == Semantics::c(); }},
    {"-compat c -compat right", [](L l) { return l.semantics == Semantics::right(); }, true},
    {"--threads=3", [](L l) { return l.tool.simulator.threads == 3; }},
    {"--threads 3", [](L l) { return l.tool.simulator.threads == 3; }},
    {"--precision=f64", [](L l) { return l.tool.simulator.precision == Precision::F64; }, true},
    {"--cull=exact", [](L l) { return l.tool.simulator.cull == CullSetting::exact(); }},
    {"--cull=1e-9", [](L l) { return l.tool.simulator.cull == CullSetting::below(1e-9); }},
    {"--device=auto", [](L l) { return l.tool.simulator.device == "auto"; }, true},
    {"--device=cpu", [](L l) { return l.tool.simulator.device == "cpu"; }},
    {"--device=gpu-on-cpu", [](L l) { return l.tool.simulator.device == "gpu-on-cpu"; }},
    {"--device=opencl:1", [](L l) { return l.tool.simulator.device == "opencl:1"; }},
    {"--device=opencl", [](L l) { return l.tool.simulator.device == "opencl"; }},
    {"--device=cuda:1", [](L l) { return l.tool.simulator.device == "cuda:1"; }},
    {"--device=cuda", [](L l) { return l.tool.simulator.device == "cuda"; }},
    {"--png=a.png", [](L l) { return l.outputs.pngFile == "a.png"; }},
    {"--png a=b.png", [](L l) { return l.outputs.pngFile == "a=b.png"; }},
    {"--panels=p.json", [](L l) { return l.files.panels == "p.json"; }},
    {"--pixels=p.txt", [](L l) { return l.files.pixels == "p.txt"; }},
    {"--quiet", [](L l) { return l.tool.quiet; }},
    {"--timing=t.json", [](L l) { return l.tool.timingFile == "t.json"; }},
    {"--trace-events=t.json", [](L l) { return l.tool.traceFile == "t.json"; }},
    {"--profile", [](L l) { return l.tool.profile; }},
    {"--emit=nb", [](L l) { return l.tool.emit == Emit::Nb; }},
    {"--emit=mlir", [](L l) { return l.tool.emit == Emit::Mlir; }},
    {"--emit=llvm", [](L l) { return l.tool.emit == Emit::Llvm; }},
    {"--emit asm", [](L l) { return l.tool.emit == Emit::Asm; }},
    {"--print-pipeline", [](L l) { return l.tool.emit == Emit::Pipeline; }},
    {"--specialize=off", [](L l) { return !l.tool.simulator.specialize; }},
    {"--specialize=auto", [](L l) { return l.tool.simulator.specialize; }, true},
    {"--until-before=loops", [](L l) { return l.tool.until.toString() == "until-before=loops"; }},
    {"--until-after=fuse", [](L l) { return l.tool.until.toString() == "until-after=fuse"; }},
    {"--pipeline=builtin.module()",
     [](L l) { return l.tool.simulator.passes.pipeline == "builtin.module()"; }},
    {"--schedule=s.txt", [](L l) { return l.tool.simulator.passes.schedule == "s.txt"; }},
    {"--plugin=a.so,b.so", [](L l) { return l.tool.simulator.passes.plugins == "a.so,b.so"; }},
    {"--patterns=p.pdll", [](L l) { return l.tool.simulator.passes.patterns == "p.pdll"; }},
    {"--emit=stats", [](L l) { return l.tool.emit == Emit::Stats; }},
    {"--dump-ir=d", [](L l) { return l.tool.simulator.dumpIR == "d"; }},
    {"--no-fuse",
     [](L l) {
       return l.tool.simulator.engine == Engine::Interpreter && !l.tool.simulator.fallback;
     }},
    {"--probe=F_*", [](L l) { return l.tool.instruments.probe == "F_*"; }},
    {"--json", [](L l) { return l.tool.instruments.json; }},
    {"--trace-pixel=3,4", [](L l) { return l.tool.tracePixel == PixelIndex{0, 3, 4}; }},
    {"--trace-pixel 1,3,4", [](L l) { return l.tool.tracePixel == PixelIndex{1, 3, 4}; }},
    {"--check-finite", [](L l) { return l.tool.instruments.checkFinite; }},
    {"--compare-engines",
     [](L l) { return l.tool.compareEngines && !l.tool.comparison.everyStage; }},
    {"--compare-stages", [](L l) { return l.tool.compareEngines && l.tool.comparison.everyStage; }},
    {"--compare-tolerance 1e-6 0",
     [](L l) { return l.tool.comparison.relative == 1e-6 && l.tool.comparison.ofMaximum == 0; }},
    {"--grad=cell,osc", [](L l) { return l.tool.gradient == "cell,osc" && !l.tool.jacobian; }},
    {"--loss=sum", [](L l) { return !l.tool.loss.data && !l.tool.loss.mask; }, true},
    {"--loss=poisson:a.npy,background=b.npy,mask=m.img",
     [](L l) {
       const LossOptions &o = l.tool.loss;
       return o.kind == LossOptions::Kind::Poisson && o.data == "a.npy" &&
              o.background == "b.npy" && o.mask == "m.img";
     }},
    {"--loss=gauss:a.npy,readout=3,background=0.5",
     [](L l) {
       const LossOptions &o = l.tool.loss;
       return o.kind == LossOptions::Kind::Gauss && o.readOut == 3 && o.background == "0.5";
     }},
    {"--loss=chi2:a.npy,mask=m.img,sigma=2",
     [](L l) {
       return l.tool.loss.data == "a.npy" && l.tool.loss.sigma == "2" &&
              l.tool.loss.mask == "m.img";
     }},
    {"--jacobian=cell", [](L l) { return l.tool.jacobian == "cell" && !l.tool.gradient; }},
    {"--out=d", [](L l) { return l.tool.outDirectory == "d"; }},
    {"--kernel=k.so", [](L l) { return l.tool.simulator.kernelFile == "k.so"; }},
    {"--fallback", [](L l) { return l.tool.simulator.fallback && !l.tool.simulator.engine; }},
    {"--fallback --no-fallback", [](L l) { return !l.tool.simulator.fallback; }, true},
};

const std::vector<const std::vector<Case> *> everything = {
    &inputs, &crystal, &beam, &detector, &response, &geometry, &outputs, &tool};

TEST(EveryFlag, HasItsEffect) {
  for (const std::vector<Case> *cases : everything)
    for (const Case &c : *cases)
      EXPECT_TRUE(c.holds(parsed(c.words))) << c.words;
}

TEST(EveryFlag, ChangesWhatHoldsWithoutIt) {
  const CommandLine nothing = parsed("");
  for (const std::vector<Case> *cases : everything)
    for (const Case &c : *cases)
      EXPECT_EQ(c.holds(nothing), c.isDefault) << c.words;
}

TEST(EveryFlag, OfAParameterIsOne) {
  for (const Parameter &parameter : allParameters())
    if (const std::string_view flag = flagOf(parameter.name); !flag.empty())
      EXPECT_TRUE(findFlag(flag)) << parameter.name << " " << flag;
  EXPECT_EQ(flagOf("cell_b"), "-cell");
  EXPECT_EQ(flagOf("ncells_a"), "-N");
  EXPECT_EQ(flagOf("wavelength"), "-lambda");
  EXPECT_EQ(flagOf("F"), "-hkl");
  EXPECT_EQ(flagOf("unit_hdiv"), "");
  EXPECT_EQ(flagOf("no such"), "");
}

TEST(EveryFlag, OfMlirBelongsToTools) {
  try {
    parsed("--mlir-timing");
    FAIL() << "no error";
  } catch (const UsageError &error) {
    EXPECT_NE(std::string(error.what()).find("nb-sim, nb-compile"), std::string::npos)
        << error.what();
  }
}

TEST(EveryFlag, SpellingIsTested) {
  std::set<std::string> tested;
  for (const std::vector<Case> *cases : everything)
    for (const Case &c : *cases)
      for (const std::string &word : split(c.words))
        tested.insert(word.substr(0, word.find('=')));
  for (const FlagGroup &group : flagGroups())
    for (const Flag &flag : group.flags)
      for (std::string_view spelling : flag.spellings) {
        if (spelling == "--mlir-*") // below
          continue;
        const bool found = std::any_of(tested.begin(), tested.end(), [&](const std::string &word) {
          return spelling.ends_with('*') ? word.starts_with(spelling.substr(0, spelling.size() - 1))
                                         : word == spelling;
        });
        EXPECT_TRUE(found) << spelling;
      }
}

} // namespace
