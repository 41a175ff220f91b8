// fails: shape
// says: steps per
// clcook course, exercise 1: two calls in a branch
