// Every reflection whose average reaches a pixel is listed for its block, and not many more.
#include "runtime/processor/LitTile.h"

#include <gmock/gmock.h>

#include <ctime>
#include <iostream>
#include <map>
#include <random>
#include <set>

using namespace nanobragg;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

constexpr double degree = 3.14159265358979323846 / 180;

using Square = std::array<Vector, 3>; // rows

Vector times(const Square &m, Vector v) { return {dot(m[0], v), dot(m[1], v), dot(m[2], v)}; }
Vector unit(Vector v) { return (1 / norm(v)) * v; }
double at(Vector v, std::size_t i) { return i == 0 ? v.x : i == 1 ? v.y : v.z; }
Vector turned(Vector v, Vector about) {
  const double angle = norm(about);
  if (angle == 0)
    return v;
  const Vector axis = unit(about);
  return std::cos(angle) * v + std::sin(angle) * cross(axis, v) +
         ((1 - std::cos(angle)) * dot(axis, v)) * axis;
}
Square inverse(const Square &m) {
  const double f = 1 / dot(m[0], cross(m[1], m[2]));
  const Vector x = f * cross(m[1], m[2]), y = f * cross(m[2], m[0]), z = f * cross(m[0], m[1]);
  return {Vector{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}};
}

/// One source and one orientation.
struct Beam {
  Square direct;
  Vector k;
  double wavelength;
};
/// The effects of a variable: it turns the crystal, makes the wave longer, tilts the beam.
struct Variable {
  Vector turn;
  double length = 0; // relative
  Vector tilt;
};
struct Panel {
  Vector origin, fast, slow, normal;
};

/// An experiment, and its workspace as a kernel would have prepared it.
struct World {
  std::vector<Beam> beams;
  std::vector<Variable> variables; // normal ones first
  std::size_t normals = 0;
  std::vector<Panel> panels;
  std::vector<double> depths{0};
  double pixelSize = 1e-4;
  std::vector<Vector> table; // directions, `perPixel` for each pixel
  std::int64_t perPixel = 0;
  bool curved = false;
  std::int64_t slow = 16, fast = 16;
  Range roiSlow{0, 1000}, roiFast{0, 1000};
  std::array<double, 6> form{};
  double bound = 30;
  bool dark = true;
  std::array<std::int64_t, 3> most{20, 20, 20};
  std::int64_t columnsOfBlock = 4, rowsOfBlock = 2;

  std::int64_t panelCount() const { return std::max<std::int64_t>(std::ssize(panels), 1); }
  /// A point of the detector, in pixels.
  Vector point(std::size_t panel, double f, double s, double depth) const {
    const Panel &p = panels[panel];
    const double x = f * pixelSize, y = s * pixelSize;
    if (!curved)
      return p.origin + x * p.fast + y * p.slow + depth * p.normal;
    // The members of a curved one are a beam, two axes and a distance.
    const double perMeter = 1 / norm(p.normal);
    return turned(turned(p.origin, (x * perMeter - 0.1) * p.slow), (y * perMeter - 0.05) * p.fast);
  }

  void prepare(std::vector<double> &workspace, nb_reach_tables &tables) const {
    const auto begin = [&](std::int64_t nb_reach_tables::*table) {
      tables.*table = std::int64_t(workspace.size());
    };
    const auto add = [&](Vector v) {
      for (double x : {v.x, v.y, v.z})
        workspace.push_back(x);
    };
    using T = nb_reach_tables;
    tables = {};
    workspace.clear();
    begin(&T::direct);
    for (const Beam &b : beams)
      for (Vector row : b.direct)
        add(row);
    begin(&T::incident);
    for (const Beam &b : beams)
      add(b.k);
    begin(&T::wavelength);
    for (const Beam &b : beams)
      workspace.push_back(b.wavelength);
    begin(&T::varied_direct);
    for (const Beam &b : beams)
      for (const Variable &v : variables)
        for (Vector row : b.direct)
          add(cross(v.turn, row));
    begin(&T::varied_incident);
    for (std::size_t b = 0; b != beams.size(); ++b)
      for (const Variable &v : variables)
        add(v.tilt);
    begin(&T::varied_wavelength);
    for (const Beam &b : beams)
      for (const Variable &v : variables)
        workspace.push_back(v.length * b.wavelength);
    for (auto [to, from] : {std::pair(&T::origin, &Panel::origin),
                            {&T::fast_axis, &Panel::fast},
                            {&T::slow_axis, &Panel::slow},
                            {&T::normal, &Panel::normal}}) {
      begin(to);
      for (const Panel &p : panels)
        add(p.*from);
    }
    if (curved)
      prepareCurved(workspace, tables);
    begin(&T::depth);
    workspace.insert(workspace.end(), depths.begin(), depths.end());
    begin(&T::direction);
    for (Vector v : table)
      add(v);
    begin(&T::numbers);
    const nb_reach_numbers n = numbers();
    const auto *first = reinterpret_cast<const double *>(&n);
    workspace.insert(workspace.end(), first, first + sizeof n / sizeof(double));
  }

