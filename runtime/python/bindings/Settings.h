// How a simulator is run, as a dictionary.
#ifndef NANOBRAGG_PYTHON_SETTINGS_H
#define NANOBRAGG_PYTHON_SETTINGS_H

#include "nanobragg/SimulatorOptions.h"

#include <nanobind/nanobind.h>

namespace nanobragg::python {

/// Sets the options that the dictionary names; None leaves one as it is. The keys are those of
/// settingsOf(). Throws std::invalid_argument for a value that cannot be, and for an unknown key.
void applySettings(const nanobind::dict &settings, SimulatorOptions &options);

/// All of them, of which applySettings() makes the same options again.
nanobind::dict settingsOf(const SimulatorOptions &options);

} // namespace nanobragg::python
#endif
