#include "runtime/kernels/TunedSchedules.h"

#include "runtime/kernels/CacheDirectory.h"
#include "runtime/kernels/CacheEntry.h"

#include <exception>
#include <string_view>

namespace nanobragg {

constexpr std::string_view extension = ".schedule";

static std::string nameOf(const std::string &specification) {
  return keyOf(specification) + std::string(extension);
}

/// The text in the specification behind `name`, to the end of the line.
static std::string lineOf(std::string_view specification, std::string_view name) {
  const std::size_t at = specification.find(name);
  if (at == std::string_view::npos)
    return {};
  const std::string_view rest = specification.substr(at + name.size());
  return std::string(rest.substr(0, rest.find('\n')));
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

std::vector<KeptSchedule> TunedSchedules::list() const {
  std::vector<KeptSchedule> schedules;
  const auto folder = CacheDirectory::open(options.directory, /*create=*/false);
  if (!folder)
    return schedules;
  for (const CacheDirectory::File &file : folder->entries()) {
    if (!file.name.ends_with(extension))
      continue;
    const CacheDirectory::Reading reading = folder->read(file.name);
    try {
      const CacheEntry entry = decodeChecked(reading.bytes);
      KeptSchedule schedule{
          lineOf(entry.specification, "\nvariant: "), lineOf(entry.specification, "\nprecision: "),
          std::string(entry.image.begin(), entry.image.end()), file.lastUse.tv_sec};
      schedule.here = nameOf(specificationOf(schedule.variant, schedule.precision)) == file.name;
      schedules.push_back(std::move(schedule));
    } catch (const std::exception &) {
      // Damaged: find() deletes it.
    }
  }
  return schedules;
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
