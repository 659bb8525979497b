"""MLIR with the nb dialect for nanobragg.mlir: libMLIRPythonCAPI.so beside this file."""
