// All of the nb dialect --------------------*- tablegen -*.
include "IterationOps.td"
include "GeometryOps.td"
include "DiffractionOps.td"
include "TableOps.td"
include "DisorderOps.td"
include "ResponseOps.td"
include "InstrumentationOps.td"
include "MemoryOps.td"
