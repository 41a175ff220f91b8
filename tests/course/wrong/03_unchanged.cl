// fails: shape
// says: issue slots per
// clcook course, exercise 3: count thresholds without a chain
