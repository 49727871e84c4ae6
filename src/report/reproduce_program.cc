// What a script of `opscope reproduce` does with the recorded facts at its top: it makes the tensors, finds the
// overload, and times it. A trace seldom has the name of the overload, and torch's schema is at hand only where the
// script runs. So the script chooses there: the overload whose parameters fit the arguments best.
//
//   aten::sum, a tensor, [0, 1], False, None      sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim, *, ...)
//
// Torch's own resolution cannot be used: a recording has the arguments in the order of the schema, and calls take some
// of them by keyword only.
// SPDX-License-Identifier: Apache-2.0
#include "report/reproduce_program.h"

namespace opscope {

const std::string_view kReproduceProgram = R"python(

def make_tensor(device, sizes, strides, dtype, values):
    """A tensor with these sizes and strides, which may be 0 or overlap, over memory of its own."""
    elements = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides))
    elements = 0 if 0 in sizes else elements
    if values == "zeros":
        memory = torch.zeros(elements, device=device).to(dtype)
    elif values == "integers":
        low, high = (0, 2) if dtype is torch.bool else (1, 10)
        memory = torch.randint(low, high, (elements,), device=device).to(dtype)
    elif values == "uniform":
        memory = torch.rand(elements, device=device).to(dtype)
    else:
        memory = torch.randn(elements, dtype=torch.complex64 if dtype.is_complex else torch.float32, device=device)
        memory = memory.to(dtype)
    return torch.as_strided(memory, sizes, strides)


def misfit(parameter, value):
    """How badly a value fits a parameter of torch's schema, 0: well; None: not at all."""
    kind = str(parameter.type)
    is_optional = kind.startswith("Optional[")
    kind = kind[len("Optional[") : -1] if is_optional else kind
    if value is NOT_RECORDED:
        return 0 if is_optional else 1 if kind == "Device" or parameter.has_default_value() else 2
    if value is None:
        return 0 if is_optional else 1 if kind == "Tensor" else None
    if isinstance(value, list):
        items = kind[len("List[") : -1] if kind.startswith("List[") else ""
        types = {scalar_kind(item) for item in value}
        if items == "Optional[Tensor]":
            items = "Tensor"
        return 0 if items and types <= {items} else 1 if items == "number" and "Tensor" not in types else None
    return 0 if kind == scalar_kind(value) else 1 if kind == "number" and not isinstance(value, torch.Tensor) else None


def scalar_kind(value):
    return "Tensor" if value is None or isinstance(value, torch.Tensor) else type(value).__name__


def find_operator(arguments):
    """The overload of the recorded name, else the one whose parameters fit the arguments best."""
    library = getattr(torch.ops, LIBRARY)
    try:
        packet = getattr(library, NAME)
    except AttributeError:
        sys.exit(f"{LIBRARY}::{NAME} is not registered in torch {torch.__version__}: import what registers it")
    if OVERLOAD:
        if OVERLOAD not in packet.overloads():
            sys.exit(f"torch {torch.__version__} has no overload {OVERLOAD!r} of {LIBRARY}::{NAME}")
        return getattr(packet, OVERLOAD)
    fitting = []
    for overload in packet.overloads():
        parameters = getattr(packet, overload)._schema.arguments
        misfits = [misfit(*pair) for pair in zip(parameters, arguments)]
        missing = parameters[len(arguments) :]
        if len(arguments) <= len(parameters) and None not in misfits and all(p.has_default_value() for p in missing):
            fitting.append((len(missing), sum(misfits), len(fitting), overload))
    if not fitting:
        sys.exit(f"no overload of {LIBRARY}::{NAME} in torch {torch.__version__} takes the recorded arguments")
    return getattr(packet, min(fitting)[3])


def split_arguments(operator, arguments, device):
    """Positional and keyword arguments. What was not recorded: the device, torch's default, or None."""
    positional, keywords, stand_ins = [], {}, []
    if len(arguments) > len(operator._schema.arguments):
        sys.exit(f"{operator} takes {len(operator._schema.arguments)} arguments, {len(arguments)} were recorded")
    for parameter, value in zip(operator._schema.arguments, arguments):
        if value is NOT_RECORDED:
            kind = str(parameter.type)
            if kind in ("Device", "Optional[Device]"):
                value = torch.device(device) if kind == "Device" or device != "cpu" else None
            elif kind.startswith("Optional[") or parameter.has_default_value():
                value = parameter.default_value if parameter.has_default_value() else None
                stand_ins.append(f"{parameter.name}={value}")
            else:
                sys.exit(f"{operator}: '{parameter.name}' ({kind}) was not recorded: write it into make_arguments()")
        if parameter.kwarg_only:
            keywords[parameter.name] = value
        else:
            positional.append(value)
    if stand_ins:
        print("not recorded, passed as:", ", ".join(stand_ins))
    return positional, keywords


def time_text(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3f} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def main():
    parser = argparse.ArgumentParser(description=f"Runs {LIBRARY}::{NAME} as it was recorded, and times it.")
    recorded = "cuda" if RECORDED_DEVICE == "cuda" and torch.cuda.is_available() else "cpu"
    parser.add_argument("--device", choices=["cpu", "cuda"], default=recorded, help=f"default: {recorded}")
    parser.add_argument("--number", type=int, default=0, help="calls to time; default: as many as take 0.2 seconds")
    parser.add_argument("--warmup", type=int, default=3, help="calls before the timed ones")
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.exit("torch finds no CUDA device here: use --device cpu")
    try:
        arguments = make_arguments(functools.partial(make_tensor, options.device))
        operator = find_operator(arguments)
        positional, keywords = split_arguments(operator, arguments, options.device)
        with torch.no_grad():
            for _ in range(max(options.warmup, 1)):
                operator(*positional, **keywords)
            timer = benchmark.Timer(
                "operator(*positional, **keywords)",
                globals={"operator": operator, "positional": positional, "keywords": keywords},
                num_threads=torch.get_num_threads(),
            )
            measured = timer.timeit(options.number) if options.number > 0 else timer.blocked_autorange()
    except (RuntimeError, NotImplementedError, TypeError, ValueError, IndexError) as error:
        sys.exit(f"{LIBRARY}::{NAME} does not run with the inputs that stand in for the recorded ones: {error}")
    where = options.device if options.device == "cuda" else f"cpu, {torch.get_num_threads()} threads"
    print(f"operator: {operator}")
    print(f"recorded: {RECORDED_TIME}")
    print(f"measured: median {time_text(measured.median)} on {where}")


if __name__ == "__main__":
    main()
)python";

}  // namespace opscope
