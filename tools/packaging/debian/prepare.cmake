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
# so that a cached kernel starts in milliseconds (docs/rationale/threads.md). CPack writes scripts that call
# ldconfig, which the trigger does, too. Libraries are in /usr/lib, for one architecture. The project has no
# address: who publishes the packages gives theirs, by cpack -D CPACK_PACKAGE_CONTACT="NAME <ADDRESS>".
set(meant_by_all package-name-doesnt-match-sonames shared-library-lacks-version maintscript-calls-ldconfig
    bogus-mail-host bogus-mail-host-in-debian-changelog)
set(meant_runtime link-to-shared-library-in-wrong-package embedded-library pkg-config-unavailable-for-cross-compilation)
set(meant_compiler custom-library-search-path sharedobject-in-library-directory-missing-soname no-manual-page)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  set(tree ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr)
  if(EXISTS ${tree})
    string(TOUPPER ${component} upper)
    set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
    set(meant ${meant_by_all} ${meant_${component}})
    list(TRANSFORM meant PREPEND "${package}: ")
    list(JOIN meant "\n" text)
    file(WRITE ${tree}/share/lintian/overrides/${package} "${text}\n")
  endif()
endforeach()
