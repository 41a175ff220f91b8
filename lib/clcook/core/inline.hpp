// Where the definitions of functions are.
//
// By default definitions are in the headers, inline. With CLCOOK_COMPILED headers only declare what
// needs no template, and one file of the program has the definitions. That is the file of the
// library clcook::compiled, or one that defines CLCOOK_IMPLEMENTATION before it includes headers of
// clcook. All files of a program must agree.
#pragma once

// CLCOOK_DEFINITIONS: this file gets them. CLCOOK_SEPARATE: one file of the program has them.
// CLCOOK_INLINE: before functions that have one.
#if defined(CLCOOK_IMPLEMENTATION)
#define CLCOOK_DEFINITIONS 1
#define CLCOOK_SEPARATE 1
#define CLCOOK_INLINE
#elif defined(CLCOOK_COMPILED)
#define CLCOOK_DEFINITIONS 0
#define CLCOOK_SEPARATE 1
#define CLCOOK_INLINE
#else
#define CLCOOK_DEFINITIONS 1
#define CLCOOK_SEPARATE 0
#define CLCOOK_INLINE inline
#endif
