#include "lib/Process/CodeFolders.h"
#include "lib/Process/Refusal.h"
#include "runtime/kernels/KernelProvider.h"
#include "test/Runtime/RequestNamed.h"
#include "test/Runtime/TestKernels.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <optional>

using namespace nanobragg;
using namespace nanobragg::test;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

// A compiler that answers every request with the wave kernel.
struct nb_kernel {};

namespace {

int released = 0;

char *copyText(const char *text) { return strdup(text); }

const nb_compiler_api fakeApi = [] {
  nb_compiler_api api = {};
  api.version = NB_COMPILER_API_VERSION;
  api.request_size = sizeof(CompileRequest);
  api.compile = [](const nb_compile_request *request, nb_kernel **kernel, char **error) {
    if (request->variant == variantNamed("bad") || request->engine == Engine::Interpreter) {
      *error = copyText("no such variant");
      return 1;
    }
    *kernel = new nb_kernel;
    return 0;
  };
  api.descriptor = [](const nb_kernel *) { return &waveKernel(); };
  api.release = [](nb_kernel *kernel) {
    delete kernel;
    ++released;
  };
  api.emit = [](const nb_compile_request *request, const char *stage, char **text, char **) {
    *text = copyText((std::string(stage) + " of " + request->variant.toString()).c_str());
    return 0;
  };
  api.free_text = [](char *text) { std::free(text); };
  return api;
}();

std::shared_ptr<const CompilerLibrary> fakeLibrary() {
  return std::make_shared<const CompilerLibrary>(fakeApi);
}

class EnvironmentVariable {
public:
  EnvironmentVariable(const char *name, const char *value) : name(name) {
    if (const char *old = std::getenv(name))
      saved = old;
    setenv(name, value, 1);
  }
  ~EnvironmentVariable() { saved ? setenv(name, saved->c_str(), 1) : unsetenv(name); }

private:
  const char *name;
  std::optional<std::string> saved;
};

TEST(CompilerLibrary, MissingFileIsOneClearSentence) {
  EnvironmentVariable variable("NB_COMPILER_LIBRARY", "/nonexistent/libnb-compiler.so");
  EXPECT_THAT([] { CompilerLibrary::open(); },
              ThrowsMessage<std::runtime_error>(AllOf(HasSubstr("cannot open the compiler library"),
                                                      HasSubstr("/nonexistent/libnb-compiler.so"),
                                                      HasSubstr("NB_COMPILER_LIBRARY"))));
}

TEST(CompilerLibrary, RefusesALibraryThatIsNoCompiler) {
  Dl_info libc;
  ASSERT_TRUE(dladdr(reinterpret_cast<void *>(&std::srand), &libc));
  EnvironmentVariable variable("NB_COMPILER_LIBRARY",
                               std::filesystem::canonical(libc.dli_fname).c_str());
  EXPECT_THAT([] { CompilerLibrary::open(); },
              ThrowsMessage<std::runtime_error>(HasSubstr("nb_compiler_get_api")));
}

TEST(CompilerLibrary, LooksBesideTheExecutable) {
  // Without a library of its own around this code, nothing goes before the program's neighbour.
  const auto folders = codeFolders();
  ASSERT_FALSE(folders.empty());
  EXPECT_EQ(folders.front(),
            std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib");
}

TEST(CompilerLibrary, RelativeNameIsRefused) {
  EnvironmentVariable variable("NB_COMPILER_LIBRARY", "libnb-compiler.so");
  EXPECT_THAT([] { CompilerLibrary::open(); },
              ThrowsMessage<Refusal>(HasSubstr("NB_COMPILER_LIBRARY names 'libnb-compiler.so'")));
}

TEST(CompilerLibrary, PassesOnTheCompilersSentence) {
  EXPECT_THAT([] { fakeLibrary()->compile(requestNamed("bad")); },
              ThrowsMessage<std::runtime_error>("no such variant"));
}

TEST(CompilerLibrary, KernelIsReleasedWithItsLastHandle) {
  released = 0;
  KernelHandle kernel = fakeLibrary()->compile(requestNamed("x"));
  KernelHandle second = kernel;
  EXPECT_EQ(kernel.get(), &waveKernel());
  kernel.reset();
  EXPECT_EQ(released, 0);
  second.reset();
  EXPECT_EQ(released, 1);
}

TEST(CompilerLibrary, EmitsText) {
  EXPECT_EQ(fakeLibrary()->emit(requestNamed("x"), "llvm"), "llvm of " + variantText("x"));
}

TEST(KernelProvider, CompilesAKernelOnce) {
  KernelProvider provider(fakeLibrary);
  const KernelHandle first = provider.get(requestNamed("x"));
  EXPECT_EQ(provider.get(requestNamed("x")), first);
  EXPECT_EQ(provider.counters().compiles, 1u);
  EXPECT_EQ(provider.counters().hits, 1u);
}

TEST(KernelProvider, EveryChoiceThatDecidesTheCodeIsInTheKey) {
  KernelProvider provider(fakeLibrary);
  provider.get(requestNamed("x"));
  provider.get(requestNamed("y"));
  KernelRequest mixed = requestNamed("x"), other = mixed, interpreted = mixed;
  mixed.precision = Precision::Mixed;
  provider.get(mixed);
  other.target = KernelTarget::fromString("x86-64-v3");
  provider.get(other);
  EXPECT_EQ(provider.counters().compiles, 4u);
  interpreted.engine = Engine::Interpreter;
  EXPECT_ANY_THROW(provider.get(interpreted));
}

TEST(KernelProvider, ADumpAlwaysCompiles) {
  KernelProvider provider(fakeLibrary);
  provider.get(requestNamed("x"));
  KernelRequest dumped = requestNamed("x");
  dumped.dumpIR = "dir";
  provider.get(dumped);
  EXPECT_EQ(provider.counters().compiles, 2u);
}

TEST(KernelProvider, FailureIsNotRemembered) {
  KernelProvider provider(fakeLibrary);
  EXPECT_ANY_THROW(provider.get(requestNamed("bad")));
  EXPECT_ANY_THROW(provider.get(requestNamed("bad")));
  EXPECT_EQ(provider.counters().hits, 0u);
}

TEST(KernelProvider, PreloadErrorAppearsWhenTheCompilerIsNeeded) {
  KernelProvider provider([]() -> std::shared_ptr<const CompilerLibrary> {
    throw std::runtime_error("no compiler here");
  });
  provider.preload();
  EXPECT_THAT([&] { provider.get(requestNamed("x")); },
              ThrowsMessage<std::runtime_error>("no compiler here"));
}

} // namespace
