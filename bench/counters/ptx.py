"""NVIDIA's OpenCL programs are PTX, and so are CUDA's: what has to be changed in the one to be the other."""

import re
from dataclasses import dataclass, field

MOST_STATIC = 48 << 10
LEAST_ALIGN = 16
CONSTANT_ALIGN = 256
SHARED = "clcook_shared"
CONSTANTS = "clcook_constants"

LETTER = "[A-Za-z0-9_$%]"
ENTRY = re.compile(rf"\.entry\s+({LETTER}+)\s*(?:\(([^)]*)\))?")
# ".param .u64 .ptr .global .align 4 NAME", ".param .align 16 .b8 NAME[16]", ".shared .align 4 .f32 NAME[256]"
DECLARED = re.compile(
    rf"""\s*\.(?P<state>param|shared)(?:\s+\.align\s+(?P<align>\d{{1,5}}))?
    \s+\.(?P<type>[busf](?P<bits>\d{{1,3}})|texref|samplerref|surfref)
    (?:\s+\.ptr(?:\s+\.(?!align)(?P<space>\w+))?(?:\s+\.align\s+(?P<target>\d{{1,5}}))?)?
    \s+(?P<name>{LETTER}+)(?:\[(?P<count>\d{{1,9}})\])?\s*""",
    re.VERBOSE,
)
VARIABLE = re.compile(r"^[ \t]*(\.shared[^;\n]*);", re.MULTILINE)


class Refused(Exception):
    """Why a call cannot be repeated under CUDA."""


@dataclass
class Parameter:
    name: str
    bytes: int
    space: str  # of a pointer: "global", "const" or "shared"; of a value empty
    align: int  # of what a pointer points to


@dataclass
class Need:
    """What a parameter is set to, where the changed text depends on it."""

    bytes: int = 0  # of the local memory, or of the buffer from its argument's first byte on
    local: bool = False


@dataclass
class Kernel:
    """A kernel that the CUDA driver runs as OpenCL would."""

    text: str
    parameters: list
    shared_bytes: int = 0  # dynamic shared memory of the launch
    # Where the content of a parameter in constant memory goes: bytes from the symbol CONSTANTS.
    constants: list = field(default_factory=list)


def refuse(kernel, why):
    raise Refused(f"PTX of {kernel}: {why}")


def round_up(value, align):
    return (value + align - 1) // align * align


def whole(name):
    """The pattern of a name that is not a part of another."""
    return rf"(?<!{LETTER}){re.escape(name)}(?!{LETTER})"


def find_entry(ptx, kernel):
    """The head of a kernel, as a match of ENTRY, and where its body begins and ends."""
    head = next((one for one in ENTRY.finditer(ptx) if one[1] == kernel), None)
    begin = ptx.find("{", head.end()) if head else -1
    depth = 0
    for brace in re.compile("[{}]").finditer(ptx, begin) if begin >= 0 else ():
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return head, begin, brace.end()
    return refuse(kernel, "the program's binary is not PTX that has this kernel")


def parameters_of(ptx, kernel):
    out = []
    for part in (find_entry(ptx, kernel)[0][2] or "").split(","):
        if not part.strip():
            continue
        one = DECLARED.fullmatch(part)
        if one and one["type"].endswith("ref"):
            refuse(kernel, "takes an image, which no CUDA launch can give it")
        size = int(one["bits"]) // 8 * int(one["count"] or 1) if one and one["state"] == "param" else 0
        if size == 0:
            refuse(kernel, f"its parameter is not understood:{part}")
        out.append(Parameter(one["name"], size, one["space"] or "", int(one["target"] or 1)))
    return out


def without_other_kernels(ptx, kernel):
    """One with too many local variables keeps all from being loaded."""
    at = 0
    while other := ENTRY.search(ptx, at):
        at = other.end()
        if other[1] != kernel:
            at = ptx.rfind("\n", 0, other.start(1)) + 1  # ".visible" stands in front of ".entry"
            ptx = ptx[:at] + ptx[find_entry(ptx, other[1])[2] :]
    return ptx