  void prepareCurved(std::vector<double> &workspace, nb_reach_tables &tables) const {
    const auto add = [&](std::int64_t nb_reach_tables::*table, auto &&numbers) {
      tables.*table = std::int64_t(workspace.size());
      for (const Panel &p : panels)
        for (double x : numbers(p))
          workspace.push_back(x);
    };
    using T = nb_reach_tables;
    const auto three = [](Vector v) { return std::array{v.x, v.y, v.z}; };
    add(&T::origin, [](const Panel &) { return std::array{-0.1, -0.05, 0.0}; });
    add(&T::fast_axis,
        [](const Panel &p) { return std::array{1 / norm(p.normal) - 0.1, -0.05, 0.0}; });
    add(&T::slow_axis,
        [](const Panel &p) { return std::array{-0.1, 1 / norm(p.normal) - 0.05, 0.0}; });
    add(&T::normal, [](const Panel &) { return std::array{-0.1, -0.05, 0.0}; });
    add(&T::curved_beam, [&](const Panel &p) { return three(p.origin); });
    add(&T::curved_fast, [&](const Panel &p) { return three(p.fast); });
    add(&T::curved_slow, [&](const Panel &p) { return three(p.slow); });
    add(&T::radius, [](const Panel &p) { return std::array{norm(p.normal)}; });
  }

  nb_reach_numbers numbers() const {
    nb_reach_numbers n{};
    n.panels = double(panelCount());
    n.slow_pixels = double(slow), n.fast_pixels = double(fast);
    n.fast_min = double(roiFast.first), n.fast_max = double(roiFast.last);
    n.slow_min = double(roiSlow.first), n.slow_max = double(roiSlow.last);
    n.beams = double(beams.size());
    n.bases = 1;
    for (std::int64_t m : most)
      n.bases *= double(2 * m + 1);
    n.depths = double(depths.size());
    n.oversample = 1;
    n.pixel_size = pixelSize;
    std::copy(form.begin(), form.end(), n.form);
    n.dark = dark;
    n.directions = double(perPixel);
    n.curved = curved;
    n.block_fast = double(columnsOfBlock), n.block_slow = double(rowsOfBlock);
    n.averaged = 1;
    n.bound = bound;
    n.normals = double(normals), n.boxes = double(variables.size() - normals);
    n.h_most = double(most[0]), n.k_most = double(most[1]), n.l_most = double(most[2]);
    return n;
  }

  std::int64_t numberOf(const std::array<std::int64_t, 3> &n) const {
    return ((n[0] + most[0]) * (2 * most[1] + 1) + n[1] + most[1]) * (2 * most[2] + 1) + n[2] +
           most[2];
  }
  double formOf(Vector x) const {
    return form[0] * x.x * x.x + form[1] * x.y * x.y + form[2] * x.z * x.z + form[3] * x.x * x.y +
           form[4] * x.x * x.z + form[5] * x.y * x.z;
  }
  Square ownCovariance() const {
    return inverse({Vector{2 * form[0], form[3], form[4]},
                    {form[3], 2 * form[1], form[5]},
                    {form[4], form[5], 2 * form[2]}});
  }
};

