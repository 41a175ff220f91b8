// fails: shape
// says: issue slots per
// clcook course, exercise 6: symmetric taps
