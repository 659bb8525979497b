# cmake -DIN=FILE -DOUT=FILE -P embed.cmake: the text IN as a string literal of C++. A line "@FILE name@" in it
# stands for the file of that name beside it.
file(READ ${IN} text)
get_filename_component(folder ${IN} DIRECTORY)
string(REGEX MATCHALL "@FILE [a-z.]+@" marks "${text}")
foreach(mark IN LISTS marks)
  string(REGEX REPLACE "@FILE (.*)@" "\\1" name ${mark})
  file(READ ${folder}/${name} part)
  string(REPLACE "${mark}" "${part}" text "${text}")
endforeach()
file(WRITE ${OUT} "R\"PAGE(${text})PAGE\"\n")
