#include "lib/Program/Derivative.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace nanobragg {
namespace {

std::string whyNot(const std::string &text) {
  try {
    Derivative::fromString(text);
  } catch (const std::invalid_argument &error) {
    return error.what();
  }
  return "accepted";
}

TEST(Derivative, NoneIsTheImage) {
  EXPECT_EQ(Derivative().toString(), "none");
  EXPECT_EQ(Derivative::fromString("none"), Derivative());
  EXPECT_EQ(Derivative::fromString(""), Derivative());
}

TEST(Derivative, TextReadsBack) {
  for (const char *text : {"vjp(cell_a)", "vjp(cell_a,misset_x,F)", "jvp(source_direction)",
                           "jvp*3(wavelength,distance)", "jacobian(cell_a,phi0)", "hvp(cell_a)"})
    EXPECT_EQ(Derivative::fromString(text).toString(), text);
  const Derivative d = Derivative::fromString("jvp*3(wavelength,distance)");
  EXPECT_EQ(d.mode, Derivative::Mode::JVP);
  EXPECT_EQ(d.tangents, 3);
  EXPECT_EQ(d.parameters, (std::vector<std::string>{"wavelength", "distance"}));
}

TEST(Derivative, RefusesWithAReason) {
  EXPECT_EQ(whyNot("grad(cell_a)"),
            "derivative 'grad(cell_a)': 'grad' is not one of none, jacobian, jvp, vjp, hvp");
  EXPECT_EQ(whyNot("vjp"), "derivative 'vjp': expected MODE(PARAMETER,...)");
  EXPECT_EQ(whyNot("vjp()"), "derivative 'vjp()': there is no derivative with respect to ''");
  EXPECT_EQ(whyNot("vjp(phi_steps)"),
            "derivative 'vjp(phi_steps)': there is no derivative with respect to 'phi_steps'");
  EXPECT_EQ(whyNot("vjp(osc,osc)"), "derivative 'vjp(osc,osc)': 'osc' is named twice");
  EXPECT_EQ(whyNot("jacobian(F)"), "derivative 'jacobian(F)': 'F' is not one number; ask for jvp");
  EXPECT_EQ(whyNot("vjp*2(osc)"), "derivative 'vjp*2(osc)': only jvp has several directions");
  EXPECT_EQ(whyNot("jvp*x(osc)"), "derivative 'jvp*x(osc)': 'x' is not a number of directions");
  EXPECT_EQ(whyNot("none(osc)"), "derivative 'none(osc)': 'none' takes no parameters");
}

} // namespace
} // namespace nanobragg