def large_variables(ptx, kernel):
    """The declarations of the kernel's local variables, in its body or the program's, if CUDA allows no so many."""
    _, begin, end = find_entry(ptx, kernel)
    out = []
    for line in VARIABLE.finditer(ptx):
        one = DECLARED.fullmatch(line[1])
        if one and (begin < line.start() < end or re.search(whole(one["name"]), ptx[begin:end])):
            out.append((line, one, int(one["bits"]) // 8))
    return out if sum(size * int(one["count"] or 1) for _, one, size in out) > MOST_STATIC else []


def with_loads_replaced(body, kernel, name, symbol, offset):
    """`ld.param.TYPE REGISTER, [NAME];` becomes `mov.TYPE REGISTER, SYMBOL+OFFSET;`."""
    body = re.sub(rf"\bld\.param(\.[\w.]+)\s+(\S+)\s+\[{re.escape(name)}\](?=\s*;)", rf"mov\1 \2 {symbol}+{offset}", body)
    if other := re.search(rf"[^;{{}}\n]*{whole(name)}[^;]*", body):
        refuse(kernel, f"reads the parameter {name} as no ld.param does: {other[0].strip()}")
    return body


def with_symbol_replaced(body, name, symbol, offset):
    """NAME and NAME+16 become SYMBOL+OFFSET and SYMBOL+OFFSET+16, the numbers added up."""
    return re.sub(whole(name) + r"(?:\+(\d+))?", lambda use: f"{symbol}+{offset + int(use[1] or 0)}", body)


def environment(kernel):
    """What OpenCL has in %envreg<n>: from 0 the offset of the first group, from 3 that of the first work-item, from 6
    how many groups there are, each in three dimensions."""

    def replaced(register):
        number = register[1]
        if len(number) != 1 or number == "9":
            refuse(kernel, f"reads %envreg{number}, whose content is not known")
        return "0" if number < "6" else "%nctaid." + "xyz"[int(number) - 6]

    return replaced


def cuda_kernel(ptx, kernel, needs):
    """Changes the text of a program:
    - the trailing zero byte goes;
    - its other kernels go;
    - %envreg<n>, in which OpenCL has the offsets of a launch, becomes 0, or, where it is the number of groups, %nctaid;
    - a pointer to local memory becomes an address in dynamic shared memory, one to constant memory an address in an array
      of ours, each where the kernel loads the parameter, which is declared as a plain number;
    - local variables of more than 48 KiB, which CUDA does not allow, move to dynamic shared memory.
    Raises Refused that names what it cannot change."""
    text = ptx.split("\0")[0]
    out = Kernel(text, parameters_of(text, kernel))
    if len(out.parameters) != len(needs):
        refuse(kernel, f"has {len(out.parameters)} parameters, was launched with {len(needs)}")
    constant_bytes, align = 0, LEAST_ALIGN

    def share(size, own_align):
        nonlocal align
        align = max(align, own_align)
        at = round_up(out.shared_bytes, max(own_align, LEAST_ALIGN))
        out.shared_bytes = at + size
        return at

    text = without_other_kernels(text, kernel)
    variables = large_variables(text, kernel)
    for line, _, _ in reversed(variables):
        text = text[: line.start(1)] + text[line.end() :]
    head, begin, end = find_entry(text, kernel)
    body, declared = text[begin:end], head[2] or ""
    for _, one, size in variables:
        at = share(size * int(one["count"] or 1), max(int(one["align"] or 1), size))
        body = with_symbol_replaced(body, one["name"], SHARED, at)
    for one, need in zip(out.parameters, needs):
        if need.local:
            one.space = "shared"  # compilers need not say so
        out.constants.append(constant_bytes if one.space == "const" else 0)
        if one.space == "shared":
            body = with_loads_replaced(body, kernel, one.name, SHARED, share(need.bytes, one.align))
        elif one.space == "const":
            body = with_loads_replaced(body, kernel, one.name, CONSTANTS, constant_bytes)
            constant_bytes = round_up(constant_bytes + need.bytes, CONSTANT_ALIGN)
        if one.space in ("shared", "const"):  # the CUDA driver takes no pointers of OpenCL's to these two
            declared = re.sub(rf"\.ptr[^,]*?(?={whole(one.name)})", "", declared)
    parameters = head.span(2) if head[2] else (begin, begin)
    text = text[: parameters[0]] + declared + text[parameters[1] : begin] + body + text[end:]

    symbols = f".extern .shared .align {align} .b8 {SHARED}[];\n" if out.shared_bytes else ""
    if constant_bytes:
        symbols += f".const .align {CONSTANT_ALIGN} .b8 {CONSTANTS}[{constant_bytes}];\n"
    if ".address_size" not in text:
        refuse(kernel, "its PTX says no .address_size")
    text = re.sub(r"\.address_size[^\n]*\n", lambda line: line[0] + symbols, text, count=1)
    out.text = re.sub(r"%envreg(\d*)", environment(kernel), text)
    return out
