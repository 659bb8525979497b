// Names for several parameters.
#ifndef NANOBRAGG_PROGRAM_PARAMETERGROUPS_H
#define NANOBRAGG_PROGRAM_PARAMETERGROUPS_H

#include "lib/Program/Parameters.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nanobragg {

/// A name that stands for its members wherever derivatives are asked for.
struct ParameterGroup {
  const char *name;
  const char *meaning;
  std::vector<std::string_view> members; ///< rows of the parameter table, in its order
};

/// All groups; the last are "scalars", every single number, and "all".
std::span<const ParameterGroup> parameterGroups();

/// Null when there is no such group.
const ParameterGroup *findGroup(std::string_view name);

/// There is no parameter or group of that name.
class UnknownParameter : public std::invalid_argument {
public:
  using std::invalid_argument::invalid_argument;
};

/// "; the closest is 'NAME'" of those that are allowed: by another word for it, or by its spelling;
/// empty where none is like it.
std::string closestParameter(std::string_view name, std::span<const std::string_view> candidates);

/// The parameters that `text`, names of parameters and groups with commas between, stands for, in
/// the order of the table and each once. In a group those count that programs of this variant take.
/// Throws UnknownParameter, or std::invalid_argument for a name that is discrete or not used here.
std::vector<std::string> resolveParameters(std::string_view text, const ProgramVariant &variant);

} // namespace nanobragg
#endif
