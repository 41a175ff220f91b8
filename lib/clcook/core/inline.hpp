// Where the definitions of functions are.
//
// Without a macro definitions are in the headers, inline (clcook::header_only). With CLCOOK_COMPILED,
// which clcook::clcook defines, headers only declare what needs no template; the definitions are in
// the library, or in one file of the program that defines CLCOOK_IMPLEMENTATION before it includes
// headers of clcook.
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
