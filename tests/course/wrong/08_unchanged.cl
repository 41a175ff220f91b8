// fails: shape
// says: steps per
// clcook course, exercise 8: compaction with a scan
