// All of the nb dialect --------------------*- tablegen -*.
include "IterationOps.td"
include "GeometryOps.td"
include "DiffractionOps.td"
include "InstrumentationOps.td"
