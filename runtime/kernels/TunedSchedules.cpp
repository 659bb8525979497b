#include "runtime/kernels/TunedSchedules.h"

#include "runtime/kernels/CacheDirectory.h"
#include "runtime/kernels/CacheEntry.h"

#include <exception>

namespace nanobragg {

static std::string nameOf(const std::string &specification) {
  return keyOf(specification) + ".schedule";
}

std::unique_ptr<TunedSchedules> TunedSchedules::fromEnvironment() {
  if (!CachePlace::fromEnvironment())
    return nullptr;
  CacheOptions options = CacheOptions::fromEnvironment();
  return options.compilerBuild.empty() ? nullptr
                                       : std::make_unique<TunedSchedules>(std::move(options));
}

std::string TunedSchedules::specificationOf(const std::string &variant,
                                            const std::string &precision) const {
  return "nanobragg schedule\ncompiler: " + options.compilerBuild + "\n" + options.hostCpu +
         "precision: " + precision + "\nvariant: " + variant + "\n";
}

std::optional<std::string> TunedSchedules::find(const std::string &variant,
                                                const std::string &precision) {
  try {
    const auto folder = CacheDirectory::open(options.directory, /*create=*/false);
    if (!folder)
      return std::nullopt;
    const std::string specification = specificationOf(variant, precision);
    const std::string name = nameOf(specification);
    const CacheDirectory::Reading reading = folder->read(name);
    if (reading.state == CacheDirectory::State::Found) {
      try {
        const CacheEntry entry = decodeChecked(reading.bytes);
        if (entry.specification != specification)
          return std::nullopt; // another one with the same hash
        folder->touch(name);
        return std::string(entry.image.begin(), entry.image.end());
      } catch (const std::exception &) {
        folder->remove(name);
      }
    } else if (reading.state == CacheDirectory::State::Bad) {
      folder->remove(name);
    }
  } catch (const std::exception &) {
    // The kernel cache says what is wrong with the folder.
  }
  return std::nullopt;
}

void TunedSchedules::keep(const std::string &variant, const std::string &precision,
                          const std::string &pipeline) {
  const auto folder = CacheDirectory::open(options.directory, /*create=*/true);
  const std::string specification = specificationOf(variant, precision);
  const std::string name = nameOf(specification);
  folder->write(name, encodeEntry({pipeline, specification}));
  folder->sweep(options.mostBytes, name);
}

void TunedSchedules::forget(const std::string &variant, const std::string &precision) {
  if (const auto folder = CacheDirectory::open(options.directory, /*create=*/false))
    folder->remove(nameOf(specificationOf(variant, precision)));
}

} // namespace nanobragg
