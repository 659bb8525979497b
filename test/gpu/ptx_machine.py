"""Runs the PTX of a kernel: each instruction for all threads of the block that are at it, those
furthest behind first. A shuffle waits for all threads of the warp. Nothing is lenient: an access has
to lie in memory that was given out and be aligned, and a register has to have been written."""

import re

import numpy as np

TYPES = {"f64": np.float64, "f32": np.float32, "b64": np.uint64, "u64": np.uint64, "s64": np.int64,
         "b32": np.uint32, "u32": np.uint32, "s32": np.int32, "b8": np.uint8, "u8": np.uint8,
         "b16": np.uint16, "u16": np.uint16, "s16": np.int16, "pred": np.bool_}
ROUNDED = {"rni": np.rint, "rmi": np.floor, "rpi": np.ceil, "rzi": np.trunc}
COMPARED = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
            "gt": np.greater, "ge": np.greater_equal}
INTEGER = {"add": np.add, "sub": np.subtract, "and": np.bitwise_and, "or": np.bitwise_or,
           "xor": np.bitwise_xor, "min": np.minimum, "max": np.maximum}
WARP = 32


class Memory:
    """Global memory; a gap after each piece catches what runs past its end."""
    START = 1 << 32

    def __init__(self, size):
        self.bytes = np.zeros(size, np.uint8)
        self.given = np.zeros(size, np.bool_)
        self.end = 256

    def give(self, content):
        content = np.frombuffer(content, np.uint8)
        at = self.end
        self.end = at + (len(content) + 511) // 256 * 256
        assert self.end <= len(self.bytes), "the machine's memory is full"
        self.bytes[at:at + len(content)] = content
        self.given[at:at + len(content)] = True
        return at + self.START

    def take(self, address, size):
        return self.bytes[address - self.START:address - self.START + size].tobytes()

    def places(self, addresses, width):
        at = addresses.astype(np.int64) - self.START
        assert (at % width == 0).all(), f"an access of {width} bytes is not aligned"
        assert (at >= 0).all() and (at < len(self.bytes)).all() and \
            (self.given[at] & self.given[at + width - 1]).all(), \
            f"an access outside of all memory: {addresses[:4]}"
        return at // width

    def view(self, width):
        return self.bytes.view({1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[width])


def parse(ptx, name):
    """The kernel's parameters, instructions and labels."""
    begin = re.search(rf"\.entry {name}\((.*?)\)(.*?)\{{", ptx, re.S)
    parameters = re.findall(rf"{name}_param_\d+", begin[1])
    code, labels = [], {}
    for line in ptx[begin.end():ptx.index("\n}", begin.end())].splitlines():
        line = line.split("//")[0].strip()
        if not line or line.startswith((".reg", ".pragma", "{", "}")):
            continue
        if line.endswith(":"):
            labels[line[:-1]] = len(code)
            continue
        guard, op, rest = re.match(r"(@!?%p\d+)?\s*([\w.:]+)\s*(.*?);$", line).groups()
        operands = re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s|]+", rest)
        code.append((guard, op.split("."), operands))
    return parameters, code, labels


