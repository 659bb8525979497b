"""The compiler of nanobragg: libnb-compiler.so beside this file, which nanobragg opens when a
kernel has to be made."""
