#include "tools/nb-opt/Help.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using llvm::StringRef;

/// MLIR sorts the entries of such a list by name, and knows no groups.
static bool beginsList(StringRef line) {
  return line == "    Passes:" || line == "    Pass Pipelines:";
}

static bool isEntry(StringRef line) { return line.starts_with("      --"); }

static bool isOwn(StringRef line) {
  const StringRef name = line.ltrim().ltrim('-');
  return name.starts_with("nb-") || name.starts_with("convert-nb-");
}

/// The help with the passes and pipelines of nb ahead of all options. Options of an entry go with
/// it.
static std::string grouped(StringRef help) {
  std::string first, text, own, others, title;
  bool toOwn = false;
  const auto endList = [&] {
    if (!title.empty()) {
      first += title + " of nb:\n" + own + "\n";
      text += title + " of MLIR:\n" + others;
    }
    own = others = title = "";
  };
  for (const StringRef line : llvm::split(help, '\n')) {
    // Words of an option's value stand farther to the left.
    const bool continues = line.starts_with("      ") || line.starts_with("    =");
    if (beginsList(line) || !continues)
      endList();
    if (beginsList(line)) {
      title = line.drop_back().str();
      continue;
    }
    if (isEntry(line))
      toOwn = isOwn(line);
    (title.empty() ? text : toOwn ? own : others) += line.str() + "\n";
  }
  endList();
  const auto [head, options] = StringRef(text).drop_back().split("OPTIONS:\n");
  return head.str() + first + "OPTIONS:\n" + options.str();
}

int nb::printGrouped(llvm::function_ref<int()> print) {
  int ends[2];
  if (::pipe(ends) != 0)
    return print();
  const pid_t child = ::fork();
  if (child <= 0) {
    if (child == 0)
      ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    return print();
  }
  ::close(ends[1]);
  std::string help;
  char part[1 << 16];
  for (ssize_t size; (size = ::read(ends[0], part, sizeof part)) > 0;)
    help.append(part, size_t(size));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  llvm::outs() << grouped(help);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
