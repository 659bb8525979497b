#include "tools/nb-compile/Completion.h"

#include "lib/CommandLine/Flag.h"
#include "lib/Program/StageNames.h"
#include "tools/nb-compile/Command.h"

#include <algorithm>

namespace nanobragg {
namespace {

/// "c|right" or "so obj" as words; nothing when the value is free.
std::string choicesOf(std::string_view values) {
  std::string words(values);
  if (words.find('|') == words.npos)
    return "";
  std::replace(words.begin(), words.end(), '|', ' ');
  return words;
}

/// One branch of `case $previous in`.
std::string branch(std::string_view flag, std::string_view words) {
  return "    " + std::string(flag) + ") COMPREPLY=($(compgen -W '" + std::string(words) +
         "' -- \"$current\")); return ;;\n";
}

} // namespace

std::string bashCompletion() {
  std::string simFlags, branches, compileWords, compileBranches;
  for (const FlagGroup &group : flagGroups())
    for (const Flag &flag : group.flags)
      for (std::string_view spelling : flag.spellings) {
        if (spelling.ends_with('*'))
          continue;
        simFlags += (simFlags.empty() ? "" : " ") + std::string(spelling);
        if (const std::string choices =
                flag.values == "STAGE" ? stageNamesText(" ") : choicesOf(flag.values);
            !choices.empty())
          branches += branch(spelling, choices);
      }
  for (const CompileFlag &flag : compileFlags()) {
    compileWords += " " + std::string(flag.name);
    if (!flag.words.empty())
      compileBranches += branch(flag.name, flag.words);
  }
  // bash breaks words at '=', which leaves the flag two words back.
  const std::string start =
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  if [[ $current == = ]]; then current=\n"
      "  elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi\n";
  const std::string finish = "  esac\n  [[ $current == -* ]] && COMPREPLY=($(compgen -W ";
  return "# Completion for bash, generated from the tables of flags.\n"
         "_nb_sim() {\n" +
         start + "  case $previous in\n" + branches + finish + "\"$_nb_sim_flags\"" +
         " -- \"$current\"))\n}\n"
         "_nb_compile() {\n" +
         start + "  case $previous in\n" + compileBranches + branches + finish +
         "\"$_nb_sim_flags" + compileWords + "\" -- \"$current\"))\n}\n" + "_nb_sim_flags='" +
         simFlags +
         "'\n"
         "complete -o default -F _nb_sim nb-sim\n"
         "complete -o default -F _nb_compile nb-compile\n";
}

} // namespace nanobragg
