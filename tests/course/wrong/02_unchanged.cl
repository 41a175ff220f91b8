// fails: shape
// says: steps per
// clcook course, exercise 2: a table instead of a cascade
