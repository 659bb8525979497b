"""Units, to be multiplied with: ``70 * nb.angstrom``. All numbers of this package are in SI units.
"""

import math

meter = 1.0
millimeter = 1e-3
micrometer = 1e-6
nanometer = 1e-9
angstrom = 1e-10
radian = 1.0
milliradian = 1e-3
degree = math.pi / 180
percent = 0.01
second = 1.0
#: Joule
electronvolt = 1.602176634e-19
kiloelectronvolt = 1e3 * electronvolt

#: h c in J m: wavelength = hc / energy
hc = 6.62607015e-34 * 299792458
