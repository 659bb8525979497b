#include "tools/nb-lsp-server/Proxy.h"

#include "lib/Files/JsonText.h"
#include "lib/Parallel/TaskQueue.h"
#include "lib/Quantities/Printable.h"
#include "lib/Transforms/OpenText.h"
#include "tools/nb-lsp-server/Hover.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/LSP/Protocol.h"
#include "llvm/Support/LSP/Transport.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstdio>
#include <map>
#include <mutex>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::nb;
namespace json = llvm::json;
namespace protocol = llvm::lsp;

namespace {
/// How the client wants messages to look.
struct Style {
  protocol::JSONStreamStyle input = protocol::JSONStreamStyle::Standard;
  bool pretty = false;
};

void write(std::FILE *to, StringRef message) {
  const std::string text = llvm::formatv("Content-Length: {0}\r\n\r\n{1}", message.size(), message);
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
}

class Proxy {
public:
  Proxy(const DialectRegistry &registry, Style style, std::FILE *toServer, std::FILE *fromServer)
      : registry(registry), style(style), toServer(toServer), fromServer(fromServer) {}

  /// Until the client has no more to say.
  void handOnRequests() {
    protocol::JSONTransportInputOverFile client(stdin, style.input);
    for (std::string message; !client.isEndOfInput() && !client.hasError();)
      if (succeeded(client.readMessage(message))) {
        if (nanobragg::io::jsonDepth(message) > nanobragg::io::deepestJson) {
          answer(
              R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"nested too deeply"}})");
          continue;
        }
        write(toServer, noted(message));
      }
    std::fclose(toServer);
  }

  /// Until the server has ended.
  void handOnAnswers() {
    protocol::JSONTransportInputOverFile server(fromServer);
    for (std::string message; !server.isEndOfInput() && !server.hasError();)
      if (succeeded(server.readMessage(message)))
        answer(completed(message));
  }

private:
  void answer(StringRef message) {
    const std::lock_guard<std::mutex> lock(writing);
    write(stdout, message);
  }

  /// Keeps the documents as the client has them, and what there is to say where it asks. The
  /// message as the server can take it.
  std::string noted(const std::string &message) {
    auto parsed = json::parse(message);
    json::Object *object = parsed ? parsed->getAsObject() : nullptr;
    if (!parsed)
      llvm::consumeError(parsed.takeError());
    json::Value *parameters = object ? object->get("params") : nullptr;
    const StringRef method = object ? object->getString("method").value_or("") : "";
    if (!parameters)
      return message;
    json::Path::Root root;
    bool differs = false;
    if (protocol::DidOpenTextDocumentParams opened;
        method == "textDocument/didOpen" && fromJSON(*parameters, opened, root)) {
      const std::string uri = opened.textDocument.uri.uri().str();
      documents[uri] = opened.textDocument.text;
      differs = isCutOut(uri);
      if (differs)
        (*parameters->getAsObject()->getObject("textDocument"))["text"] = "";
    } else if (protocol::DidChangeTextDocumentParams changed;
               method == "textDocument/didChange" && fromJSON(*parameters, changed, root)) {
      const std::string uri = changed.textDocument.uri.uri().str();
      (void)protocol::TextDocumentContentChangeEvent::applyTo(changed.contentChanges,
                                                              documents[uri]);
      const bool before = cutOut.contains(uri), now = isCutOut(uri);
      differs = before || now;
      if (differs) // the server's text is not the client's
        (*parameters->getAsObject())["contentChanges"] =
            json::Array{json::Object{{"text", now ? "" : documents[uri]}}};
    } else if (protocol::TextDocumentPositionParams asked;
               method == "textDocument/hover" && fromJSON(*parameters, asked, root)) {
      const std::string uri = asked.textDocument.uri.uri().str();
      const std::string text = cutOut.contains(uri)
                                   ? ""
                                   : hoverText(documents[uri], unsigned(asked.position.line),
                                               unsigned(asked.position.character), registry);
      const json::Value *id = object->get("id");
      const std::lock_guard<std::mutex> lock(mutex);
      if (id && !text.empty())
        answers[llvm::formatv("{0}", *id).str()] = text;
    }
    return differs ? llvm::formatv("{0}", *parsed).str() : message;
  }

  /// Is its text too deep for the server, or would it crash it? The server gets none then.
  bool isCutOut(const std::string &uri) {
    const std::string why = whyNotRead(documents[uri]);
    const std::lock_guard<std::mutex> lock(mutex);
    why.empty() ? void(cutOut.erase(uri)) : void(cutOut[uri] = why);
    return !why.empty();
  }

  std::string whyNotRead(const std::string &text) {
    if (textDepth(text) > deepestText)
      return "the program is nested more than " + std::to_string(deepestText) + " times";
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    context.allowUnregisteredDialects(); // as MLIR's server does
    const std::string crash = crashOfReading(llvm::MemoryBufferRef(text, "program"), context);
    return crash.empty() ? "" : "the program " + crash;
  }

  std::string completed(const std::string &message) {
    auto parsed = json::parse(message);
    if (!parsed) {
      llvm::consumeError(parsed.takeError());
      return message;
    }
    if (json::Object *object = parsed->getAsObject()) {
      complete(*object);
      sayCutOut(*object);
      makePrintable(*object);
    }
    return style.pretty ? llvm::formatv("{0:2}", *parsed).str()
                        : llvm::formatv("{0}", *parsed).str();
  }

  /// Why a document has no diagnostics of the server.
  void sayCutOut(json::Object &message) {
    json::Object *parameters = message.getObject("params");
    const auto uri = parameters ? parameters->getString("uri") : std::nullopt;
    const std::lock_guard<std::mutex> lock(mutex);
    if (!uri || !parameters->getArray("diagnostics") || !cutOut.contains(uri->str()))
      return;
    const json::Object start{{"line", 0}, {"character", 0}};
    (*parameters)["diagnostics"] = json::Array{json::Object{
        {"range", json::Object{{"start", json::Object(start)}, {"end", json::Object(start)}}},
        {"severity", 1},
        {"source", "mlir"},
        {"message", cutOut.at(uri->str())}}};
  }

  /// Diagnostics quote the program.
  static void makePrintable(json::Object &message) {
    if (json::Object *parameters = message.getObject("params"))
      makePrintable(parameters->getArray("diagnostics"));
  }

  static void makePrintable(json::Array *diagnostics) {
    if (!diagnostics)
      return;
    for (json::Value &diagnostic : *diagnostics)
      if (json::Object *object = diagnostic.getAsObject()) {
        if (const auto text = object->getString("message"))
          (*object)["message"] = nanobragg::printable(*text);
        makePrintable(object->getArray("relatedInformation"));
      }
  }

  /// Our text ahead of the server's, or alone where that has none.
  void complete(json::Object &message) {
    const json::Value *id = message.get("id");
    std::string text;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      const auto found = id ? answers.find(llvm::formatv("{0}", *id).str()) : answers.end();
      if (found == answers.end() || !message.get("result"))
        return;
      text = found->second;
      answers.erase(found);
    }
    if (json::Object *result = message.getObject("result"))
      if (json::Object *contents = result->getObject("contents")) {
        const std::string rest = contents->getString("value").value_or("").str();
        (*contents)["value"] = text + "\n---\n" + rest;
        return;
      }
    message["result"] =
        json::Object{{"contents", json::Object{{"kind", "markdown"}, {"value", text}}}};
  }

  const DialectRegistry &registry;
  Style style;
  std::FILE *toServer, *fromServer;
  std::map<std::string, std::string> documents; ///< by URI
  std::mutex mutex, writing;
  std::map<std::string, std::string> cutOut;  ///< why the server has documents without their text
  std::map<std::string, std::string> answers; ///< by the id of the request
};

