#include "lib/Program/ParameterShape.h"

#include "lib/Program/Parameters.h"

namespace nanobragg {

const char *kindText(nb_parameter_kind kind) {
  switch (kind) {
  case NB_PARAMETER_F64:
    return "f64";
  case NB_PARAMETER_INDEX:
    return "index";
  case NB_PARAMETER_VEC3:
    return "vec3";
  case NB_PARAMETER_MAT3:
    return "mat3";
  case NB_PARAMETER_TABLE_F64:
    return "table_f64";
  case NB_PARAMETER_TABLE_VEC3:
    return "table_vec3";
  case NB_PARAMETER_HKL_GRID:
    return "hkl_grid";
  case NB_PARAMETER_MASK:
    return "mask";
  case NB_PARAMETER_IMAGE:
    return "image";
  }
  return "unknown";
}

const char *kindText(nb_output_kind kind) {
  constexpr const char *texts[] = {"image",     "f64",        "vec3",       "mat3",
                                   "table_f64", "table_vec3", "table_mat3", "hkl_grid"};
  return texts[kind];
}

std::string_view countOf(std::string_view table) {
  const Parameter *parameter = parameterBehind(table);
  return parameter && parameter->count ? parameter->count : "";
}

std::string imageShapeText() {
  std::string text;
  for (const char *count : imageCounts)
    text += "[" + std::string(count) + "]";
  return text;
}

std::string shapeText(std::string_view name, std::string_view kind) {
  const std::string count = "[" + std::string(countOf(name)) + "]";
  if (kind == "vec3")
    return "[3]";
  if (kind == "mat3")
    return "[3][3]";
  if (kind == "table_f64")
    return count;
  if (kind == "table_vec3")
    return count + "[3]";
  if (kind == "table_mat3")
    return count + "[3][3]";
  if (kind == "hkl_grid")
    return "[h][k][l]";
  if (kind == "mask" || kind == "image")
    return imageShapeText();
  return "";
}

} // namespace nanobragg
