#include "lib/Formats/ForeignFormats.h"

#include "lib/Files/FileError.h"
#include "lib/Files/TextScanner.h"
#include "lib/Formats/NexusFile.h"

#include <algorithm>
#include <cctype>

namespace nanobragg::io {
namespace {

/// The first line with a word, its blanks and its case as they are.
std::string_view nextLine(std::string_view &rest) {
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.find_first_not_of(" \t\r") != line.npos)
      return line;
  }
  return {};
}

/// Without blanks in front, in capitals.
std::string capitals(std::string_view line) {
  std::string text(line.substr(std::min(line.find_first_not_of(" \t\r"), line.size())));
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return char(std::toupper(c)); });
  return text;
}

/// Merged: a number, -985 or its like, the cell. Unmerged: how many operations, the space group.
bool isScalepack(std::string_view content) {
  std::string_view rest = content, first = nextLine(rest), second = nextLine(rest);
  const std::optional<double> number = toNumber(nextWord(first, " \t\r"));
  if (!number || *number < 1)
    return false;
  const std::string_view group = nextWord(first, " \t\r");
  const std::optional<double> mark = toNumber(nextWord(second, " \t\r"));
  if (group.empty())
    return mark && *mark <= -985 && *mark >= -999 && nextWord(second, " \t\r").empty();
  return std::string_view("pcifrabhPCIFRABH").find(group.front()) != group.npos &&
         group.size() > 1 && std::isdigit((unsigned char)group[1]);
}

/// TITL or CELL, and CELL or SFAC on a later line.
bool isShelxModel(std::string_view content) {
  std::string_view rest = content;
  const std::string first = capitals(nextLine(rest));
  if (!first.starts_with("TITL") && !first.starts_with("CELL "))
    return false;
  for (int lines = 0; lines < 100 && !rest.empty(); ++lines) {
    const std::string line = capitals(nextLine(rest));
    if (line.starts_with("ZERR ") || line.starts_with("SFAC ") || line.starts_with("LATT "))
      return true;
  }
  return false;
}

bool isReflectionTable(std::string_view content) {
  return content.substr(0, 200).find("dials::af::reflection_table") != content.npos;
}

/// A sentence without the file's name; empty for files of no such format.
std::string_view foreignFormat(std::string_view content) {
  std::string_view rest = content;
  const std::string first = capitals(nextLine(rest).substr(0, 200));
  const auto begins = [&](std::string_view word) { return first.starts_with(word); };
  if (begins("!FORMAT=XDS_ASCII"))
    return "holds intensities of XDS, and structure factors are amplitudes; convert them with "
           "XDSCONV (OUTPUT_FILE=x.hkl CCP4_F, then f2mtz) or with pointless, aimless and "
           "ctruncate, and give the MTZ file";
  if (begins("!OUTPUT_FILE="))
    return "holds integrated intensities of XDS, which are not scaled; let CORRECT scale them, "
           "convert XDS_ASCII.HKL with pointless, aimless and ctruncate, and give the MTZ file";
  if (begins("XPARM.XDS"))
    return "holds the geometry of XDS and no structure factors; dials.import_xds makes an .expt of "
           "it, for --expt";
  if (begins("CRYSTFEL REFLECTION LIST"))
    return "holds intensities of CrystFEL, and structure factors are amplitudes; convert them "
           "(get_hkl --output-format=mtz, then ctruncate) and give the MTZ file";
  if (begins("CRYSTFEL STREAM FORMAT"))
    return "is a stream of CrystFEL, whose patterns are not merged; merge them (partialator), "
           "convert them (get_hkl --output-format=mtz, then ctruncate) and give the MTZ file";
  if (begins("<"))
    return "is a web page or XML, not a file of structure factors; download the file itself";
  if (begins("NREF"))
    return "holds reflections of CNS or X-PLOR; convert them (phenix.reflection_file_converter "
           "--mtz, or cif2mtz) and give the MTZ file";
  if (isScalepack(content))
    return "holds intensities of Scalepack; convert them (scalepack2mtz, then ctruncate) and give "
           "the MTZ file";
  if (isShelxModel(content))
    return "is a file of instructions of SHELX; give the CIF that SHELXL writes with ACTA, or the "
           ".hkl beside it";
  if (begins("{") && content.find("\"ExperimentList\"") != content.npos)
    return "is an experiment list of DIALS, which has no structure factors; give it with --expt";
  if (isReflectionTable(content))
    return "is a reflection table of DIALS; scale it, export it (dials.export format=mtz), merge "
           "it (dials.merge) and give the MTZ file";
  if (content.size() > 212 && content.substr(208, 4) == "MAP ")
    return "is a map; convert it (gemmi map2sf) and give the MTZ file";
  if (isHdf5(content))
    return "is an HDF5 file, which holds images; give structure factors as MTZ, CIF or text";
  return {};
}

} // namespace

void refuseForeignFormat(const std::string &path, std::string_view content) {
  if (const std::string_view sentence = foreignFormat(content); !sentence.empty())
    throw FileError(path, std::string(sentence));
}

void refuseOtherThanExperiments(const std::string &path, std::string_view content) {
  if (isReflectionTable(content))
    throw FileError(path, "is a reflection table of DIALS, which describes no experiment; give the "
                          "experiment list (.expt) that belongs to it");
  std::string_view rest = content;
  const std::string first = capitals(nextLine(rest).substr(0, 200));
  if (isHdf5(content) || first.starts_with("###CBF") ||
      (first.starts_with("{") && capitals(nextLine(rest)).starts_with("HEADER_BYTES=")))
    throw FileError(path,
                    "is an image, not an experiment list of DIALS (.expt); make one of it with "
                    "dials.import");
}

} // namespace nanobragg::io
