// fails: shape
// says: accesses of global memory
// clcook course, exercise 7: a tile with its halo