/// Calls `visit` with each reflection that may reach the direction, and its exponent.
template <typename Visit>
void forEachReflection(const World &w, const Beam &b, Vector d, Visit visit) {
  const Vector q = (1 / b.wavelength) * (d - b.k);
  const Vector h = times(b.direct, q);
  Square covariance = w.ownCovariance();
  std::vector<Vector> boxes;
  for (std::size_t j = 0; j != w.variables.size(); ++j) {
    const Variable &v = w.variables[j];
    // A row turned by t times q, and the row times the derivative of q.
    Square turnedRows;
    for (std::size_t i = 0; i != 3; ++i)
      turnedRows[i] = cross(v.turn, b.direct[i]);
    const Vector change = (-1 / b.wavelength) * v.tilt - v.length * q;
    const Vector J = times(turnedRows, q) + times(b.direct, change);
    if (j < w.normals)
      for (std::size_t i = 0; i != 3; ++i)
        covariance[i] = covariance[i] + at(J, i) * J;
    else
      boxes.push_back(J);
  }
  const Square precision = inverse(covariance);
  std::array<Range, 3> ranges;
  for (std::size_t i = 0; i != 3; ++i) {
    double half = std::sqrt(2 * w.bound * at(covariance[i], i));
    for (Vector J : boxes)
      half += std::fabs(at(J, i)) / 2;
    ranges[i] = {std::max(std::int64_t(std::ceil(at(h, i) - half)), -w.most[i]),
                 std::min(std::int64_t(std::floor(at(h, i) + half)), w.most[i])};
  }
  for (std::int64_t n0 = ranges[0].first; n0 <= ranges[0].last; ++n0)
    for (std::int64_t n1 = ranges[1].first; n1 <= ranges[1].last; ++n1)
      for (std::int64_t n2 = ranges[2].first; n2 <= ranges[2].last; ++n2) {
        Vector x = h - Vector{double(n0), double(n1), double(n2)};
        // Along one uniform variable after the other.
        std::vector<double> u(boxes.size());
        for (int round = 0; round != (boxes.size() > 1 ? 30 : 1); ++round)
          for (std::size_t j = 0; j != boxes.size(); ++j) {
            const Vector J = boxes[j], p = times(precision, J);
            const double best = std::clamp(u[j] - dot(p, x) / dot(p, J), -0.5, 0.5);
            x = x + (best - u[j]) * J;
            u[j] = best;
          }
        visit(std::array{n0, n1, n2}, dot(x, times(precision, x)) / 2);
      }
}

/// The index where the normal variables have these values.
Vector indexAt(const World &w, const Beam &b, Vector d, const std::vector<double> &t) {
  Vector turn, k = b.k;
  double length = 1;
  for (std::size_t j = 0; j != w.normals; ++j) {
    turn = turn + t[j] * w.variables[j].turn;
    k = k + t[j] * w.variables[j].tilt;
    length += t[j] * w.variables[j].length;
  }
  const Vector q = (1 / (b.wavelength * length)) * (d - unit(k));
  return times({turned(b.direct[0], turn), turned(b.direct[1], turn), turned(b.direct[2], turn)},
               q);
}

/// The exponent at the best values of the normal variables, not of a linear index.
double bentExponent(const World &w, const Beam &b, Vector d, Vector n) {
  std::vector<double> t(w.normals);
  for (int round = 0; round != 6; ++round) {
    const Vector h = indexAt(w, b, d, t);
    std::vector<Vector> slopes;
    Square covariance = w.ownCovariance();
    Vector x = h - n;
    for (std::size_t j = 0; j != t.size(); ++j) {
      constexpr double step = 1e-4;
      std::vector<double> other = t;
      other[j] += step;
      const Vector J = (1 / step) * (indexAt(w, b, d, other) - h);
      for (std::size_t i = 0; i != 3; ++i)
        covariance[i] = covariance[i] + at(J, i) * J;
      x = x - t[j] * J;
      slopes.push_back(J);
    }
    const Vector p = times(inverse(covariance), x);
    for (std::size_t j = 0; j != t.size(); ++j)
      t[j] = -dot(slopes[j], p);
  }
  double exponent = w.formOf(indexAt(w, b, d, t) - n);
  for (double value : t)
    exponent += value * value / 2;
  return exponent;
}

using Pair = std::pair<std::int32_t, std::int64_t>; // beam and reflection
using Key = std::array<std::int64_t, 3>;            // panel, slow and fast of a pixel

