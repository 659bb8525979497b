// The photons that a small crystal scatters at several wavelengths: one kernel, many images.
#include <nanobragg/nanobragg.hpp>

#include <cstdio>
#include <numeric>

static int scan() {
  auto kernel = nanobragg::LoadedKernel::fromFlags(
      {"-cell",   "100",     "100",        "100",      "90",          "90",        "90",
       "-misset", "10",      "0",          "0",        "-N",          "5",         "-default_F",
       "100",     "-lambda", "1",          "-fluence", "1e24",        "-distance", "100",
       "-pixel",  "0.1",     "-detpixels", "256",      "-oversample", "1"});
  for (double angstrom = 0.9; angstrom < 1.15; angstrom += 0.1) {
    kernel.set("wavelength", angstrom * 1e-10);
    const std::vector<float> image = kernel.image();
    std::printf("%.1f A: %.6g photons\n", angstrom,
                std::accumulate(image.begin(), image.end(), 0.));
  }
  return 0;
}

int main() {
  try {
    return scan();
  } catch (const nanobragg::LoadedKernel::Error &error) {
    std::fprintf(stderr, "scan: error: %s\n", error.what());
    return 1;
  }
}
