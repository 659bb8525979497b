// The choices of an experiment that decide which program it needs.
//
// The choices that decide the *text* of the program, as opposed to the numbers it runs with. Two
// experiments with equal ProgramVariant share one compiled kernel.
#ifndef NANOBRAGG_EXPERIMENT_PROGRAMVARIANT_H
#define NANOBRAGG_EXPERIMENT_PROGRAMVARIANT_H

#include "lib/Experiment/CrystalShape.h"

#include <string>
#include <string_view>

namespace nanobragg {

/// Constant: no reflection list, default_F everywhere. By the energy of the source: Channels, a
/// list for each channel, of which a source has the nearest, or with BetweenChannels both around
/// it; Anomalous, complex factors and those of anomalous scatterers. All of the nearest reflection.
enum class StructureFactors { Constant, Nearest, Tricubic, Channels, BetweenChannels, Anomalous };
/// Where the reciprocal basis comes from. CellAndMatrix: directions from the matrix, lengths and
/// volume from the cell.
enum class CellSource { Cell, Matrix, CellAndMatrix };
/// C: as the C program computes it, where docs/semantics.md says that something else is right.
enum class Rule { Right, C };
/// Generated: divergence and dispersion grids on the unit scale. Listed: a source file.
enum class Sources { Generated, Listed };
/// How generated sources are distributed. Uniform: a grid over a full range. Normal: quantiles,
/// scaled by a standard deviation.
enum class Divergence { Uniform, Normal };
/// How the light of a source is spread over the wavelength: normally about its own, or by a density
/// (beam.spectrumDensity), of which there are tables of reflections and images of their spots.
enum class Bandwidth { None, Normal, Spectrum };
enum class Pivot { Beam, Sample };
/// Which distance is the input; the other follows.
enum class DistanceInput { Distance, CloseDistance };
enum class Curvature { Flat, Right, C };
enum class SolidAngle { Pixel, Point };
/// Once per pixel (first layer, sub-pixel and source) or for each sample.
enum class Evaluation { None, Once, Each };
/// None: no absorption. Sum: each layer weighted by its own capture fraction, taken at the first
/// sub-pixel. Last: the C program's last-layer fraction for all. Each: every sub-pixel.
enum class Capture { None, Sum, Last, Each };
enum class Water { None, Right, C };
/// Ball: rotations about random axes by up to one angle; the axes are the laboratory's, which is
/// the C program's choice. Where averages are not sampled: normally distributed, alike about all
/// axes. Ellipsoid: normally distributed, about three axes of the crystal by three spreads.
/// CrystalBall: as a sampled Ball, about axes of the crystal. None: one block; not where averages
/// are sampled.
enum class Mosaicity { Ball, Ellipsoid, CrystalBall, None };
/// The way to average over pixels, rotation steps, mosaic blocks and spectra. Sampled:
/// the samples that flags ask for, as the C program draws them. Closed: normal distributions,
/// averaged in closed form. Drawn: the same distributions, by many draws, which closed forms are
/// held against. Quadrature: by as many draws as each pixel asks for, which the runtime decides.
/// Reflections: no image but a table of reflections, each averaged over all pixels. Spots: the
/// image of such a table.
enum class Averaging { Sampled, Closed, Drawn, Quadrature, Reflections, Spots };
/// How light spreads in the detector; None: not at all.
enum class PointSpread { None, Gauss, Fiber };
enum class ImageType { F32, F64 };

/// The kernel has code for each kind of anomalous scatterer.
inline constexpr int mostAnomalousKinds = 16;

struct ProgramVariant {
  CrystalShape shape = CrystalShape::Square;
  StructureFactors structureFactors = StructureFactors::Constant;
  int anomalousKinds = 0; ///< kinds of scatterers; above 0 with StructureFactors::Anomalous only
  CellSource cellSource = CellSource::Cell;
  Rule cellSetting = Rule::Right; ///< C: the triclinic -cell setting
  Rule spotMetric = Rule::Right;  ///< gauss and tophat radius; ignored for other shapes
  Sources sources = Sources::Generated;
  Divergence divergence = Divergence::Uniform;
  Pivot pivot = Pivot::Beam;
  DistanceInput distance = DistanceInput::Distance;
  Curvature curvature = Curvature::Flat;
  Rule faces = Rule::Right; ///< C: light on the back of the detector counts as negative
  SolidAngle solidAngle = SolidAngle::Pixel;
  Evaluation omega = Evaluation::Once;        ///< Once or Each
  Evaluation polarization = Evaluation::Once; ///< None: -nopolar
  Capture capture = Capture::None;
  bool absorptionByEnergy = false; ///< the sensor's coefficient is that of each wavelength
  Water water = Water::None;
  Mosaicity mosaicity = Mosaicity::Ball;
  Averaging averaging = Averaging::Sampled;
  Bandwidth bandwidth = Bandwidth::None; ///< not where averages are sampled
  bool sweep = false;      ///< the crystal turns meanwhile; not where averages are sampled
  bool diffuse = false;    ///< diffuse scattering around the reflections
  bool background = false; ///< tables of amorphous scattering
  bool dmin = false;       ///< a resolution cutoff is applied
  bool bySource = false;   ///< with Averaging::Reflections: of one source and layer each
  bool panels = false;     ///< several panels, each with its own offset and axes
  bool pixelList = false;  ///< the image is a list of pixels, see PixelList.h
  bool mask = false;
  /// The image of photons is given, as the parameter `light`; the program is the stages after it.
  bool lightGiven = false;
  // Stages after the image, in this order.
  PointSpread pointSpread = PointSpread::None;
  bool countingLoss = false; ///< pixels that are dead for a while after each photon
  bool gainMap = false;      ///< each pixel times its own gain
  bool gain = false;         ///< all pixels times one gain
  ImageType imageType = ImageType::F32;

  /// Does anything follow the image of photons?
  bool hasResponse() const {
    return countingLoss || gainMap || gain || pointSpread != PointSpread::None;
  }
  void leaveOutResponse() {
    pointSpread = PointSpread::None;
    countingLoss = gainMap = gain = false;
  }

  bool isSampled() const { return averaging == Averaging::Sampled; }
  bool isDrawn() const {
    return averaging == Averaging::Drawn || averaging == Averaging::Quadrature;
  }

  bool operator==(const ProgramVariant &) const = default;

  /// Canonical one-line text, `key=value` separated by single blanks, every key always present.
  std::string toString() const;
  /// Inverse of toString; throws std::invalid_argument naming the offending key or value.
  static ProgramVariant fromString(std::string_view text);
};

} // namespace nanobragg
#endif
