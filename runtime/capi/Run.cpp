#include "runtime/capi/Status.h"
#include "runtime/kernels/KernelProvider.h"

using namespace nanobragg;

nb_status nb_image_shape(const nb_simulator *s, int64_t shape[3]) {
  return locked(s, [&] {
    given(shape, "the place for the shape");
    const ImageShape image = s->values.shape();
    shape[0] = image.panels;
    shape[1] = image.slow;
    shape[2] = image.fast;
  });
}

nb_status nb_run(nb_simulator *s, const nb_run_options *options, void *image, size_t bytes) {
  bool cancelled = false;
  const nb_status status = locked(s, [&] {
    const bool renders = s->kernel().outputs[0].kind == NB_OUTPUT_IMAGE;
    if (renders)
      given(image, "the image");
    else if (image)
      throw std::invalid_argument("the kernel renders no image; pass NULL");
    const std::vector<const void *> arguments = s->values.arguments();
    const ImageShape shape = s->values.shape();
    const std::size_t needed =
        std::size_t(renders ? shape.pixels() : 0) *
        (s->kernel().image_type == NB_IMAGE_F32 ? sizeof(float) : sizeof(double));
    if (bytes != needed)
      throw std::invalid_argument("the image has " + std::to_string(bytes) + " bytes of the " +
                                  std::to_string(needed) + " that it needs");
    std::shared_ptr<CancellationToken> token;
    {
      std::lock_guard lock(s->cancelMutex);
      token = s->cancel;
    }
    RunOptions run;
    run.cancel = token.get();
    run.threads = s->threads;
    if (options) {
      if (options->threads)
        run.threads = options->threads;
      if (options->progress)
        run.progress = [&](double fraction) { options->progress(options->context, fraction); };
    }
    s->complete = false;
    s->outputs.resize(outputSizes(s->kernel(), arguments.data(), shape), image);
    cancelled =
        s->program.run(arguments.data(), shape, s->values.rows(), s->outputs.addresses(), run)
            .cancelled;
    s->complete = !cancelled;
    std::lock_guard lock(s->cancelMutex);
    if (cancelled)
      s->cancel = std::make_shared<CancellationToken>();
  });
  return status == NB_OK && cancelled ? failed(NB_CANCELLED, "the run was cancelled") : status;
}

nb_status nb_get_output(const nb_simulator *s, const char *name, double *values, int64_t capacity,
                        int64_t *count) {
  return locked(s, [&] {
    given(name, "the name");
    if (!s->complete)
      throw std::invalid_argument("there are no outputs before a run has completed");
    if (s->outputs.isFloat(name))
      handOut(s->outputs.floats(name), values, capacity, count);
    else
      handOut(s->outputs.numbers(name), values, capacity, count);
  });
}

void nb_cancel(nb_simulator *s) {
  if (!s)
    return;
  std::lock_guard lock(s->cancelMutex);
  s->cancel->request();
}

void nb_get_counters(nb_counters *counters) {
  if (!counters)
    return;
  *counters = {};
  guarded([&] {
    const KernelCounters count = KernelProvider::ofProcess().counters();
    *counters = {count.hits, count.loads, count.compiles};
    return NB_OK;
  });
}
