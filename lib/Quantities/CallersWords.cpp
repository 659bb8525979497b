#include "lib/Quantities/CallersWords.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace nanobragg {
namespace {

/// The row that has a name in Python for the field of a row that has none: -N is Crystal.ncells.
std::string_view fieldOfOtherRow(const Quantity &row) {
  for (const Quantity *other : allQuantities())
    if (!other->more.python.empty() &&
        std::ranges::find(other->fields, row.fields[0]) != other->fields.end())
      return other->more.python;
  return {};
}

/// How Python says what a flag without values sets.
std::string switched(const Quantity &row, std::string name) {
  const auto &words = row.field().words;
  const std::string word = words[std::size_t(row.more.value)];
  const std::string value = word == "yes" ? "True" : word == "no" ? "False" : "'" + word + "'";
  return name + "=" + value;
}

/// By flag.
const std::map<std::string, std::string, std::less<>> &fieldsOfPython() {
  static const auto table = [] {
    std::map<std::string, std::string, std::less<>> all = {
        {"-mat", "Crystal.matrix"},
        {"-hkl", "Crystal.hkl"},
        {"-sourcefile", "Beam.sources"},
        {"-stol", "Beam.background"},
        {"-mask", "Detector.mask"},
        {"-gain_map", "Detector.gain_map"},
        {"--panels", "Detector.panels"},
        {"--spectrum", "Beam.spectrum"},
        {"--efficiency", "Detector.efficiency"},
        {"--sensor-material", "Detector.material"},
        {"--expt", "Expt"},
        {"--cull", "cull="},
        {"--threads", "threads="},
        {"--precision", "precision="},
        {"--device", "device="}};
    for (const Quantity *row : allQuantities()) {
      std::string name(row->more.python.empty() ? fieldOfOtherRow(*row) : row->more.python);
      if (name.empty())
        continue;
      if (row->field().kind == Field::Kind::Choice && row->values.empty())
        name = switched(*row, name);
      for (std::string_view rest = row->flags; !rest.empty();) {
        const std::string_view flag = rest.substr(0, rest.find(' '));
        all.emplace(flag, name);
        rest.remove_prefix(std::min(rest.size(), flag.size() + 1));
      }
    }
    return all;
  }();
  return table;
}

} // namespace

std::string inWordsOf(Caller caller, const std::string &message) {
  if (caller == Caller::CommandLine)
    return message;
  const auto ofWord = [](char c) { return std::isalnum((unsigned char)c) || c == '_' || c == '-'; };
  std::string text;
  for (std::size_t at = 0; at < message.size();) {
    std::size_t end = at;
    while (end < message.size() && ofWord(message[end]))
      ++end;
    const std::string word = message.substr(at, end - at);
    const auto field = fieldsOfPython().find(word);
    if (field == fieldsOfPython().end())
      text += word;
    else if (end < message.size() && message[end] == '=' && !field->second.ends_with('=')) {
      // --average=closed: a word is a string.
      std::size_t stop = ++end;
      while (stop < message.size() && ofWord(message[stop]))
        ++stop;
      text += field->second + "='" + message.substr(end, stop - end) + "'";
      end = stop;
    } else {
      text += field->second;
    }
    if (end == at)
      text += message[end++];
    at = end;
  }
  return text;
}

} // namespace nanobragg
