// The lattice factor of a plugin --------*- tablegen -*.

include "dialect/NBDialect.td"
include "dialect/NBTypes.td"

def Own_Dialect : Dialect {
  let name = "own";
  let cppNamespace = "::own";
}

def Own_LorentzFactorOp : Op<Own_Dialect, "lorentz_factor", [Pure,
    AllTypesMatch<["hkl", "ncells"]>, NB_ElementOf<"hkl", "result">,
    DeclareOpInterfaceMethods<ExpandableOp>, DeclareOpInterfaceMethods<DifferentiableOp>]> {
  let summary = "amplitude of a Lorentzian spot";
  let description = [{
    `Na Nb Nc / (1 + pi^(4/3) |N delta|^2)`, delta = hkl - nearest(hkl), N = (Na, Nb, Nc). The
    integral of its square over a reflection is Na Nb Nc, as for `nb.lattice_factor square`.
  }];
  let arguments = (ins NB_Vec3:$hkl, NB_Vec3:$ncells);
  let results = (outs NB_Scalar:$result);
  let assemblyFormat = "$hkl `,` $ncells attr-dict `:` type($hkl)";
}