class Machine:
    def __init__(self, ptx, name, memory):
        self.parameters, self.code, self.labels = parse(ptx, name)
        self.memory = memory

    def launch(self, blocks, threads, arguments):
        assert len(arguments) == len(self.parameters)
        self.argument = dict(zip(self.parameters, arguments))
        for block in range(blocks):
            self.special = {"%ctaid.x": block, "%nctaid.x": blocks, "%ntid.x": threads,
                            "%tid.x": np.arange(threads, dtype=np.uint32)}
            self.run_block(threads)

    def run_block(self, threads):
        self.threads, self.registers = threads, {}
        at = np.zeros(threads, np.int64)
        done = len(self.code)
        while (at < done).any():
            self.active = self.next_threads(at)
            here = at[self.active][0]
            guard, op, operands = self.code[here]
            taken = self.active
            if guard:
                condition = self.value(guard.lstrip("@!"), "pred")
                taken = taken & (~condition if "!" in guard else condition)
            if op[0] == "bra":
                at[self.active] = here + 1
                at[taken] = self.labels[operands[0]]
            elif op[0] == "ret":
                at[taken] = done
            else:
                assert not guard, "only branches are guarded"
                getattr(self, "do_" + op[0])(op, operands)
                at[self.active] = here + 1

    def next_threads(self, at):
        for here in np.unique(at[at < len(self.code)]):
            active = at == here
            if self.code[here][1][0] != "shfl":
                return active
            warps = np.repeat(active.reshape(-1, WARP).all(1), WARP)
            if warps.any():
                return warps
        raise AssertionError("a shuffle waits for threads of its warp that never come")

    def value(self, operand, kind):
        dtype = TYPES[kind]
        if operand.startswith(("0d", "0f")):
            bits = np.uint64 if operand[1] == "d" else np.uint32
            return np.full(self.threads, int(operand[2:], 16), bits).view(dtype)
        if operand in self.special:
            return np.broadcast_to(np.asarray(self.special[operand]), self.threads).astype(dtype)
        if operand.startswith("%"):
            content, written = self.registers[operand]
            assert written[self.active].all(), f"{operand} is read before it is written"
            return content if dtype == np.bool_ else content.view(dtype)
        wide = np.full(self.threads, int(operand) & (1 << 64) - 1, np.uint64)
        return wide.astype({1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[
            np.dtype(dtype).itemsize]).view(dtype)

    def set(self, register, value):
        bits = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[value.dtype.itemsize]
        raw = value if value.dtype == np.bool_ else np.ascontiguousarray(value).view(bits)
        if register not in self.registers or self.registers[register][0].dtype != raw.dtype:
            self.registers[register] = (np.zeros(self.threads, raw.dtype),
                                        np.zeros(self.threads, np.bool_))
        content, written = self.registers[register]
        content[self.active] = raw[self.active]
        written[self.active] = True

    def addresses(self, operand):
        base, _, offset = operand.strip("[]").partition("+")
        return self.value(base, "b64") + np.uint64(int(offset or 0) & (1 << 64) - 1)

    def do_ld(self, op, operands):
        if op[1] == "param":
            value = self.argument[operands[1].strip("[]")]
            return self.set(operands[0], np.full(self.threads, value, np.uint64))
        assert op[1] == "global"
        dtype = TYPES[op[-1]]
        width = np.dtype(dtype).itemsize
        places = self.memory.places(self.addresses(operands[1])[self.active], width)
        value = np.zeros(self.threads, {1: np.uint8, 4: np.uint32, 8: np.uint64}[width])
        value[self.active] = self.memory.view(width)[places]
        if width == 4 and operands[0].startswith("%rd"):  # loads widen
            value = value.view(dtype).astype(TYPES[op[-1][0] + "64"])
        return self.set(operands[0], value if width > 1 else value.astype(np.uint16))

    def do_st(self, op, operands):
        assert op[1] == "global"
        width = np.dtype(TYPES[op[-1]]).itemsize
        places = self.memory.places(self.addresses(operands[0])[self.active], width)
        assert len(set(places)) == len(places), "two threads store to one place"
        self.memory.view(width)[places] = self.value(operands[1], f"b{8 * width}")[self.active]

    def do_atom(self, op, operands):
        assert op[1:] == ["global", "add", "f64"], op
        _, address, operand = operands  # the old number has no use
        places = self.memory.places(self.addresses(address)[self.active], 8)
        np.add.at(self.memory.bytes.view(np.float64), places, self.value(operand, "f64")[self.active])

    def do_cvta(self, op, operands):
        self.set(operands[0], self.value(operands[1], "b64"))

    def do_mov(self, op, operands):
        to, source = operands
        if to.startswith("{"):
            low, high = (name.strip() for name in to.strip("{}").split(","))
            bits = self.value(source, "b64")
            for name, part in ((low, bits & np.uint64(0xffffffff)), (high, bits >> np.uint64(32))):
                if name != "_":
                    self.set(name, part.astype(np.uint32))
        elif source.startswith("{"):
            low, high = (self.value(name.strip(), "b32").astype(np.uint64)
                         for name in source.strip("{}").split(","))
            self.set(to, low | high << np.uint64(32))
        else:
            self.set(to, self.value(source, op[-1]).copy())

    def do_shfl(self, op, operands):
        assert op[1:] == ["sync", "bfly", "b32"] and operands[-1] == "-1"
        partner = np.arange(self.threads) ^ int(operands[-3])
        self.set(operands[0], self.value(operands[-4], "b32")[partner])

    def do_cvt(self, op, operands):
        modes, to, source = op[1:-2], op[-2], op[-1]
        value = self.value(operands[1], source)
        for mode in modes:
            value = ROUNDED.get(mode, lambda x: x)(value)
        self.set(operands[0], value.astype(TYPES[to]))

    def do_setp(self, op, operands):
        x, y = (self.value(operand, op[-1]) for operand in operands[1:])
        unordered = op[1].endswith("u") and op[1][:-1] in COMPARED
        result = COMPARED[op[1][:-1] if unordered else op[1]](x, y)
        if op[-1].startswith("f"):
            result = result | np.isnan(x) | np.isnan(y) if unordered else \
                result & ~(np.isnan(x) | np.isnan(y))
        self.set(operands[0], result)

    def do_selp(self, op, operands):
        x, y = (self.value(operand, op[-1]) for operand in operands[1:3])
        self.set(operands[0], np.where(self.value(operands[3], "pred"), x, y))

    def do_fma(self, op, operands):
        x, y, z = (self.value(operand, op[-1]) for operand in operands[1:])
        if op[-1] == "f32":
            return self.set(operands[0], (x.astype(float) * y + z).astype(np.float32))
        wide = [v.astype(np.longdouble) for v in (x, y, z)]
        return self.set(operands[0], (wide[0] * wide[1] + wide[2]).astype(np.float64))

    def do_mad(self, op, operands):
        x, y, z = (self.value(operand, op[-1]) for operand in operands[1:])
        self.set(operands[0], x * y + z)

    def do_mul(self, op, operands):
        x, y = (self.value(operand, op[-1]) for operand in operands[1:])
        if "wide" in op:
            x, y = x.astype(TYPES[op[-1][0] + "64"]), y.astype(TYPES[op[-1][0] + "64"])
        assert "hi" not in op
        self.set(operands[0], x * y)

    def do_div(self, op, operands):
        x, y = (self.value(operand, op[-1]) for operand in operands[1:])
        if op[-1].startswith("f"):
            return self.set(operands[0], x / y)
        assert (y[self.active] != 0).all()
        return self.set(operands[0], x // np.where(y == 0, np.ones_like(y), y))

    def approximate(self, operands, kind, function):
        """As good as the instructions are: 20 bits in f64, where what is denormal counts as 0."""
        value = self.value(operands[1], kind)
        if kind == "f32":
            return self.set(operands[0], function(value))
        normal = np.abs(value) >= np.finfo(float).tiny
        result = function(np.where(normal, value, np.copysign(0.0, value)))
        return self.set(operands[0], result.view(np.uint64) >> np.uint64(32) << np.uint64(32))

    def do_rcp(self, op, operands):
        self.approximate(operands, op[-1], lambda x: 1 / x)

    def do_rsqrt(self, op, operands):
        self.approximate(operands, op[-1], lambda x: 1 / np.sqrt(x))

    def do_sqrt(self, op, operands):
        self.set(operands[0], np.sqrt(self.value(operands[1], op[-1])))

    def do_neg(self, op, operands):
        self.set(operands[0], -self.value(operands[1], op[-1]))

    def do_abs(self, op, operands):
        self.set(operands[0], np.abs(self.value(operands[1], op[-1])))

    def do_not(self, op, operands):
        self.set(operands[0], ~self.value(operands[1], op[-1]))

    def shift(self, op, operands, by):
        value = self.value(operands[1], op[-1])
        count = self.value(operands[2], "b32")
        bits = 8 * value.dtype.itemsize
        assert (count[self.active] < bits).all()
        self.set(operands[0], by(value, count.astype(value.dtype)))

    def do_shl(self, op, operands):
        self.shift(op, operands, np.left_shift)

    def do_shr(self, op, operands):
        self.shift(op, operands, np.right_shift)

    def do_bfe(self, op, operands):
        """So many bits from a position on."""
        assert op[-1] in ("u32", "u64"), op
        value = self.value(operands[1], op[-1])
        position, length = (self.value(operand, "u32") for operand in operands[2:])
        assert (position + length <= 8 * value.dtype.itemsize).all() and (length < 32).all()
        mask = (np.left_shift(np.uint64(1), length.astype(np.uint64)) - np.uint64(1)).astype(value.dtype)
        self.set(operands[0], np.right_shift(value, position.astype(value.dtype)) & mask)

    def do_rem(self, op, operands):
        x, y = (self.value(operand, op[-1]) for operand in operands[1:])
        self.set(operands[0], x % np.where(y == 0, np.ones_like(y), y))

    def __getattr__(self, name):
        if name.startswith("do_") and name[3:] in INTEGER:
            return self.elementwise
        raise AttributeError(name)

    def elementwise(self, op, operands):
        x, y = (self.value(operand, op[-1]) for operand in operands[1:])
        if op[0] in ("min", "max") and op[-1].startswith("f"):
            return self.set(operands[0], {"min": np.fmin, "max": np.fmax}[op[0]](x, y))
        return self.set(operands[0], INTEGER[op[0]](x, y))
