// The techniques against latency and for occupancy that the cookbook sets out to show. std only.
#pragma once

namespace clcook::tool {

struct TechniqueTitle {
  int number;
  const char* title;
};

// The numbers that Recipe::techniques refers to. The list follows an article on the occupancy of
// GPUs with large work-groups; the words are ours.
constexpr TechniqueTitle kTechniques[] = {
    {1, "Choose a work-group of 64 to 256 work-items; 256 where nothing speaks for another"},
    {2, "Groups of a single wave for loops whose length differs much between work-items"},
    {3, "No barrier where a group is one wave, if sub-group rules guarantee it"},
    {4, "Large groups only where they share local memory"},
    {5, "Leave room for two groups per compute unit: half the local memory, half the registers"},
    {6, "Bring the registers below the next step of occupancy"},
    {7, "Avoid spilling registers to memory"},
    {8, "Several groups per compute unit, so that one computes while another is at a barrier"},
    {9, "A group's resources are held until its last wave ends: keep waves of a group alike"},
    {10, "Load a tile with its border into local memory once, for neighbourhood filters"},
    {11, "Choose the tile's shape by its perimeter"},
    {12, "Several passes over data that stays in local memory: islands, Gauss-Seidel, Jacobi"},
    {13, "Load what is the same for all work-items through scalar or uniform loads"},
    {14, "Plain buffers, not images or typed buffers, for uniform data"},
    {15, "Matrices in scalar registers, affine ones as 4 x 3"},
    {16, "Few image descriptors, one sampler, reads without a sampler"},
    {17, "Do not carry components that are not used, such as a w of 1"},
    {18, "Keep values packed as 16 + 16 bits or half floats, unpack them late"},
    {19, "Extract bit fields with the instructions made for it"},
    {20, "Conditions as predicates, not as integers or floats"},
    {21, "32 flags in one register, prefix sums by counting bits"},
    {22, "A flag in the sign bit of a value that is never negative"},
    {23, "A loop that stays a loop, to shorten the lives of registers"},
    {24, "16-bit arithmetic where the range allows it"},
    {25, "Local memory as a cache for what every work-item of a group reads"},
    {26, "Park long-lived values in local memory over the peak of register use"},
    {27, "More resident waves to hide the latency of memory"},
    {28, "Loads early and their use late cost registers: weigh both"},
};

}  // namespace clcook::tool
