// fails: shape
// says: issue slots per
// clcook course, exercise 8: compaction with a scan
