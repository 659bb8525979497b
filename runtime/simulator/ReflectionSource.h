// The table of an experiment's reflections, by a program without pixels.
#ifndef NANOBRAGG_SIMULATOR_REFLECTIONSOURCE_H
#define NANOBRAGG_SIMULATOR_REFLECTIONSOURCE_H

#include "lib/Program/Derivative.h"
#include "lib/Spots/ExpectedReflections.h"
#include "nanobragg/Reflections.h"
#include "nanobragg/Simulator.h"
#include "runtime/simulator/BoundProgram.h"
#include "runtime/simulator/Placement.h"
#include "runtime/simulator/RenderedPixels.h"

#include <map>
#include <string>

namespace nanobragg {

class ReflectionSource {
public:
  /// Whether a row of the table is a reflection, or one for each source and layer of the sensor.
  enum class Rows { Reflections, Spots };
  /// For images of this experiment. Throws std::invalid_argument where its averages have no closed
  /// form.
  ReflectionSource(const Experiment &image, const SimulatorOptions &options,
                   Rows rows = Rows::Reflections);

  /// The table of an experiment with other numbers.
  ReflectionTable table(const Experiment &image, const ReflectionLimits &limits,
                        const RunOptions &run);
  /// Whether the table would have about more rows than so many.
  static bool hasMoreRows(const Experiment &image, const ReflectionLimits &limits, double most);
  /// The last table, `of`, with so many parts of each row's light, in the rotation step or the
  /// spectrum, in its place.
  ReflectionTable split(const ReflectionTable &of, std::span<const int> parts,
                        const ReflectionLimits &limits, const RunOptions &run);
  /// The number that all parts of one row have, of each row of the last table.
  std::span<const std::size_t> wholes() const { return whole; }
  /// Derivatives of the columns of the last table along each direction.
  std::vector<ReflectionNumbers> jvps(const Derivative &derivative,
                                      std::span<const std::vector<Direction>> directions,
                                      const RunOptions &run);
  /// The gradient of the sum of products of cotangents and columns of the last table.
  std::vector<Gradient> gradient(const Derivative &derivative, const ReflectionNumbers &cotangents,
                                 const RunOptions &run);

  /// Whether no kernel could be made of the last table's program.
  bool isInterpreted() const { return placement.engine() == Engine::Interpreter; }
  /// The choices of the program.
  const ProgramVariant &variant() const { return experiment.variant; }

private:
  BoundProgram &program(const Derivative &derivative);
  std::vector<std::optional<ExpectedReflection>> expected(const ReflectionLimits &limits) const;
  void list(std::span<const std::optional<ExpectedReflection>> expected);
  void listRowsAlone();
  ExpectedReflection listedAt(std::size_t place) const;
  ReflectionTable tabulate(const ReflectionLimits &limits, const RunOptions &run);
  /// Rows beside their panel or the image's pixels, or of less partiality.
  void leaveOut(const ReflectionLimits &limits, const BoundProgram &program);
  bool hasRows() const;
  /// The rows of the last table out of an output, `none` where nothing is expected.
  std::vector<double> rowsOf(std::span<const double> output, double none) const;

  Experiment experiment;
  SimulatorOptions options;
  Placement placement;
  std::map<std::string, BoundProgram> programs; ///< bound to the list as it is
  /// Where the rows of the last table are in the list, or ListedPixels::none.
  std::vector<std::size_t> places;
  std::vector<std::size_t> whole; ///< see wholes()
  /// The rows of the last table, if the list is that of its divided ones only.
  std::vector<std::optional<ExpectedReflection>> unlisted;
  Rows rows;
  bool hasSomePixels = false;
  std::optional<RenderedPixels> rendered; ///< these, from the first table on; none: all
};

} // namespace nanobragg
#endif
