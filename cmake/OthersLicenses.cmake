# What is linked into a wheel belongs to others too, whose terms go with it.

# nb_install_licenses(FOLDER PACKAGES...): the copyright files of Debian's packages, as FOLDER/PACKAGE.txt, where they are.
function(nb_install_licenses folder)
  foreach(package IN LISTS ARGN)
    set(file /usr/share/doc/${package}/copyright)
    if(EXISTS ${file})
      install(FILES ${file} DESTINATION ${folder} RENAME ${package}.txt COMPONENT python)
    else()
      message(STATUS "no ${file}: the wheel goes without these terms")
    endif()
  endforeach()
endfunction()
