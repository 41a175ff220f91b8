// fails: shape
// says: bytes between what neighbours store
// clcook course, exercise 5: the transposed store
