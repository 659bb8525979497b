#include "lib/Compiler/CodeGen/Stats/InstructionKind.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Regex.h"

using namespace llvm;
using namespace mlir::nb;
using Kind = InstructionKind;

StringRef mlir::nb::nameOf(Kind kind) {
  static constexpr StringLiteral names[numKinds] = {
      "multiply-add", "add, multiply", "divide, root", "convert", "compare, select", "shuffle",
      "load",         "store",         "integer",      "move",    "branch",          "wait"};
  return names[unsigned(kind)];
}

std::string mlir::nb::keyOf(Kind kind) {
  std::string key;
  for (char c : nameOf(kind))
    if (c != ',')
      key += c == ' ' || c == '-' ? '_' : c;
  return key;
}

namespace {
/// The first row that matches decides.
struct Row {
  const char *pattern;
  Kind kind;
};

constexpr Row x86[] = {
    {"^V?FN?M(ADD|SUB)", Kind::MultiplyAdd},
    {"^V?H?(ADD|SUB|MUL)[PS][SD]", Kind::AddMultiply},
    {"^V?(DIV[PS]|R?SQRT|RCP)", Kind::Divide},
    {"^V?CVT", Kind::Convert},
    {"^V?(CMP|U?COMI|MAX|MIN|BLENDV?|ANDN?|OR|XOR|ROUND|RNDSCALE|RANGE|FIXUPIMM|GETEXP|GETMANT|"
     "SCALEF|REDUCE|TEST)[PS][SD]",
     Kind::Compare},
    {"^V?(P?BROADCAST|P?PERM|P?UNPCK|P?SHUF|INSERT|EXTRACT|PEXTR|PINSR|PACK|P?ALIGN|MOVDDUP|MOVH|"
     "MOVMSK|PMOVMSK|P?COMPRESS|P?EXPAND)",
     Kind::Shuffle},
    {"^(V?MOV|V?PMOV|V?P?MASKMOV|KMOV|V?P?GATHER|V?P?SCATTER|PUSH|POP|LEA)", Kind::Move},
};
constexpr Row arm[] = {
    {"^(FML[AS]|FN?M(ADD|SUB))", Kind::MultiplyAdd},
    {"^F(ADD|SUB|MUL|NMUL|ABD)", Kind::AddMultiply},
    {"^F(DIV|SQRT|RECP|RSQRT)", Kind::Divide},
    {"^(FCVT|[SU]CVTF)", Kind::Convert},
    {"^(F(CM|CSEL|CCMP|MAX|MIN|ABS|NEG|RINT)|BSL|BI[TF]v)", Kind::Compare},
    {"^(ZIP|UZP|TRN|EXT|DUP|INS|TBL|XTN|[US]MOV)", Kind::Shuffle},
    {"^(LD|ST|FMOV|MOV|MVN|ADR|ORRXrs$|ORRv16i8)", Kind::Move},
};
constexpr Row amd[] = {
    {"^S_(WAIT|NOP|DELAY|CLAUSE|SENDMSG)", Kind::Wait},
    {"^DS_(B?PERMUTE|SWIZZLE)", Kind::Shuffle},
    {"^(S_(BUFFER_)?LOAD|S_(DC|ICACHE)|GLOBAL|FLAT|BUFFER|SCRATCH|DS_)", Kind::Move},
    {"^V_(DUAL_|PK_)?(FMA[A-Z]*|MAC|MAD|DIV_FMAS)_F", Kind::MultiplyAdd},
    {"^V_(DUAL_|PK_)?(ADD|SUB|SUBREV|MUL|DIV_FIXUP|LDEXP|FRACT)(_LEGACY)?_F", Kind::AddMultiply},
    {"^V_(RCP|RSQ|SQRT|DIV_SCALE|SIN|COS|EXP|LOG)(_IFLAG)?_F", Kind::Divide},
    {"^V_CVT_", Kind::Convert},
    {"^V_(DUAL_)?(CMPX?_[A-Z]+|MAX|MIN|RNDNE|FLOOR|CEIL|TRUNC|MED3)(_NUM)?_F", Kind::Compare},
    {"^V_(DUAL_)?CNDMASK", Kind::Compare},
    {"^([VS]_(DUAL_)?MOVK?_|V_(READ|WRITE)(FIRST)?LANE|V_ACCVGPR)", Kind::Move},
};
constexpr Row nvidia[] = {
    {"^FMA_", Kind::MultiplyAdd},
    {"^F(ADD|SUB|MUL)", Kind::AddMultiply},
    {"^(INT_NVVM_RCP|R?SQRT|RCP|DIV_|FDIV|SIN|COS|EX2|LG2)", Kind::Divide},
    {"^CVT_(f|[a-z0-9]+_f)", Kind::Convert},
    {"^(SETP_f|SELP|FM(AX|IN))", Kind::Compare},
    {"^(SHFL|anonymous_)", Kind::Shuffle}, // LLVM has no names for those between threads
    {"^LD", Kind::Load},
    {"^(ST_|STV|ATOM|RED)", Kind::Store},
    {"^(MOV|FNEG|FABS|cvta|CVT_[us]|I64toI32|I32toI64|INT_PTX_SREG|NOT_pred|TRUNC)", Kind::Move},
};
constexpr Row spirv[] = {
    {"^OpF(Add|Sub|Mul)", Kind::AddMultiply},
    {"^Op(FDiv|FRem|ExtInst)", Kind::Divide},
    {"^Op(FConvert|Convert)", Kind::Convert},
    {"^Op(FOrd|FUnord|Select|FNegate)", Kind::Compare},
    {"^Op(GroupNonUniform|VectorShuffle|Composite)", Kind::Shuffle},
    {"^Op(Load|Store|Atomic|Bitcast|CopyObject|Phi|SConvert|UConvert)", Kind::Move},
};

ArrayRef<Row> tableOf(const Triple &target) {
  if (target.isX86())
    return x86;
  if (target.isAArch64())
    return arm;
  if (target.isAMDGCN())
    return amd;
  return target.isNVPTX() ? ArrayRef<Row>(nvidia) : ArrayRef<Row>(spirv);
}
} // namespace

