#include "runtime/kernels/TunedSchedules.h"

#include "lib/Program/KernelSpecification.h"
#include "runtime/kernels/CacheDirectory.h"
#include "runtime/kernels/CacheEntry.h"

#include <nlohmann/json.hpp>

#include <exception>
#include <stdexcept>
#include <string_view>

namespace nanobragg {
namespace {

constexpr std::string_view extension = ".schedule";
constexpr std::string_view compilerLine = "\ncompiler: ", precisionLine = "\nprecision: ",
                           variantLine = "\nvariant: ", shapeLine = "\nshape: ";

std::string nameOf(const std::string &specification) {
  return keyOf(specification) + std::string(extension);
}

/// The text in the specification behind `name`, to the end of the line.
std::string lineOf(std::string_view specification, std::string_view name) {
  const std::size_t at = specification.find(name);
  if (at == std::string_view::npos)
    return {};
  const std::string_view rest = specification.substr(at + name.size());
  return std::string(rest.substr(0, rest.find('\n')));
}

/// The lines between that of the compiler and that of the precision.
std::string processorOf(std::string_view specification) {
  const std::size_t compiler = specification.find(compilerLine),
                    end = specification.find(precisionLine);
  if (compiler == std::string_view::npos || end == std::string_view::npos)
    return {};
  const std::size_t begin = specification.find('\n', compiler + 1) + 1;
  return std::string(specification.substr(begin, end + 1 - begin));
}

/// An entry: one line of JSON with the shape and the change, and the pipeline.
std::string contentsOf(const TunedSchedule &schedule) {
  return nlohmann::ordered_json{{"shape", schedule.shape}, {"change", schedule.change}}.dump() +
         "\n" + schedule.pipeline;
}

TunedSchedule scheduleOf(const CacheEntry &entry) {
  TunedSchedule schedule{.variant = lineOf(entry.specification, variantLine),
                         .precision = lineOf(entry.specification, precisionLine),
                         .pipeline = {},
                         .shape = {},
                         .everyShape =
                             entry.specification.find(shapeLine) == std::string_view::npos,
                         .change = 1,
                         .compiler = lineOf(entry.specification, compilerLine),
                         .processor = processorOf(entry.specification)};
  const std::string text(entry.image.begin(), entry.image.end());
  const std::size_t line = text.find('\n');
  if (line == std::string::npos)
    throw std::runtime_error("no pipeline");
  const auto measured = nlohmann::json::parse(text.substr(0, line));
  schedule.shape = measured.at("shape").get<std::string>();
  schedule.change = measured.at("change").get<double>();
  schedule.pipeline = text.substr(line + 1);
  return schedule;
}

} // namespace

std::unique_ptr<TunedSchedules> TunedSchedules::fromEnvironment() {
  if (!CachePlace::fromEnvironment())
    return nullptr;
  CacheOptions options = CacheOptions::fromEnvironment();
  return options.compilerBuild.empty() ? nullptr
                                       : std::make_unique<TunedSchedules>(std::move(options));
}

std::string TunedSchedules::specificationOf(const TunedSchedule &schedule) const {
  const bool here = schedule.compiler.empty();
  std::string text = "nanobragg schedule" + std::string(compilerLine) +
                     (here ? options.compilerBuild : schedule.compiler) + "\n" +
                     (here ? options.hostCpu : schedule.processor);
  text += "precision: " + schedule.precision + std::string(variantLine) + schedule.variant + "\n";
  if (!schedule.everyShape)
    text += "shape: " + schedule.shape + "\n";
  return text;
}

/// The entry of this specification. A damaged one is deleted.
static std::optional<TunedSchedule> readChecked(const CacheDirectory &folder,
                                                const std::string &specification) {
  const std::string name = nameOf(specification);
  const CacheDirectory::Reading reading = folder.read(name);
  if (reading.state == CacheDirectory::State::Found) {
    try {
      const CacheEntry entry = decodeChecked(reading.bytes);
      if (entry.specification != specification)
        return std::nullopt; // another one with the same hash
      TunedSchedule schedule = scheduleOf(entry);
      folder.touch(name);
      return schedule;
    } catch (const std::exception &) {
      folder.remove(name);
    }
  } else if (reading.state == CacheDirectory::State::Bad) {
    folder.remove(name);
  }
  return std::nullopt;
}

std::optional<std::string> TunedSchedules::find(const std::string &variant,
                                                const std::string &precision,
                                                const std::string &shape) {
  TunedSchedule wanted{.variant = variant, .precision = precision, .pipeline = {}, .shape = shape};
  try {
    const auto folder = CacheDirectory::open(options.directory, /*create=*/false);
    for (const bool every : {false, true}) {
      wanted.everyShape = every;
      if (auto found = folder ? readChecked(*folder, specificationOf(wanted)) : std::nullopt)
        return std::move(found->pipeline);
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
      KeptSchedule kept{{scheduleOf(decodeChecked(reading.bytes))}, file.lastUse.tv_sec};
      kept.here = kept.compiler == options.compilerBuild && kept.processor == options.hostCpu;
      schedules.push_back(std::move(kept));
    } catch (const std::exception &) {
      // Damaged: find() deletes it.
    }
  }
  return schedules;
}

void TunedSchedules::keep(const TunedSchedule &schedule) {
  const auto folder = CacheDirectory::open(options.directory, /*create=*/true);
  const std::string specification = specificationOf(schedule);
  const std::string name = nameOf(specification);
  folder->write(name, encodeEntry({contentsOf(schedule), specification}));
  folder->sweep(options.mostBytes, name);
}

TunedSchedules::Merge TunedSchedules::merge(const TunedSchedule &schedule) {
  const auto folder = CacheDirectory::open(options.directory, /*create=*/true);
  const auto kept = readChecked(*folder, specificationOf(schedule));
  if (kept && kept->change <= schedule.change)
    return Merge::Left;
  keep(schedule);
  return kept ? Merge::Replaced : Merge::Added;
}

void TunedSchedules::forget(const std::string &variant, const std::string &precision,
                            const std::string &shape) {
  const auto folder = CacheDirectory::open(options.directory, /*create=*/false);
  if (!folder)
    return;
  TunedSchedule schedule{
      .variant = variant, .precision = precision, .pipeline = {}, .shape = shape};
  folder->remove(nameOf(specificationOf(schedule)));
  schedule.everyShape = true;
  const std::string every = specificationOf(schedule);
  if (const auto kept = readChecked(*folder, every); kept && kept->shape == shape)
    folder->remove(nameOf(every));
}

constexpr const char *formatName = "nanobragg schedules";
constexpr int schedulesFormatVersion = 1;

std::string schedulesToJson(const std::vector<KeptSchedule> &schedules) {
  nlohmann::ordered_json json = {{"format", formatName},
                                 {"version", schedulesFormatVersion},
                                 {"schedules", nlohmann::ordered_json::array()}};
  for (const KeptSchedule &schedule : schedules)
    json["schedules"].push_back({{"variant", schedule.variant},
                                 {"precision", schedule.precision},
                                 {"processor", schedule.processor},
                                 {"compiler", schedule.compiler},
                                 {"shape", schedule.shape},
                                 {"every_shape", schedule.everyShape},
                                 {"change", schedule.change},
                                 {"pipeline", schedule.pipeline}});
  return json.dump(2) + "\n";
}

std::vector<TunedSchedule> schedulesFromJson(const std::string &text) {
  std::vector<TunedSchedule> schedules;
  const auto refuse = [&](const std::string &why) {
    throw std::runtime_error("schedule " + std::to_string(schedules.size() + 1) + " " + why);
  };
  try {
    const auto json = nlohmann::json::parse(text);
    if (!json.is_object() || json.value("format", "") != formatName)
      throw std::runtime_error("this is not a file of nb-cache export: its \"format\" is not \"" +
                               std::string(formatName) + "\"");
    if (const int version = json.value("version", 0); version != schedulesFormatVersion)
      throw std::runtime_error("the file has version " + std::to_string(version) +
                               ", and this nb-cache reads version " +
                               std::to_string(schedulesFormatVersion));
    for (const auto &one : json.at("schedules")) {
      TunedSchedule schedule{.variant = one.at("variant").get<std::string>(),
                             .precision = one.at("precision").get<std::string>(),
                             .pipeline = one.at("pipeline").get<std::string>(),
                             .shape = one.at("shape").get<std::string>(),
                             .everyShape = one.at("every_shape").get<bool>(),
                             .change = one.at("change").get<double>(),
                             .compiler = one.at("compiler").get<std::string>(),
                             .processor = one.at("processor").get<std::string>()};
      for (const std::string *line :
           {&schedule.variant, &schedule.precision, &schedule.shape, &schedule.compiler})
        if (line->find('\n') != std::string::npos || (line->empty() && line != &schedule.shape))
          refuse("has an empty value, or one of several lines: '" + *line + "'");
      if (!schedule.processor.ends_with("\n"))
        refuse("has no processor");
      if (!schedule.pipeline.starts_with("builtin.module("))
        refuse("has no pipeline 'builtin.module(...)'");
      if (!(schedule.change > 0))
        refuse("changes the time by a factor of " + std::to_string(schedule.change) +
               "; it has to be above 0");
      try {
        KernelSpecification::fromString(schedule.variant);
      } catch (const std::invalid_argument &error) {
        refuse(std::string("is for a program that this build does not know: ") + error.what());
      }
      schedules.push_back(std::move(schedule));
    }
  } catch (const nlohmann::json::parse_error &error) {
    throw std::runtime_error("the file is not JSON: " + std::string(error.what()));
  } catch (const nlohmann::json::exception &error) {
    refuse(std::string("lacks a value, or has one of another type: ") + error.what());
  }
  return schedules;
}

} // namespace nanobragg
