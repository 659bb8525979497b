// Another program, run and timed.
#ifndef NANOBRAGG_NBBENCH_CHILDPROCESS_H
#define NANOBRAGG_NBBENCH_CHILDPROCESS_H

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace nanobragg {

/// Runs `program` inside `folder` with these additions to the environment; its standard output is
/// dropped. Wall-clock seconds of the whole run. Throws std::runtime_error unless it succeeds.
double runChild(const std::filesystem::path &program, std::vector<std::string> words,
                const std::filesystem::path &folder,
                const std::map<std::string, std::string> &environment);

} // namespace nanobragg
#endif