class Found {
public:
  Found(const World &world, std::int64_t rowsOfTile, bool keep = true) : world(world) {
    world.prepare(workspace, tables);
    nb_kernel_descriptor kernel{};
    kernel.reach_numbers_size = sizeof(nb_reach_numbers);
    kernel.reach_tables_size = sizeof(nb_reach_tables);
    kernel.reach = [](const void *const *arguments, nb_reach_tables *to) {
      *to = *static_cast<const nb_reach_tables *>(arguments[0]);
    };
    const void *arguments[] = {&tables};
    ThreadTeam team(1);
    const std::clock_t begin = std::clock();
    const Reach reach(kernel, arguments, workspace.data(), team);
    LitTile tile(reach);
    for (std::int64_t panel = 0; panel != world.panelCount(); ++panel)
      for (std::int64_t row = 0; row < world.slow; row += rowsOfTile) {
        const nb_tile rows{panel, row, std::min(row + rowsOfTile, world.slow), nullptr};
        tile.forEachList(rows, [&](const nb_lit &lit) {
          pairs += lit.inner_begin[lit.outer_begin[lit.blocks]];
          if (keep)
            add(panel, rows, lit);
        });
      }
    seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
    EXPECT_EQ(tile.samplesEvaluated, double(pairs));
    EXPECT_EQ(tile.samplesLit, double(pairs * world.columnsOfBlock * world.rowsOfBlock));
  }

  /// The pairs of a pixel; null: its block is not listed.
  const std::vector<Pair> *of(const Key &pixel) const {
    const auto found = lists.find(pixel);
    return found == lists.end() ? nullptr : &found->second;
  }
  std::int64_t pairs = 0;
  double seconds = 0;
  std::map<Key, std::vector<Pair>> lists;

private:
  void add(std::int64_t panel, const nb_tile &rows, const nb_lit &lit) {
    for (std::int64_t block = 0; block != lit.blocks; ++block) {
      std::vector<Pair> list;
      for (auto i = lit.outer_begin[block]; i != lit.outer_begin[block + 1]; ++i)
        for (auto j = lit.inner_begin[i]; j != lit.inner_begin[i + 1]; ++j)
          list.emplace_back(lit.outer[i], lit.reflection[j]);
      EXPECT_EQ(std::ranges::adjacent_find(list, std::greater_equal<Pair>()), list.end());
      EXPECT_FALSE(world.dark && list.empty());
      EXPECT_GE(lit.slow[block], rows.slow_begin);
      for (std::int64_t s = 0; s != world.rowsOfBlock; ++s)
        for (std::int64_t f = 0; f != world.columnsOfBlock; ++f)
          if (lit.slow[block] + s < *lit.slow_end)
            EXPECT_TRUE(
                lists.emplace(Key{panel, lit.slow[block] + s, lit.fast[block] + f}, list).second);
    }
  }

  World world;
  std::vector<double> workspace;
  nb_reach_tables tables{};
};

/// Directions of a grid of points of a pixel, as fine as spots, as far as that can be.
std::vector<Vector> directionsOf(const World &w, std::size_t panel, std::int64_t s,
                                 std::int64_t f) {
  if (w.panels.empty()) {
    const auto first = w.table.begin() + (s * w.fast + f) * w.perPixel;
    return {first, first + w.perPixel};
  }
  const double narrow = std::sqrt(w.bound / std::max({w.form[0], w.form[1], w.form[2]}));
  const double angle = norm(unit(w.point(0, 1, 0, 0)) - unit(w.point(0, 0, 0, 0)));
  const double move = angle * norm(w.beams[0].direct[2]) / w.beams[0].wavelength;
  const int steps = std::clamp(int(move / narrow) + 1, 2, 10);
  std::vector<Vector> directions;
  for (double depth : {w.depths.front(), w.depths.back()})
    for (int i = 0; i <= steps; ++i)
      for (int j = 0; j <= steps; ++j)
        directions.push_back(unit(
            w.point(panel, double(f) + double(i) / steps, double(s) + double(j) / steps, depth)));
  return directions;
}

struct Totals {
  std::int64_t needed = 0, listed = 0, missing = 0; // `needed`: pairs of blocks
};

