// fails: shape
// says: steps per
// clcook course, exercise 6: symmetric taps
