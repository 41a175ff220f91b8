// fails: shape
// says: pixels that the first 24 groups read
// clcook course, exercise 10: the order of groups
