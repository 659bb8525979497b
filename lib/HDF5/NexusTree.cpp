// The groups and small data sets of a file.
#include "lib/HDF5/CheckedDataset.h"
#include "lib/HDF5/Nexus.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

namespace nanobragg::io {
namespace {

using nlohmann::json;

constexpr int deepest = 12;
constexpr std::size_t mostNodes = 20000;
constexpr hsize_t mostAttributes = 256;
constexpr hssize_t mostValues = 64;
constexpr std::size_t longestText = 4096;

/// Attributes and data sets are read by the same calls with other names.
struct Reading {
  Handle type, space;
  std::function<herr_t(hid_t, void *)> read;
};

bool isNumbers(H5T_class_t kind) {
  return kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_ENUM;
}

/// Up to 64 numbers, or a text; null for anything else.
json valueOf(const Reading &from) {
  const hssize_t count = from.space.valid() ? H5Sget_simple_extent_npoints(from.space) : 0;
  const H5T_class_t kind = from.type.valid() ? H5Tget_class(from.type) : H5T_NO_CLASS;
  if (count < 1 || count > mostValues)
    return nullptr;
  if (isNumbers(kind)) {
    std::vector<double> values(static_cast<std::size_t>(count));
    if (from.read(H5T_NATIVE_DOUBLE, values.data()) < 0)
      return nullptr;
    return H5Sget_simple_extent_ndims(from.space) == 0 ? json(values[0]) : json(values);
  }
  if (kind != H5T_STRING || count != 1)
    return nullptr;
  if (H5Tis_variable_str(from.type) > 0) {
    char *text = nullptr;
    if (from.read(from.type, static_cast<void *>(&text)) < 0 || !text)
      return nullptr;
    json found = std::string(text, strnlen(text, longestText));
    H5free_memory(text);
    return found;
  }
  const std::size_t size = H5Tget_size(from.type);
  std::string text(size + 1, '\0');
  if (size > longestText || from.read(from.type, text.data()) < 0)
    return nullptr;
  text.resize(text.find('\0'));
  text.resize(text.find_last_not_of(' ') + 1);
  return text;
}

json attributesOf(hid_t object) {
  json found = json::object();
  for (hsize_t i = 0; i < mostAttributes; ++i) {
    const Handle one(
        H5Aopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT, H5P_DEFAULT));
    if (!one.valid())
      break;
    char name[256] = "";
    H5Aget_name(one, sizeof name, name);
    found[name] = valueOf({Handle(H5Aget_type(one)), Handle(H5Aget_space(one)),
                           [&](hid_t type, void *to) { return H5Aread(one, type, to); }});
  }
  return found;
}

class Tree {
public:
  explicit Tree(const std::string &path) : path(path), file(CheckedDataset::openFile(path)) {}

  json node(const std::string &name, int depth) {
    if (++nodes > mostNodes)
      throw FileError(path, "has more than " + std::to_string(mostNodes) +
                                " groups and data sets, which no NXmx file has");
    std::optional<LinkedObject> found = findLinked(path, file, name);
    if (!found)
      return {{"error", path + ": has no " + name}};
    json made{{"attributes", attributesOf(found->object)}};
    const H5I_type_t kind = H5Iget_type(found->object);
    if (kind == H5I_DATASET)
      addData(made, name, std::move(*found));
    else if (kind == H5I_GROUP && !isLeftOut(name, made["attributes"]))
      addMembers(made, name, found->object, depth);
    return made;
  }

private:
  static bool isLeftOut(const std::string &name, const json &attributes) {
    const json kind = attributes.value("NX_class", json());
    return kind == "NXdata" || kind == "NXcollection" || name.ends_with("/detectorSpecific");
  }

  void addData(json &made, const std::string &name, LinkedObject found) {
    const hid_t data = found.object;
    Reading from{Handle(H5Dget_type(data)), Handle(H5Dget_space(data)), {}};
    const Handle creation(H5Dget_create_plist(data));
    std::vector<hsize_t> size(std::size_t(std::max(H5Sget_simple_extent_ndims(from.space), 0)));
    H5Sget_simple_extent_dims(from.space, size.data(), nullptr);
    made["size"] = size;
    if (isNumbers(H5Tget_class(from.type)))
      from.read = [&](hid_t, void *to) {
        const std::vector<double> values =
            CheckedDataset(std::move(found)).read(std::vector<hsize_t>(size.size()), size);
        std::copy(values.begin(), values.end(), static_cast<double *>(to));
        return 0;
      };
    else if (H5Pget_layout(creation) != H5D_VIRTUAL && H5Pget_external_count(creation) == 0)
      from.read = [&](hid_t type, void *to) {
        return H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to);
      };
    else
      throw FileError(path, "keeps the text " + name + " in another file, which is not followed");
    made["value"] = valueOf(from);
  }

  void addMembers(json &made, const std::string &name, hid_t group, int depth) {
    json &members = made["members"] = json::object();
    H5G_info_t info;
    if (depth == deepest || H5Gget_info(group, &info) < 0)
      return;
    for (hsize_t i = 0; i < std::min<hsize_t>(info.nlinks, mostNodes); ++i) {
      char member[256] = "";
      if (H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, member, sizeof member,
                             H5P_DEFAULT) < 0)
        continue;
      const std::string whole = name + "/" + member;
      try {
        members[member] = node(whole, depth + 1);
      } catch (const FileError &error) {
        if (nodes > mostNodes)
          throw;
        members[member] = {{"error", error.what()}};
      }
    }
  }

  std::string path;
  Handle file;
  std::size_t nodes = 0;
};

} // namespace

std::string readTree(const std::string &path) {
  return Tree(path).node("", 0).dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace nanobragg::io