/// The light that the lists of a world miss; `bent`: exponents are not those of a linear index.
Totals compare(const World &w, std::int64_t rowsOfTile, bool bent = false) {
  const Found found(w, rowsOfTile);
  Totals totals;
  totals.listed = found.pairs;
  World wide = w;
  if (bent)
    wide.bound *= 2;
  std::map<Key, std::set<Pair>> ofBlocks;
  const auto look = [&](const Key &pixel) {
    const auto [panel, s, f] = pixel;
    const std::vector<Pair> *list = found.of(pixel);
    const std::int64_t firstRow = std::max(s / rowsOfTile * rowsOfTile, w.roiSlow.first);
    auto &ofBlock = ofBlocks[{panel, firstRow + (s - firstRow) / w.rowsOfBlock * w.rowsOfBlock,
                              (f - w.roiFast.first) / w.columnsOfBlock}];
    for (std::size_t beam = 0; beam != w.beams.size(); ++beam)
      for (Vector d : directionsOf(w, std::size_t(panel), s, f))
        forEachReflection(wide, w.beams[beam], d, [&](const auto &n, double exponent) {
          if (bent && exponent <= wide.bound)
            exponent =
                bentExponent(w, w.beams[beam], d, {double(n[0]), double(n[1]), double(n[2])});
          if (exponent > w.bound)
            return;
          const Pair pair(std::int32_t(beam), w.numberOf(n));
          ofBlock.insert(pair);
          totals.missing += !list || !std::ranges::binary_search(*list, pair);
        });
  };
  for (std::int64_t panel = 0; panel != w.panelCount(); ++panel)
    for (std::int64_t s = w.roiSlow.first; s <= std::min(w.roiSlow.last, w.slow - 1); ++s)
      for (std::int64_t f = w.roiFast.first; f <= std::min(w.roiFast.last, w.fast - 1); ++f)
        look({panel, s, f});
  for (const auto &[key, pairs] : ofBlocks)
    totals.needed += std::int64_t(pairs.size());
  return totals;
}

class Random {
public:
  explicit Random(unsigned seed) : engine(seed) {}
  double between(double a, double b) { return std::uniform_real_distribution(a, b)(engine); }
  double logarithmic(double a, double b) { return std::exp(between(std::log(a), std::log(b))); }
  std::int64_t integer(std::int64_t a, std::int64_t b) {
    return std::uniform_int_distribution(a, b)(engine);
  }
  Vector direction() {
    std::normal_distribution<double> normal;
    return unit({normal(engine), normal(engine), normal(engine)});
  }

private:
  std::mt19937_64 engine;
};

/// The form of a Gaussian crystal of so many cells along each axis.
std::array<double, 6> gaussian(double a, double b, double c) {
  constexpr double perCell = 1 / 0.63;
  return {perCell * a * a, perCell * b * b, perCell * c * c, 0, 0, 0};
}

World anyWorld(unsigned seed) {
  Random random(seed);
  World w;
  const Vector forward = random.direction();
  const Vector across = unit(cross(forward, random.direction())), up = cross(forward, across);
  const double cell = random.logarithmic(20e-10, 150e-10);
  const std::int64_t beams = random.integer(1, 3);
  const Vector turn = random.between(0, 3) * random.direction();
  for (std::int64_t i = 0; i != beams; ++i) {
    Beam b{{},
           unit(forward + random.between(0, 0.01) * random.direction()),
           random.between(0.9e-10, 1.1e-10)};
    const Vector more = random.between(0, 0.02) * random.direction();
    const Vector rows[] = {{1, 0, 0}, {-0.2, 1.2, 0}, {0.1, -0.3, 1.4}};
    for (std::size_t c = 0; c != 3; ++c)
      b.direct[c] = cell * turned(turned(rows[c], turn), more);
    w.beams.push_back(b);
  }
  const double mosaic = random.integer(0, 3) == 0 ? 0 : degree * random.logarithmic(0.01, 0.3);
  if (mosaic > 0)
    for (int i = 0; i != 3; ++i)
      w.variables.push_back(
          {mosaic * Vector{i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0, i == 2 ? 1.0 : 0.0}, 0, {}});
  if (random.integer(0, 1))
    w.variables.push_back({{}, random.logarithmic(1e-4, 3e-3), {}});
  if (random.integer(0, 1))
    for (Vector axis : {across, up})
      w.variables.push_back({{}, 0, random.logarithmic(1e-4, 5e-4) * axis});
  w.normals = w.variables.size();
  if (random.integer(0, 1))
    w.variables.push_back({degree * random.logarithmic(0.05, 1) * random.direction(), 0, {}});
  if (random.integer(0, 3) == 0)
    w.variables.push_back({{}, 0, random.logarithmic(1e-4, 2e-3) * across});
  const double cells = random.logarithmic(8, 100);
  w.form = gaussian(cells, cells * 1.3, cells * 0.7);
  w.form[3] = 0.3 * w.form[0];
  w.bound = random.between(10, 45);
  for (std::int64_t &m : w.most)
    m = random.integer(20, 160);

  w.pixelSize = random.logarithmic(5e-5, 5e-4);
  const std::int64_t panels = random.integer(1, 2);
  for (std::int64_t i = 0; i != panels; ++i) {
    const Vector tilt = random.between(0, 0.7) * random.direction();
    Panel p{{}, turned(across, tilt), turned(up, tilt), turned(forward, tilt)};
    p.origin = random.between(0.05, 0.2) *
               (forward + random.between(-0.8, 0.8) * across + random.between(-0.8, 0.8) * up);
    w.panels.push_back(p);
  }
  if (random.integer(0, 1))
    w.depths = {0, 2e-4, 5e-4};
  w.slow = random.integer(12, 40), w.fast = random.integer(16, 60);
  if (random.integer(0, 1)) {
    w.roiSlow = {1, w.slow - 2};
    w.roiFast = {random.integer(0, 2), w.fast - 1};
  }
  if (random.integer(0, 1))
    w.columnsOfBlock = 8, w.rowsOfBlock = 4;
  return w;
}

