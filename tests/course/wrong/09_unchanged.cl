// fails: shape
// says: issue slots per
// clcook course, exercise 9: a folded switch
