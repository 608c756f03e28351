#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Chooses faults in the SystemVerilog of a block and writes them as the table tests/mutants/BLOCK.cmake.

  scripts/mutants.py [--seed N] [--check] [BLOCK...]     all blocks without one

Needs pyslang (in a virtual environment: pip install pyslang==12.1.0). Building and running the mutants needs neither
Python nor pyslang: CMake reads the tables.

A fault replaces one expression by another of the same width. All faults of a block live in one copy of its sources,
each behind a selector, so the block is Verilated once:  (`KTPU_FAULT(1a2b3c) ? (faulty) : (sound))

Classes: operator      another operator of the same kind, or a negation left out
         off-by-one    < for <= and the like, a number or parameter one more or less where it is compared or added
         constant      another constant where one is assigned or chosen; another value of the enumeration
         condition     an if or ?: that always or never holds: enables, priorities
         stuck bit     one bit of what is assigned, stuck at 0 or 1

The choice depends on the seed and on the text of each line, not on its number: an edit elsewhere in a file changes
neither the other faults of the file nor their names.
"""

import argparse
import hashlib
import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path

try:
    from pyslang import ast, driver
except ImportError:
    sys.exit("mutants.py: no pyslang: in a virtual environment, pip install pyslang==12.1.0")

ROOT = Path(__file__).resolve().parent.parent
RTL = ROOT / "rtl_models"
TABLES = ROOT / "tests" / "mutants"
# Block: faults in its own modules, and in modules of prim that are tested inside it.
COUNTS = {
    "router": (16, {"ktpu_fifo.sv": 8}),
    "quantiser": (15, {}),
    "command_engine": (18, {}),
    "agent": (24, {}),
    "cluster": (36, {"ktpu_endpoint.sv": 10, "ktpu_delay.sv": 4}),
    "memory": (40, {}),
    "interlink": (24, {}),
    "vector": (36, {}),
    "vector_alu": (14, {}),
}
# Modules that a test of their own puts under more than the block's test does: a block by themselves.
APART = {"vector_alu": {"ktpu_vector_alu.sv", "ktpu_vector_alu_pkg.sv"}}
FOLDERS = {"vector_alu": "vector"}
TOPS = {"interlink": "memory"}  # inside another block
# Generated tables; a wrong entry is a wrong number of arch, not a fault of the design.
GENERATED = {"ktpu_pkg.sv", "ktpu_seed_pkg.sv"}
# Outputs for probes: compared in whole machines and on recordings, not by the lock-step of one block.
PROBED = "events_o"
CLASSES = ("operator", "off-by-one", "constant", "condition", "stuck bit")
OTHER_OPERATOR = {
    "&&": "||", "||": "&&", "&": "|", "|": "&", "^": "|", "+": "-", "-": "+", "*": "+", "==": "!=", "!=": "==",
    "<<": ">>", ">>": "<<", "<<<": ">>>", ">>>": "<<<",
}
OTHER_BOUND = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}


@dataclass(frozen=True)
class Mutant:
    file: str
    start: int  # characters of the file, what is replaced
    end: int
    kind: str
    sound: str
    faulty: str


def flat(text):
    return " ".join(text.split())


def number(*parts):
    return int.from_bytes(hashlib.sha256("|".join(map(str, parts)).encode()).digest()[:8], "big")


class Sites:
    """Every fault that could be made in the elaborated block."""

    def __init__(self, block, seed):
        self.seed = seed
        sources = ["ktpu_pkg.sv"] + [str(p.relative_to(RTL)) for pattern in ("*/*_pkg.sv", "prim/*.sv", "*/*.sv")
                                     for p in sorted(RTL.glob(pattern))]
        sources = list(dict.fromkeys(sources))
        slang = driver.Driver()
        slang.addStandardArgs()
        command = f"slang --allow-use-before-declare -DSYNTHESIS -I{RTL}/prim --top ktpu_{TOPS.get(block, block)} " + " ".join(f"{RTL}/{s}" for s in sources)
        if not (slang.parseCommandLine(command) and slang.processOptions() and slang.parseAllSources()):
            sys.exit(f"mutants.py: {block}: its sources cannot be read")
        compilation = slang.createCompilation()
        errors = [d for d in compilation.getAllDiagnostics() if d.isError()]
        if errors:
            sys.exit(f"mutants.py: {block}: {slang.diagEngine.reportAll(slang.sourceManager, errors)}")
        self.manager = slang.sourceManager
        self.context = ast.EvalContext(compilation.getRoot())
        self.text = {}
        self.folder = {Path(s).name: Path(s).parent.name for s in sources}
        self.headers = []  # ranges of the heads of loops, which stay constant
        self.found = {}    # (file, start, end, kind) -> set of Mutants, one an instance that differs
        self.constant_functions = set()
        root = compilation.getRoot()
        root.visit(self.note)
        root.visit(self.look)

    # Positions.
    def where(self, syntax):
        while hasattr(syntax, "expression") and "Parenthesized" in type(syntax).__name__:
            syntax = syntax.expression
        r = syntax.sourceRange
        file = Path(str(self.manager.getFileName(r.start))).name
        if file not in self.text:
            self.text[file] = next(RTL.glob(f"*/{file}"), RTL / file).read_text()
        return file, r.start.offset, r.end.offset

    def source(self, expression):
        file, start, end = self.where(expression.syntax)
        return self.text[file][start:end]

    def is_constant(self, expression):
        return bool(expression.eval(self.context))

    # First pass: what must stay constant.
    def note(self, node):
        if isinstance(node, ast.ForLoopStatement):
            for part in [node.stopExpr, *node.steps]:
                self.headers.append(self.where(part.syntax))
            return
        if isinstance(node, ast.ParameterSymbol) and node.initializer is not None:
            if node.initializer.syntax is not None:
                self.constant_functions.update(re.findall(r"(\w+)\s*\(", str(node.initializer.syntax)))

    def look(self, node):
        if isinstance(node, ast.ConditionalStatement) and len(node.conditions) == 1:
            self.condition(node.conditions[0].expr)
        elif isinstance(node, ast.ConditionalExpression) and len(node.conditions) == 1:
            if not self.is_constant(node.conditions[0].expr):
                self.condition(node.conditions[0].expr)
                self.constant(node.left)
                self.constant(node.right)
        elif isinstance(node, ast.BinaryExpression):
            self.binary(node)
        elif isinstance(node, ast.UnaryExpression):
            if str(node.op).split(".")[1] in ("LogicalNot", "BitwiseNot") and not self.is_constant(node):
                operand = self.source(node.operand)
                self.add("operator", node, f"({operand})" if " " in operand else operand)
        elif isinstance(node, ast.AssignmentExpression) and not node.isCompound:
            self.assignment(node)

    # Kinds.
    def condition(self, e):
        if "rst_ni" in self.source(e) or self.is_constant(e):
            return
        self.add("condition", e, "1'b1" if number(self.seed, self.source(e)) % 2 else "1'b0")

    def binary(self, e):
        if self.is_constant(e) or e.syntax is None or isinstance(e.left, ast.LValueReferenceExpression):
            return
        syntax = e.syntax
        while "Parenthesized" in type(syntax).__name__:
            syntax = syntax.expression
        if not hasattr(syntax, "operatorToken"):
            return  # an operator that assigns
        token = str(syntax.operatorToken).strip()
        file, start, end = self.where(syntax)
        left = self.where(syntax.left)[2]
        at = self.text[file].find(token, syntax.left.sourceRange.end.offset, end)
        assert at >= left
        swap = lambda other: self.text[file][start:at] + other + self.text[file][at + len(token):end]
        if token in OTHER_OPERATOR:
            self.add("operator", e, swap(OTHER_OPERATOR[token]))
        if token in OTHER_BOUND:
            self.add("off-by-one", e, swap(OTHER_BOUND[token]))
        if token in ("<", "<=", ">", ">=", "==", "!=", "+", "-"):
            for operand in (e.left, e.right):
                self.constant(operand, "off-by-one")

    def assignment(self, e):
        left, right = e.left.type, e.right
        if right.syntax is None or not left.isIntegral or not right.type.isIntegral:
            return
        if self.is_constant(right):
            self.constant(right)
            return
        if "AssignmentPattern" in type(right).__name__ or self.source(right).lstrip().startswith("'{"):
            return
        width, pick = left.bitWidth, number(self.seed, "stuck", self.source(right), self.source(e.left))
        high = pick % 2 == 1
        if width == 1:
            self.add("stuck bit", right, "1'b1" if high else "1'b0")
            return
        bit = f"({width}'d1 << {pick // 2 % width})"
        self.add("stuck bit", right, f"({self.source(right)}) " + (f"| {bit}" if high else f"& ~{bit}"))

    def constant(self, e, kind="constant"):
        while isinstance(e, ast.ConversionExpression) and e.isImplicit:
            e = e.operand
        if e.syntax is None or not e.type.isIntegral or not self.is_constant(e):
            return
        text, width = self.source(e), e.type.bitWidth
        up = number(self.seed, "up", text) % 2 == 1
        if text in ("'0", "'1"):
            if kind == "constant":
                self.add(kind, e, "'1" if text == "'0" else "'0")
            return
        if e.type.isEnum:
            others = [v.name for v in e.type.canonicalType if v.name != text.split("::")[-1]]
            prefix = text[:text.rfind("::") + 2] if "::" in text else ""
            if others and re.fullmatch(r"[\w:]+", text):
                self.add("constant", e, prefix + others[number(self.seed, text, "other") % len(others)])
            return
        literal = re.fullmatch(r"(?:(\d+)'(s?)([dhb]))?([0-9a-fA-F_]+)", text)
        if literal:
            base = {"d": 10, "h": 16, "b": 2, None: 10}[literal[3]]
            value = int(literal[4].replace("_", ""), base)
            top = 2 ** (width - 1) - 1 if e.type.isSigned else 2**width - 1
            value = value + 1 if (up or value == 0) and value < top else value - 1
            if literal[1] is None:
                self.add(kind, e, str(value))
            else:
                digits = {10: "", 16: "x", 2: f"0{width}b"}[base]
                self.add(kind, e, f"{literal[1]}'{literal[2]}{literal[3]}{value:{digits}}")
        elif re.fullmatch(r"[\w':().+ -]+", text) and width > 1:
            self.add(kind, e, f"({text} {'+' if up else '-'} {width}'{'s' if e.type.isSigned else ''}d1)")

    def add(self, kind, e, faulty):
        file, start, end = self.where(e.syntax)
        sound = self.text[file][start:end]
        if file in GENERATED or flat(sound) == flat(faulty) or any(
                f == file and start < b and end > a for f, a, b in self.headers):
            return
        if e.type.isSigned and kind in ("stuck bit", "operator"):
            faulty = f"$signed({faulty})"
        self.found.setdefault((file, start, end, kind), set()).add(Mutant(file, start, end, kind, sound, faulty))

    def all(self):
        """Faults that read the same in every instance, outside of functions that parameters call."""
        for (file, start, _, _), mutants in sorted(self.found.items()):
            if PROBED in self.text[file][self.text[file].rfind("\n", 0, start) + 1:start]:
                continue
            head = self.text[file].rfind("function", 0, start)
            if head >= 0 and "endfunction" not in self.text[file][head:start]:
                name = re.match(r"function\s+automatic\s+[^;(]*?(\w+)\s*[(;]", self.text[file][head:])
                if name and name[1] in self.constant_functions:
                    continue
            if len(mutants) == 1:
                yield from mutants


class Choice:
    """The faults chosen of one block, one a line, and the lines they stand in."""

    def __init__(self, sites, by_hand, seed):
        self.sites, self.seed = sites, seed
        self.taken = {}   # file -> ranges of characters
        self.chosen = []  # (id, Mutant, first, last)
        for file, sound in by_hand:
            if file in sites.text:
                at = sites.text[file].find(sound)
                if at >= 0:
                    self.taken.setdefault(file, []).append(self.lines(file, at, at + len(sound)))

    def lines(self, file, start, end):
        text = self.sites.text[file]
        last = text.find("\n", end)
        return text.rfind("\n", 0, start) + 1, len(text) if last < 0 else last

    def anchor(self, m):
        """The lines of a fault, and so many before them that they are found once in the file. None: no such lines."""
        text = self.sites.text[m.file]
        first, last = self.lines(m.file, m.start, m.end)
        while text.count(text[first:last].lstrip(" ")) != 1:
            if first == 0:
                return None
            first = text.rfind("\n", 0, first - 1) + 1
        first += len(text[first:last]) - len(text[first:last].lstrip(" "))
        return None if any(first < b and last > a for a, b in self.taken.get(m.file, [])) else (first, last)

    def name(self, m):
        first, last = self.lines(m.file, m.start, m.end)
        line = flat(self.sites.text[m.file][first:last])
        return f"{number(self.seed, m.file, line, m.kind, flat(m.sound), flat(m.faulty)) % (1 << 24) | 1 << 23:06x}"

    def take(self, file, count):
        by_kind = {kind: [] for kind in CLASSES}
        for m in self.sites.all():
            if m.file == file:
                by_kind[m.kind].append((self.name(m), m))
        for row in by_kind.values():
            row.sort(key=lambda one: one[0])
        kinds = sorted(CLASSES, key=lambda kind: number(self.seed, file, kind))
        while count > 0 and any(by_kind.values()):
            for kind in kinds:
                while by_kind[kind] and count > 0:
                    name, m = by_kind[kind].pop(0)
                    span = self.anchor(m)
                    if span is None or any(name == other for other, *_ in self.chosen):
                        continue
                    self.taken.setdefault(file, []).append(span)
                    self.chosen.append((name, m, *span))
                    count -= 1
                    break

    def shares(self, files, total):
        """`total` over the files by the roots of their numbers of sites, so that small files have some, too."""
        sizes = {f: math.sqrt(sum(m.file == f for m in self.sites.all())) for f in files}
        sizes = {f: s for f, s in sizes.items() if s > 0}
        share = {f: max(1, int(total * s / sum(sizes.values()))) for f, s in sizes.items()}
        for f in sorted(sizes, key=lambda f: -sizes[f]):
            if sum(share.values()) < total:
                share[f] += 1
        return share


def by_hand(block):
    """(file, text) of the faults of tests/mutants/BLOCK_by_hand.cmake, whose lines are left alone."""
    path = TABLES / f"{block}_by_hand.cmake"
    if not path.exists():
        return []
    return re.findall(r"ktpu_fault\(\w+\s+(\S+)\s+\[==\[(.*?)\]==\]", path.read_text(), re.S)


def table(block, seed):
    sites = Sites(block, seed)
    choice = Choice(sites, by_hand(block), seed)
    own, prim = COUNTS[block]
    folder, apart = FOLDERS.get(block, block), set().union(*APART.values())
    files = sorted({m.file for m in sites.all() if sites.folder[m.file] == folder and
                    (m.file in APART[block] if block in APART else m.file not in apart)})
    for file, count in {**choice.shares(files, own), **prim}.items():
        choice.take(file, count)
    rows = [
        "# SPDX-License-Identifier: Apache-2.0",
        f"# Faults in the SystemVerilog of {block}: chosen by scripts/mutants.py with seed {seed}, not written by hand.",
        "#   ktpu_mutant(NAME CLASS FILE  text in the file  the same with the fault and its selector  sound  faulty)",
    ]
    for name, m, first, last in sorted(choice.chosen, key=lambda c: (c[1].file, c[1].start)):
        text = sites.text[m.file]
        selected = f"(`KTPU_FAULT({name}) ? ({m.faulty}) : ({m.sound}))"
        rows.append(f'ktpu_mutant({name} "{m.kind}" {m.file}\n  [==[{text[first:last]}]==]\n'
                    f"  [==[{text[first:m.start] + selected + text[m.end:last]}]==]\n"
                    f"  [==[{flat(m.sound)}]==] [==[{flat(m.faulty)}]==])")
    return "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("blocks", nargs="*", metavar="BLOCK")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if a table is not current")
    options = parser.parse_args()
    for block in options.blocks:
        if block not in COUNTS:
            sys.exit(f"mutants.py: no block {block}; blocks: {', '.join(COUNTS)}")
    status = 0
    for block in options.blocks or COUNTS:
        path, text = TABLES / f"{block}.cmake", table(block, options.seed)
        if options.check:
            if not path.exists() or path.read_text() != text:
                print(f"mutants.py: {path.relative_to(ROOT)} is not current: run scripts/mutants.py {block}")
                status = 1
        else:
            path.write_text(text)
            print(f"{block}: {text.count('ktpu_mutant(') - 1} faults")
    sys.exit(status)


if __name__ == "__main__":
    main()