/// Looks at many worlds, each changed by `change`.
template <typename Change>
void expectAllListed(unsigned worlds, double mostPerNeeded, bool bent, Change change) {
  Totals all;
  for (unsigned seed = 1; seed <= worlds; ++seed) {
    World w = anyWorld(seed);
    change(w, seed);
    const Totals totals = compare(w, std::array{1, 2, 5, 1000}[seed % 4], bent);
    EXPECT_EQ(totals.missing, 0) << "world " << seed;
    all.needed += totals.needed;
    all.listed += totals.listed;
  }
  EXPECT_GT(all.needed, 10 * worlds);
  EXPECT_LT(double(all.listed), mostPerNeeded * double(all.needed));
  std::cout << all.needed << ' ' << all.listed << std::endl;
}

TEST(AveragedReach, ListsWhatReachesAnyPointOfAPixel) {
  expectAllListed(60, 2, false, [](World &, unsigned) {});
}

TEST(AveragedReach, KnowsThatDirectionsOfLargeBlocksAreBent) {
  expectAllListed(30, 3, false, [](World &w, unsigned) {
    for (double &f : w.form)
      f *= 9;
    w.pixelSize = 0.008 * norm(w.panels[0].origin);
    w.columnsOfBlock = 4, w.rowsOfBlock = 2;
    for (Variable &v : w.variables)
      v.turn = 2 * v.turn;
    w.slow = w.fast = 8;
    w.roiSlow = w.roiFast = {0, 7};
  });
}

TEST(AveragedReach, ListsWhatReachesAPixelThoughSpreadsAreBent) {
  expectAllListed(40, 3, true, [](World &w, unsigned) {
    w.variables.resize(w.normals);
    for (Variable &v : w.variables)
      v.turn = 2 * v.turn;
    w.slow = w.fast = 6; // it takes long
    w.roiSlow = w.roiFast = {0, 5};
  });
}

TEST(AveragedReach, TakesCornersFromATableOfDirections) {
  expectAllListed(30, 2, false, [](World &w, unsigned) {
    w.perPixel = 8;
    for (std::size_t panel = 0; panel != w.panels.size(); ++panel)
      for (std::int64_t s = 0; s != w.slow; ++s)
        for (std::int64_t f = 0; f != w.fast; ++f)
          for (int corner = 0; corner != 8; ++corner)
            w.table.push_back(
                unit(w.point(panel, double(f + (corner & 1)), double(s + (corner >> 1 & 1)),
                             corner & 4 ? w.depths.back() : 0)));
  });
}

TEST(AveragedReach, TakesEachPixelOfAListWhereItStands) {
  expectAllListed(30, 2, false, [](World &w, unsigned seed) {
    Random random(seed);
    const Vector forward = w.beams[0].k;
    w.panels.clear();
    w.slow = 1, w.roiSlow = {0, 0};
    w.fast = 200;
    w.perPixel = 2;
    for (std::int64_t i = 0; i != w.fast; ++i) {
      const Vector d = unit(forward + random.between(0, 0.8) * random.direction());
      w.table.push_back(d);
      w.table.push_back(unit(d + 1e-3 * random.direction()));
    }
  });
}

TEST(AveragedReach, TakesCurvedPanels) {
  expectAllListed(30, 2, false, [](World &w, unsigned) {
    w.curved = true;
    for (Panel &p : w.panels) {
      const double distance = norm(p.origin);
      p = {unit(p.origin), p.fast, unit(cross(p.origin, p.fast)), distance * p.normal};
      p.fast = cross(p.slow, p.origin);
    }
    w.depths = {0}; // angles are the same at all depths
  });
}

