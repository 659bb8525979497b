#include "lib/Files/Module.h"
#include "lib/MPI/Ranks.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace nanobragg {

std::optional<Launch> launch() {
  // Open MPI; MPICH, Intel MPI and Cray's launchers; MVAPICH; a step of Slurm, whatever its plugin.
  for (const char *variable :
       {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char *text = std::getenv(variable);
    int size = 0;
    if (text && std::from_chars(text, text + std::strlen(text), size).ec == std::errc() && size > 1)
      return Launch{variable, size};
  }
  return std::nullopt;
}

std::unique_ptr<Ranks> openRanks(const Launch &launch) {
  const std::string otherwise =
      "; or share the series without MPI: --shard=I/N, with another I for each process";
  const MpiModule *module = nullptr;
  try {
    module =
        static_cast<const MpiModule *>(io::openModule("libnb-mpi.so", "nb_mpi_module", "MPI runs"));
  } catch (const std::runtime_error &error) {
    throw std::runtime_error(error.what() + otherwise);
  }
  if (std::strcmp(module->version, NB_VERSION) != 0)
    throw std::runtime_error(std::string("libnb-mpi.so is of version ") + module->version +
                             " and this program of " NB_VERSION "; install both together");
  std::unique_ptr<Ranks> ranks(module->open());
  if (ranks->size() != launch.size)
    throw std::runtime_error(
        std::string("the launcher started ") + std::to_string(launch.size) + " processes (" +
        launch.variable + "), but " + module->library() +
        ", with which libnb-mpi.so was built, sees " + std::to_string(ranks->size()) +
        "; use the launcher of that MPI (with Slurm, srun --mpi=pmix or another of --mpi=list)" +
        otherwise);
  return ranks;
}

} // namespace nanobragg