/// Patterns are compiled once for each thread: a kernel has thousands of instructions.
static bool matches(StringRef pattern, StringRef name) {
  thread_local StringMap<Regex> compiled;
  return compiled.try_emplace(pattern, pattern).first->second.match(name);
}

unsigned mlir::nb::bytesOf(StringRef name) {
  SmallVector<StringRef> parts;
  unsigned bits = 0, elements = 1;
  if (!Regex("_(v([248]))?[iuf]([0-9]+)").match(name, &parts) || parts[3].getAsInteger(10, bits))
    return 0;
  (void)parts[2].getAsInteger(10, elements);
  return bits / 8 * elements;
}

static NumberType typeOf(StringRef name, const Triple &target) {
  const auto [f64, f32] = target.isX86() ? std::pair("[PS]D", "[PS]S")
                          : target.isAArch64()
                              ? std::pair("f64|i64|D(r|i|$)|FCVTSD|X[DS]?r", "f32|i32|S(r|i|$)")
                              : std::pair("[fF]64|_D$", "[fF]32");
  return matches(f64, name)   ? NumberType::F64
         : matches(f32, name) ? NumberType::F32
                              : NumberType::Other;
}

bool mlir::nb::isGpu(const Triple &target) {
  return target.isNVPTX() || target.isAMDGCN() || target.isSPIRV();
}

static bool isFloating(Kind kind) { return kind <= Kind::Compare; }

/// LLVM's SPIR-V has the declarations of a module among the instructions, and a fused
/// multiplication and addition is number 26 of OpenCL's extended instructions.
static std::optional<InstructionClass> adapted(InstructionClass found, const MachineInstr &in,
                                               StringRef name) {
  if (matches("^Op(Name|Decorate|Type|Constant|Variable|Function|EntryPoint|Undef|Label|LoopMerge|"
              "SelectionMerge|ExtInstImport)",
              name))
    return std::nullopt;
  constexpr unsigned number = 3;
  if (name == "OpExtInst" && in.getNumOperands() > number && in.getOperand(number).isImm() &&
      in.getOperand(number).getImm() == 26)
    found.kind = Kind::MultiplyAdd;
  return found;
}

/// Pairs of registers take two instructions; signs are part of the instruction that uses the
/// number, and ptxas needs no moves between registers.
static unsigned issuedOf(Kind kind, StringRef name) {
  if (kind == Kind::Move)
    return 0;
  return matches("^(ADD|SUB|SHL|SRL|SRA|AND|OR|XOR|[SU]M(AX|IN)|MULT|MAD)[A-Z_]*(_[a-z])?64|_S64|"
                 "^SELP_[fb]64|^SETP_[iu]64",
                 name)
             ? 2
             : 1;
}

std::optional<InstructionClass> mlir::nb::classOf(const MachineInstr &in, StringRef name,
                                                  const Triple &target) {
  InstructionClass found;
  for (const Row &row : tableOf(target))
    if (matches(row.pattern, name)) {
      found.kind = row.kind;
      break;
    }
  if (in.isBranch() || in.isReturn() || in.isCall())
    found.kind = Kind::Branch;
  else if (found.kind == Kind::Move || (found.kind == Kind::Shuffle && !isGpu(target)))
    found.kind = in.mayStore() ? Kind::Store : in.mayLoad() ? Kind::Load : found.kind;
  if (isFloating(found.kind))
    found.type = typeOf(name, target);
  if (target.isNVPTX()) {
    if (name.starts_with("SELP"))
      found.type = NumberType::Other;
    found.issued = issuedOf(found.kind, name);
  }
  found.scalar = target.isAMDGCN() && !matches("^(V_(DUAL_)?[A-QS-VX-Z]|V_R(CP|SQ|NDNE)|GLOBAL|"
                                               "FLAT|BUFFER|SCRATCH|DS_)",
                                               name);
  if (target.isSPIRV())
    return adapted(found, in, name);
  return found;
}
