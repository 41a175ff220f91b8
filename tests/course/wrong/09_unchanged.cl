// fails: shape
// says: steps per
// clcook course, exercise 9: a folded switch
