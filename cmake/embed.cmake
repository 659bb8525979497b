# cmake -DIN=FILE -DOUT=FILE -P embed.cmake: the text IN as a string literal of C++.
file(READ ${IN} text)
file(WRITE ${OUT} "R\"PAGE(${text})PAGE\"\n")
