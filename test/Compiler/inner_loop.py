"""Checks image_run_tile of an LLVM IR file: the block with the most floating-point work is a loop by
itself, and no block branches on a floating-point comparison or calls anything but intrinsics."""
import re
import sys

text = open(sys.argv[1]).read()
body = re.search(r'define [^\n]*@image_run_tile\(.*?\n}', text, re.S).group(0)
blocks = {}
name = 'entry'
for line in body.split('\n')[1:]:
    label = re.match(r'([\w.]+):', line)
    if label:
        name = label.group(1)
    blocks.setdefault(name, []).append(line.strip())

work = {b: sum(bool(re.search(r'= (fmul|fadd|fsub|fdiv|tail call .*(sqrt|fmuladd))', l))
               for l in lines) for b, lines in blocks.items()}


def terminator(lines):
    return next(l for l in reversed(lines) if re.match(r'(br|ret|switch|unreachable)\b', l))


def targets(lines):
    return re.findall(r'label %([\w.]+)', terminator(lines))


loops = [b for b, lines in blocks.items() if b in targets(lines)]
if not loops:
    sys.exit('no block is a loop by itself')
inner = max(loops, key=lambda b: work[b])
if work[inner] < 20:
    sys.exit(f'the busiest one-block loop, {inner}, has only {work[inner]} arithmetic instructions')
for b, lines in blocks.items():
    condition = re.match(r'br i1 (%[\w.]+),', terminator(lines))
    if condition:
        definition = next((l for ls in blocks.values() for l in ls
                           if l.startswith(condition.group(1) + ' = ')), '')
        if 'fcmp' in definition or '<' in definition.split('=', 1)[-1].split('icmp')[0]:
            sys.exit(f'block {b} branches on data: {definition}')
calls = [c for lines in blocks.values() for c in re.findall(r'call [^@]*@([\w.]+)', ' '.join(lines))]
foreign = sorted({c for c in calls if not c.startswith('llvm.')})
if foreign:
    sys.exit(f'calls {foreign}')
print(f'{inner}: one basic block, {work[inner]} arithmetic instructions')
