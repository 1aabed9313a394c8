"""What float32 vector instructions the CPU that Numba compiles for has.

LLVM compiles a small function, and the registers in its assembly show the capabilities. So the
result follows NUMBA_CPU_NAME and NUMBA_CPU_FEATURES too.
"""

import functools
import re

import llvmlite.binding as llvm
from numba.core.registry import cpu_target

_PROGRAM = """
target triple = "{triple}"
define void @f(<16 x float>* %x, <16 x float>* %y) {{
  %a = load <16 x float>, <16 x float>* %x
  %b = load <16 x float>, <16 x float>* %y
  %m = fmul contract <16 x float> %a, %a
  %s = fadd contract <16 x float> %m, %b
  store <16 x float> %s, <16 x float>* %x
  ret void
}}
"""


@functools.cache
def assembly():
    """Return the architecture, and the assembly code of x² + y on 16 float32 elements."""
    codegen = cpu_target.target_context.codegen()
    triple, cpu, features = codegen.magic_tuple()
    machine = llvm.Target.from_triple(triple).create_target_machine(
        cpu=cpu, features=features, opt=2
    )
    module = llvm.parse_assembly(_PROGRAM.format(triple=triple))
    return triple.split("-")[0], machine.emit_assembly(module)


def _capabilities():
    """Return (name, lanes, number of registers, has fused multiply-add, has masked loads)."""
    architecture, text = assembly()
    fused = re.search(r"\bvfn?madd|\bfmla\b", text) is not None
    if "zmm" in text:
        return "AVX-512", 16, 32, fused, True
    if "ymm" in text:
        return ("AVX2" if fused else "AVX"), 8, 16, fused, True
    if architecture in ("aarch64", "arm64"):
        return "NEON", 4, 32, fused, False
    return ("SSE" if "xmm" in text else architecture), 4, 16, fused, False


NAME, LANES, REGISTERS, FUSED, MASKED = _capabilities()
