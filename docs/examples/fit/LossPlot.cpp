#include "LossPlot.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>

void plotLosses(const std::string &path, const std::vector<LossCurve> &curves) {
  constexpr double width = 640, height = 360, left = 70, right = 20, top = 20, bottom = 50;
  static constexpr const char *colours[] = {"#1b6ca8", "#c1440e", "#3a7d44", "#6b4c9a"};
  double low = 1e300, high = 0;
  std::size_t steps = 0;
  for (const LossCurve &curve : curves) {
    for (double loss : curve.losses) {
      low = std::min(low, loss);
      high = std::max(high, loss);
    }
    steps += curve.losses.size();
  }
  const double floor = std::floor(std::log10(low)), ceiling = std::ceil(std::log10(high));
  const double decades = std::max(ceiling - floor, 1.0);
  auto x = [&](std::size_t step) {
    return left +
           (width - left - right) * double(step) / double(std::max<std::size_t>(steps, 2) - 1);
  };
  auto y = [&](double loss) {
    return top + (height - top - bottom) * (1 - (std::log10(loss) - floor) / decades);
  };

  std::ofstream out(path);
  out << "<svg xmlns='http://www.w3.org/2000/svg' width='" << width << "' height='" << height
      << "' font-family='sans-serif' font-size='12'>\n<rect width='100%' height='100%' "
         "fill='white'/>\n";
  for (int d = 0; d <= int(decades); ++d) {
    const double at = y(std::pow(10, floor + d));
    out << "<line x1='" << left << "' x2='" << width - right << "' y1='" << at << "' y2='" << at
        << "' stroke='#ddd'/><text x='" << left - 8 << "' y='" << at + 4 << "' text-anchor='end'>1e"
        << int(floor) + d << "</text>\n";
  }
  std::size_t step = 0;
  for (std::size_t i = 0; i != curves.size(); ++i) {
    const char *colour = colours[i % std::size(colours)];
    out << "<text x='" << width - right << "' y='" << top + 16 * double(i + 1)
        << "' text-anchor='end' fill='" << colour << "'>" << curves[i].name << "</text>\n"
        << "<polyline fill='none' stroke-width='2' stroke='" << colour << "' points='";
    const std::size_t begin = step;
    for (double loss : curves[i].losses)
      out << x(step++) << ',' << y(loss) << ' ';
    out << "'/>\n";
    for (std::size_t j = 0; j != curves[i].losses.size(); ++j)
      out << "<circle r='3' fill='" << colour << "' cx='" << x(begin + j) << "' cy='"
          << y(curves[i].losses[j]) << "'/><text x='" << x(begin + j) << "' y='" << height - 32
          << "' text-anchor='middle'>" << j << "</text>\n";
  }
  out << "<text x='" << width / 2 << "' y='" << height - 10
      << "' text-anchor='middle'>step</text>\n<text transform='translate(16," << height / 2
      << ") rotate(-90)' text-anchor='middle'>chi-square per pixel</text>\n</svg>\n";
  out.close();
  if (!out)
    throw std::runtime_error("cannot write '" + path + "'");
}
