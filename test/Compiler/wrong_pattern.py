"""Patterns that are wrong: vectors keep their length where they should lose it."""

TEXT = '''module {
  pdl.pattern : benefit(1) {
    %v = pdl.operand
    %t = pdl.type
    %root = pdl.operation "nb.normalize"(%v : !pdl.value) -> (%t : !pdl.type)
    pdl.rewrite %root {
      pdl.replace %root with (%v : !pdl.value)
    }
  }
}
'''
