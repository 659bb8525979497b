// Quotients and roots on a GPU.
//
// The instructions of PTX for them branch on data and call a subroutine where a number is not
// normal. These do neither: denormal divisors count as 0.
#ifndef NB_CONVERSION_DIVISIONTONVVM_H
#define NB_CONVERSION_DIVISIONTONVVM_H

namespace mlir {
class LLVMTypeConverter;
class RewritePatternSet;
namespace nb {

void populateDivisionToNVVMPatterns(const LLVMTypeConverter &converter,
                                    RewritePatternSet &patterns);

} // namespace nb
} // namespace mlir

#endif
