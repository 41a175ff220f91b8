// fails: shape
// says: steps per
// clcook course, exercise 3: count thresholds without a chain
