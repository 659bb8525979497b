#include "lib/Quantities/Quantity.h"

#include "lib/Quantities/LikelyUnits.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

namespace nanobragg {

std::string_view Quantity::nameFor(Caller caller) const {
  return caller == Caller::Python && !more.python.empty() ? more.python : name();
}

void Quantity::check(std::span<const double> inSI, Caller caller) const {
  if (inSI.empty())
    return;
  std::vector<double> values;
  for (std::size_t i = 0; i != inSI.size(); ++i)
    values.push_back(unit->fromSI(inSI[i], i));
  for (std::size_t i = 0; i != values.size(); ++i) {
    const double value = values[i];
    if (const auto slip = slipOfUnits(*this, inSI[i], i, caller); slip && slip->certain)
      throw std::invalid_argument(slip->sentence);
    if (!range.contains(value)) {
      const bool python = caller == Caller::Python;
      Range allowed = range;
      if (python) {
        allowed.low = unit->inSI(range.low, i);
        allowed.high = unit->inSI(range.high, i);
      }
      std::string name = python && std::string_view(unit->si) != "1" ? unit->si
                         : python                                    ? ""
                                                                     : unit->name;
      if (const std::size_t both = name.find(" and "); both != name.npos) // a cell has two
        name = i < 3 ? name.substr(0, both) : name.substr(both + 5);
      throw std::invalid_argument(numberText(python ? inSI[i] : value) +
                                  (name.empty() ? "" : " " + name) +
                                  " is out of range; it must be " + allowed.text());
    }
    if (field().kind == Field::Kind::Whole && value != std::floor(value))
      throw std::invalid_argument(numberText(value) +
                                  " is not a whole number; leave out the fraction");
    constexpr double largestWhole = 9007199254740992.0; // beyond it doubles skip whole numbers
    if (field().kind == Field::Kind::Whole && std::fabs(value) > largestWhole)
      throw std::invalid_argument(numberText(value) + " is out of range; it is too large");
  }
  if (const std::string why = more.wrong ? more.wrong(values) : ""; !why.empty())
    throw std::invalid_argument(why);
}

void Quantity::set(Options &options, std::vector<double> numbers) const {
  if (values.empty())
    numbers = {more.value};
  const bool forAll = fields[1] && numbers.size() == 1;
  for (std::size_t i = 0; i != fields.size() && fields[i]; ++i) {
    const Field &f = *fields[i];
    const std::span<const double> own =
        fields[1] ? std::span(numbers).subspan(forAll ? 0 : i, 1) : std::span(numbers);
    std::vector<double> all(own.begin(), own.end());
    all.resize(f.size, more.oneForAll ? all[0] : 0);
    if (more.zeroIsUnset && all[0] == 0)
      f.unset(options);
    else
      f.set(options, all);
  }
  if (more.also)
    more.also(options);
}

double Quantity::choice(std::string_view word) const {
  const auto &words = field().words;
  for (std::size_t i = 0; i != words.size(); ++i)
    if (word == words[i] && values.find(word) != values.npos)
      return double(i);
  std::string list;
  for (std::size_t begin = 0; begin <= values.size();) {
    const std::size_t end = std::min(values.find('|', begin), values.size());
    list += (list.empty()           ? ""
             : end == values.size() ? " or "
                                    : ", ") +
            std::string(values.substr(begin, end - begin));
    begin = end + 1;
  }
  throw std::invalid_argument("'" + std::string(word) + "' is not one of its values; give " + list);
}

const std::vector<const Quantity *> &allQuantities() {
  static const std::vector<const Quantity *> all = [] {
    std::vector<const Quantity *> rows;
    for (const std::span<const Quantity> subject :
         {modelQuantities(), crystalQuantities(), beamQuantities(), goniometerQuantities(),
          detectorQuantities(), geometryQuantities(), responseQuantities(), outputQuantities()})
      for (const Quantity &row : subject)
        rows.push_back(&row);
    return rows;
  }();
  return all;
}

const Quantity *quantityOf(const void *field, const Options &options) {
  const Quantity *found = nullptr;
  for (const Quantity *row : allQuantities())
    for (const Field *of : row->fields)
      if (of && of->in(options) == field && (!found || (found->fields[1] && !row->fields[1])))
        found = row;
  return found;
}

const Quantity *findQuantity(std::string_view name) {
  const auto found = std::ranges::find(allQuantities(), name, &Quantity::name);
  return found == allQuantities().end() ? nullptr : *found;
}

void checkQuantities(const Options &options, const Options &checked, Caller caller) {
  const auto beyondChoosing = [](const Quantity *row) {
    const auto rows = outputQuantities(); // a seed grows with the frames of a series
    return row >= rows.data() && row < rows.data() + rows.size();
  };
  for (const bool several : {false, true}) // a field's own row is the one to be named
    for (const Quantity *row : allQuantities())
      for (const Field *field : row->fields)
        if (field && field->kind != Field::Kind::Choice && !beyondChoosing(row) &&
            bool(row->fields[1]) == several && field->get(options) != field->get(checked))
          try {
            row->check(field->get(options), caller);
          } catch (const std::invalid_argument &error) {
            throw std::invalid_argument(std::string(row->nameFor(caller)) + ": " + error.what());
          }
}

void OptionReader::note(const void *field) const {
  if (std::ranges::find(fields, field) == fields.end())
    fields.push_back(field);
}

std::vector<const Field *> OptionReader::neverRead() const {
  std::vector<const Field *> unread;
  for (const Quantity *row : allQuantities())
    for (const Field *field : row->fields)
      if (field && std::ranges::find(fields, field->in(options)) == fields.end())
        unread.push_back(field);
  return unread;
}

std::string lostEffect(const Quantity &row, const Options &options,
                       const std::vector<const Field *> &neverRead) {
  const std::string none = " has no effect: ";
  // A switch that a later one takes back, as -nopolar before -polar.
  if (row.values.empty() && !row.more.also &&
      row.field().get(options) != std::vector<double>{row.more.value})
    return none + "a later flag takes it back";
  if (row.more.only.empty())
    return {};
  const auto fields = row.fields.size() - std::size_t(std::ranges::count(row.fields, nullptr));
  const auto unread = std::size_t(std::ranges::count_if(row.fields, [&](const Field *field) {
    return std::ranges::find(neverRead, field) != neverRead.end();
  }));
  if (unread == 0)
    return {};
  return (unread == fields ? none : " has only a part of its effect: ") + "it applies only " +
         std::string(row.more.only);
}

} // namespace nanobragg
