// fails: shape
// says: registers of a work-item
// clcook course, exercise 12: fewer registers
