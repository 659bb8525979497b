/* Code that another user would like to have run: says so as soon as it is loaded. */
#include <stdio.h>

__attribute__((constructor)) static void say(void) { fputs("INTRUDER\n", stderr); }
