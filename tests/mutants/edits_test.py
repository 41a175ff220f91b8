"""The edits of edits.py on small texts: which there are, and which there must not be."""

import unittest

import edits


def found(text, kind=None, file="kernels/test.cl"):
    return sorted((m.edit, m.apply(text)) for m in edits.mutants_of(file, text)
                  if kind in (None, m.kind))


class Edits(unittest.TestCase):
    def test_binary_operators_alone(self):
        self.assertEqual([edit for edit, _ in found("int f(float* p, int a) { return a * *p & ~a; }")],
                         ["& to |", "* to /"])
        self.assertEqual(found("template <class T> const T& f(std::vector<T>&& x);", file="a.hpp"), [])

    def test_bounds(self):
        self.assertEqual(found("bool x = a < b;"), [("< to <=", "bool x = a <= b;")])
        self.assertEqual(found("int x = min(a, b);"), [("min to max", "int x = max(a, b);")])

    def test_constants(self):
        self.assertEqual(edits.constants("7"), ["8", "6", "0"])
        self.assertEqual(edits.constants("1u"), ["2u", "0u"])
        self.assertEqual(edits.constants("0"), ["1"])
        self.assertEqual(edits.constants("0xFFul"), ["0x100ul", "0xFEul", "0x0ul"])
        self.assertEqual(edits.constants("0.5f"), ["1.5f", "(-0.5f)", "0.0f"])
        self.assertEqual(edits.constants("0x1p-1f"), ["1.5f", "(-0.5f)", "0.0f"])
        self.assertEqual(edits.constants("1'000"), ["1001", "999", "0"])

    def test_comments_strings_and_directives_stay(self):
        self.assertEqual(found('// a < b, 1\n/* 2 */ #include <x/1.h>\nchar* s = "a < 3";\n'), [])
        self.assertEqual(found("#pragma unroll 4\n#line 3\n"), [])

    def test_macros(self):
        self.assertEqual(found("#define AT(x) ((x) + \\\n  1)\n", "constant"),
                         [("1 to 0", "#define AT(x) ((x) + \\\n  0)\n"),
                          ("1 to 2", "#define AT(x) ((x) + \\\n  2)\n")])
        # The host gives it.
        self.assertEqual(found("#ifndef GROUP\n#define GROUP 256\n#endif\n"), [])
        self.assertEqual([m.scope for m in edits.mutants_of("a.cl", "#define A 1\n#if B > 2\n#endif\n")],
                         ["A", "A", "#if", "#if", "#if", "#if"])

    def test_barriers(self):
        text = "void f(void) {\n  barrier(CLK_LOCAL_MEM_FENCE);\n}\n"
        self.assertEqual(found(text), [("drop the barrier", "void f(void) {\n  ;\n}\n")])

    def test_guards(self):
        self.assertEqual(found("void f() { if (a) return; b(); }"),
                         [("drop the guard", "void f() { ; b(); }")])
        self.assertEqual(found("void f() { if (a) { continue; } }"),
                         [("drop the guard", "void f() { ; }")])
        self.assertEqual(found("void f() { if (a) b(); }"), [("if always", "void f() { if (1) b(); }")])
        self.assertEqual(found("void f() { if (a) return; else b(); }"),
                         [("if always", "void f() { if (1) return; else b(); }")])

    def test_conversions(self):
        self.assertEqual(found("uchar x = convert_uchar_sat_rte(f);"),
                         [("_rte to _rtz", "uchar x = convert_uchar_sat_rtz(f);"),
                          ("drop _sat", "uchar x = convert_uchar_rte(f);")])
        self.assertEqual(found("p[(ulong)y * q];", "conversion"),
                         [("(ulong) to (uint)", "p[(uint)y * q];")])
        self.assertEqual(found("int f(int);\nsizeof(int);"), [])
        # A group has fewer items than a short counts.
        self.assertEqual(found("x = (int)get_local_id(d);"), [])
        self.assertEqual(found("auto x = static_cast<std::size_t>(y);", "conversion", "a.hpp"),
                         [("cast to std::size_t to unsigned", "auto x = static_cast<unsigned>(y);")])

    def test_tails(self):
        self.assertEqual(found("void f() { for (;;) { a(); b(); } }", "tail"),
                         [("drop the loop", "void f() { while (0) {} }"),
                          ("drop the loop's last statement", "void f() { for (;;) { a(); ; } }")])
        self.assertEqual(found("void f() { for (int i = x; i != y; ++i) g(i); }", "tail"),
                         [("drop the loop's last statement",
                           "void f() { for (int i = x; i != y; ++i) ; }")])

    def test_keys(self):
        text = "void f() {\n  a(1);\n  a(1);\n}\nvoid g() {\n  a(1);\n}\n"
        found_ = edits.mutants_of("a.cl", text)
        self.assertEqual([(m.line, m.scope, m.nth, m.of) for m in found_ if m.edit == "1 to 0"],
                         [(2, "f", 1, 2), (3, "f", 2, 2), (6, "g", 1, 1)])


if __name__ == "__main__":
    unittest.main()