/// One crystal in a beam along z, a panel behind it.
World plainWorld(std::int64_t pixels) {
  World w;
  w.beams = {{{Vector{70e-10, 0, 0}, {0, 80e-10, 0}, {0, 0, 90e-10}}, {0, 0, 1}, 1e-10}};
  for (Vector &row : w.beams[0].direct)
    row = turned(row, {0.3, 0.5, 0.2});
  const double turn = 0.1 * degree;
  w.variables = {{{turn, 0, 0}, 0, {}}, {{0, turn, 0}, 0, {}}, {{0, 0, turn}, 0, {}},
                 {{}, 1e-3, {}},        {{}, 0, {3e-4, 0, 0}}, {{}, 0, {0, 3e-4, 0}}};
  w.normals = w.variables.size();
  w.form = gaussian(30, 30, 30);
  w.most = {60, 60, 60};
  w.slow = w.fast = pixels;
  const double edge = -0.05 * double(pixels) * 1e-3;
  w.panels = {{{edge, edge, 0.1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  return w;
}

TEST(AveragedReach, ListsBlocksWithoutLightWhereTheyAreNotDark) {
  World w = plainWorld(64);
  w.variables.clear();
  w.normals = 0;
  EXPECT_LT(Found(w, 16).lists.size(), 64u * 64 / 2);
  w.dark = false;
  EXPECT_EQ(Found(w, 16).lists.size(), 64u * 64);
}

// Cells of 600 A at 0.05 A have 10^14 reflections.
TEST(AveragedReach, ListsTheSameReflectionsOfLargeBoxes) {
  World small = plainWorld(64), large = small;
  large.most = {24'000, 23'000, 100'000};
  const Found ofSmall(small, 16), ofLarge(large, 16);
  EXPECT_GT(ofSmall.pairs, 50);
  const auto named = [](const World &w, std::int64_t number) {
    const std::int64_t row = 2 * w.most[2] + 1, plane = 2 * w.most[1] + 1;
    return std::array{number / row / plane - w.most[0], number / row % plane - w.most[1],
                      number % row - w.most[2]};
  };
  ASSERT_EQ(ofLarge.lists.size(), ofSmall.lists.size());
  for (const auto &[pixel, list] : ofSmall.lists) {
    const std::vector<Pair> *other = ofLarge.of(pixel);
    ASSERT_TRUE(other && other->size() == list.size());
    for (std::size_t i = 0; i != list.size(); ++i)
      EXPECT_EQ(named(large, (*other)[i].second), named(small, list[i].second));
  }
}

TEST(AveragedReach, RefusesBoxesWithoutNumbers) {
  World w = plainWorld(16);
  w.most = {2'000'000, 2'000'000, 2'000'000};
  EXPECT_THAT([&] { Found(w, 16); },
              ThrowsMessage<std::runtime_error>(HasSubstr("give --cull=off")));
}

TEST(AveragedReach, RefusesWhatHasNoBounds) {
  const auto expectRefused = [](const World &w) {
    EXPECT_THAT([&] { Found(w, 16); },
                ThrowsMessage<std::runtime_error>(HasSubstr("nearly every reflection lights")));
  };
  World flatForm = plainWorld(16);
  flatForm.form[2] = 0;
  expectRefused(flatForm);
  World noNumber = plainWorld(16);
  noNumber.variables[3].length = NAN;
  expectRefused(noNumber);
  World wide = plainWorld(16);
  wide.panels[0].origin.x = 0.05;
  for (Variable &v : wide.variables)
    v.turn = 5 * v.turn;
  EXPECT_GT(Found(wide, 16).pairs, 0);
  for (Variable &v : wide.variables)
    v.turn = 20 * v.turn;
  expectRefused(wide);
}

TEST(AveragedReach, LooksAtLargeImagesInMilliseconds) {
  World w = plainWorld(1024);
  const Found found(w, 64, /*keep=*/false);
  // Some 0.7 reflections a block.
  EXPECT_GT(found.pairs, 50'000);
  EXPECT_LT(found.pairs, 120'000);
  std::cout << found.seconds * 1e3 << " ms for " << found.pairs << " reflections of blocks\n";
}

} // namespace
