// Runs the programs of two files, one of which has the definitions of clcook inline.
int blur_main();
int gaussian_main();

int main() { return blur_main() != 0 || gaussian_main() != 0 ? 1 : 0; }
