"""Threads of linear algebra, of which fits use one."""

from threadpoolctl import threadpool_limits

# A decorator. Matrices of fits are small: two threads take 30 to 50 % more processor time and are
# not faster. Images are fitted side by side in processes, and the last digits of results do not
# depend on the number of processors.
one_blas_thread = threadpool_limits.wrap(limits=1, user_api="blas")
