# What Debian's policy asks of each package beyond the files of an installed tree: terms, a changelog,
# and compressed manual pages. CPack runs this ahead of packing.
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  set(tree ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr)
  if(NOT EXISTS ${tree})
    continue()
  endif()
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(doc ${tree}/share/doc/${package})
  file(MAKE_DIRECTORY ${doc})
  file(READ ${CPACK_NB_SOURCE}/LICENSE licence)
  file(WRITE ${doc}/copyright
       "Upstream-Name: nanobragg-mlir\nSource: the archive of version ${CPACK_PACKAGE_VERSION}\n\n${licence}")
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  file(WRITE ${doc}/changelog "${package} (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n"
       "  * Release ${CPACK_PACKAGE_VERSION}; CHANGELOG.md of the source has what users notice.\n\n"
       " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  file(GLOB pages ${tree}/share/man/man1/*.1)
  execute_process(COMMAND gzip -9nf ${doc}/changelog ${pages} COMMAND_ERROR_IS_FATAL ANY)
endforeach()

# What lintian objects to and is meant so. Plugins of our programs stand beside the library that opens
# them, without versions; LLVM is found in Debian's folder of that version; png and zlib are linked in
# so that a cached kernel starts in milliseconds (docs/rationale/threads.md).
set(meant_runtime package-name-doesnt-match-sonames shared-library-lacks-version
    link-to-shared-library-in-wrong-package embedded-library)
set(meant_compiler package-name-doesnt-match-sonames shared-library-lacks-version
    custom-library-search-path sharedobject-in-library-directory-missing-soname no-manual-page)
set(meant_mpi package-name-doesnt-match-sonames shared-library-lacks-version)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  set(tree ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr)
  if(EXISTS ${tree})
    string(TOUPPER ${component} upper)
    set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
    list(TRANSFORM meant_${component} PREPEND "${package}: ")
    list(JOIN meant_${component} "\n" text)
    file(WRITE ${tree}/share/lintian/overrides/${package} "${text}\n")
  endif()
endforeach()