/// Takes what concerns the client's messages off the command line.
Style takeStyle(int argc, char **argv, std::vector<char *> &rest) {
  Style style;
  for (int i = 0; i < argc; ++i) {
    const StringRef word = StringRef(argv[i]).ltrim('-');
    const bool option = i > 0 && StringRef(argv[i]).starts_with("-");
    if (option && (word == "lit-test" || word == "input-style=delimited"))
      style.input = protocol::JSONStreamStyle::Delimited;
    if (option && (word == "lit-test" || word == "pretty"))
      style.pretty = true;
    if (!option || (word != "lit-test" && word != "pretty" && !word.starts_with("input-style")))
      rest.push_back(argv[i]);
  }
  return style;
}
} // namespace

int nb::serve(int argc, char **argv, const DialectRegistry &registry) {
  std::vector<char *> words;
  const Style style = takeStyle(argc, argv, words);
  int requests[2], answers[2];
  if (::pipe(requests) != 0 || ::pipe(answers) != 0) {
    std::perror("nb-lsp-server: error: no pipe to MLIR's server");
    return 1;
  }
  std::signal(SIGPIPE, SIG_IGN); // a server that has ended is noticed by its answers' end
  const pid_t server = ::fork();
  if (server == 0) {
    ::dup2(requests[0], STDIN_FILENO);
    ::dup2(answers[1], STDOUT_FILENO);
    for (int descriptor : {requests[0], requests[1], answers[0], answers[1]})
      ::close(descriptor);
    DialectRegistry own;
    registry.appendTo(own);
    ::_exit(failed(MlirLspServerMain(int(words.size()), words.data(), own)));
  }
  if (server < 0) {
    std::perror("nb-lsp-server: error: MLIR's server cannot be started");
    return 1;
  }
  ::close(requests[0]);
  ::close(answers[1]);
  Proxy proxy(registry, style, ::fdopen(requests[1], "w"), ::fdopen(answers[0], "r"));
  // Waits for the client for as long as there is one; the end of the server is the end of all.
  nanobragg::TaskQueue reader(1);
  reader.add([&] { proxy.handOnRequests(); });
  proxy.handOnAnswers();
  int status = 0;
  ::waitpid(server, &status, 0);
  std::fflush(stdout);
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}
