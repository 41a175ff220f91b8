// fails: shape
// says: accesses of global memory
// clcook course, exercise 11: many passes in local memory
