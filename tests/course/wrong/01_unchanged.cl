// fails: shape
// says: issue slots per
// clcook course, exercise 1: two calls in a branch
