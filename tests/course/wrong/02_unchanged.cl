// fails: shape
// says: issue slots per
// clcook course, exercise 2: a table instead of a cascade
