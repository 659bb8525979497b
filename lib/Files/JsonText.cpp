#include "lib/Files/JsonText.h"

#include "lib/Files/FileError.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace nanobragg::io {

int jsonDepth(std::string_view text) {
  int depth = 0, deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '"')
      quoted = !quoted;
    else if (quoted)
      i += text[i] == '\\';
    else if (text[i] == '[' || text[i] == '{')
      deepest = std::max(deepest, ++depth);
    else if (text[i] == ']' || text[i] == '}')
      --depth;
  return deepest;
}

nlohmann::json parseJson(const std::string &path, const std::string &text, const char *advice) {
  if (jsonDepth(text) > deepestJson)
    throw FileError(path, std::string("is nested more than ") + std::to_string(deepestJson) +
                              " times; " + advice);
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error &error) {
    const std::size_t end = std::min(error.byte, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + std::ptrdiff_t(end), '\n');
    throw FileError(path, std::size_t(line), std::string("is not JSON; ") + advice);
  } catch (const nlohmann::json::out_of_range &) {
    throw FileError(path, "has a number that is out of range; numbers go up to 1.8e308");
  }
}

} // namespace nanobragg::io
