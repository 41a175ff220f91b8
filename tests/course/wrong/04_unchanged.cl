// fails: shape
// says: accesses of global memory
// clcook course, exercise 4: the line in local memory
