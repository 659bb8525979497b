// Messages in the words of whoever asked.
#ifndef NANOBRAGG_QUANTITIES_CALLERSWORDS_H
#define NANOBRAGG_QUANTITIES_CALLERSWORDS_H

#include "lib/Quantities/Quantity.h"

#include <string>

namespace nanobragg {

/// The message with each flag replaced by the field of Python that says the same, as the table of
/// quantities has it: "-mosaic_domains" becomes "Crystal.mosaic_domains", "-xds" becomes
/// "Detector.convention='xds'". For the command line the message itself.
std::string inWordsOf(Caller caller, const std::string &message);

} // namespace nanobragg
#endif
