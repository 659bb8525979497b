// Images and their derivatives as custom calls of XLA's typed FFI.
#include "runtime/python/bindings/Function.h"

#include "xla/ffi/api/ffi.h"

#include <exception>

namespace nanobragg::python {
namespace {

namespace ffi = xla::ffi;
using Buffer = ffi::AnyBuffer;
using Result = ffi::Result<ffi::AnyBuffer>;

/// Doubles of a buffer, which has these or floats.
class Numbers {
public:
  explicit Numbers(const Buffer &buffer)
      : Numbers(buffer.element_type(), buffer.element_count(), buffer.untyped_data()) {}
  std::span<const double> span() const { return {data, size}; }

private:
  Numbers(ffi::DataType type, std::size_t count, const void *memory) : size(count) {
    if (type == ffi::F64) {
      data = static_cast<const double *>(memory);
    } else if (type == ffi::F32) {
      const auto *floats = static_cast<const float *>(memory);
      copy.assign(floats, floats + count);
      data = copy.data();
    } else {
      throw std::invalid_argument("images are functions of float32 or float64 numbers");
    }
  }

  const double *data = nullptr;
  std::size_t size;
  std::vector<double> copy;
};

/// Calls `compute` with doubles that go into a buffer of doubles or floats.
template <typename Compute>
void into(Buffer &buffer, Compute compute) {
  const std::size_t size = buffer.element_count();
  if (buffer.element_type() == ffi::F64) {
    compute(std::span(static_cast<double *>(buffer.untyped_data()), size));
  } else {
    std::vector<double> doubles(size);
    compute(std::span(doubles));
    std::copy(doubles.begin(), doubles.end(), static_cast<float *>(buffer.untyped_data()));
  }
}

template <typename Work>
ffi::Error guarded(Work work) {
  try {
    work();
    return ffi::Error::Success();
  } catch (const std::invalid_argument &error) {
    return ffi::Error(ffi::ErrorCode::kInvalidArgument, error.what());
  } catch (const std::exception &error) {
    return ffi::Error(ffi::ErrorCode::kInternal, error.what());
  }
}

Function &at(std::int64_t address) { return *reinterpret_cast<Function *>(address); }

/// How many vectors of the function there are one after another.
std::size_t shotsOf(const Function &function, const Numbers &theta) {
  return function.length ? theta.span().size() / function.length : 1;
}

ffi::Error image(std::int64_t function, Buffer theta, Result out) {
  return guarded([&] {
    Function &f = at(function);
    const Numbers t(theta);
    into(*out, [&](auto to) { f.image(shotsOf(f, t), t.span(), to, Caller::Xla); });
  });
}

ffi::Error vjp(std::int64_t function, Buffer theta, Buffer cotangent, Result out) {
  return guarded([&] {
    Function &f = at(function);
    const Numbers t(theta), ct(cotangent);
    into(*out, [&](auto to) { f.vjp(shotsOf(f, t), t.span(), ct.span(), to, Caller::Xla); });
  });
}

ffi::Error jvp(std::int64_t function, Buffer theta, Buffer v, Result out) {
  return guarded([&] {
    Function &f = at(function);
    const Numbers t(theta), direction(v);
    into(*out, [&](auto to) { f.jvp(shotsOf(f, t), t.span(), direction.span(), to, Caller::Xla); });
  });
}

ffi::Error hvp(std::int64_t function, Buffer theta, Buffer v, Buffer cotangent, Result out) {
  return guarded([&] {
    Function &f = at(function);
    const Numbers t(theta), direction(v), ct(cotangent);
    into(*out, [&](auto to) {
      f.hvp(shotsOf(f, t), t.span(), direction.span(), ct.span(), to, Caller::Xla);
    });
  });
}

XLA_FFI_DEFINE_HANDLER(imageCall, image,
                       ffi::Ffi::Bind().Attr<std::int64_t>("function").Arg<Buffer>().Ret<Buffer>());
XLA_FFI_DEFINE_HANDLER(
    vjpCall, vjp,
    ffi::Ffi::Bind().Attr<std::int64_t>("function").Arg<Buffer>().Arg<Buffer>().Ret<Buffer>());
XLA_FFI_DEFINE_HANDLER(
    jvpCall, jvp,
    ffi::Ffi::Bind().Attr<std::int64_t>("function").Arg<Buffer>().Arg<Buffer>().Ret<Buffer>());
XLA_FFI_DEFINE_HANDLER(hvpCall, hvp,
                       ffi::Ffi::Bind()
                           .Attr<std::int64_t>("function")
                           .Arg<Buffer>()
                           .Arg<Buffer>()
                           .Arg<Buffer>()
                           .Ret<Buffer>());

} // namespace

void bindJax(nb::module_ &module) {
  module.def("jax_targets", [] {
    nb::dict targets;
    const auto add = [&](const char *name, auto *handler) {
      targets[name] = nb::capsule(reinterpret_cast<void *>(handler));
    };
    add("nanobragg_image", imageCall);
    add("nanobragg_vjp", vjpCall);
    add("nanobragg_jvp", jvpCall);
    add("nanobragg_hvp", hvpCall);
    return targets;
  });
}

} // namespace nanobragg::python
