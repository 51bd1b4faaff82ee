"""Tables of the ONNX operators that stand for the operations of compiled layers.

Definition   an operation is called as in compiled source (`np.exp`, `x + y`, `x.sum`); beside it stands the operator's
             type in the default domain. An operation without an operator of its own is composed of others, in `arrays`
Source       the operators of ONNX, opset 18: https://onnx.ai/onnx/operators
"""

__all__ = ["BINARY", "COMPARISONS", "ENTRYWISE", "NUMBER_TYPES", "OPSET", "REDUCTIONS"]

OPSET = 18  # the first in which all reductions take their axes as an input; engines of today read it

ENTRYWISE = {
    "abs": "Abs",
    "arccos": "Acos",
    "arccosh": "Acosh",
    "arcsin": "Asin",
    "arcsinh": "Asinh",
    "arctan": "Atan",
    "arctanh": "Atanh",
    "ceil": "Ceil",
    "cos": "Cos",
    "cosh": "Cosh",
    "erf": "Erf",
    "exp": "Exp",
    "expit": "Sigmoid",
    "floor": "Floor",
    "invert": "Not",
    "log": "Log",
    "negative": "Neg",
    "sign": "Sign",
    "sin": "Sin",
    "sinh": "Sinh",
    "sqrt": "Sqrt",
    "tan": "Tan",
    "tanh": "Tanh",
}

BINARY = {
    "add": "Add",
    "divide": "Div",
    "floor_divide": "Div",  # of whole numbers that are not negative, as sizes are
    "maximum": "Max",
    "minimum": "Min",
    "mod": "Mod",  # of whole numbers, with the sign of the divisor
    "multiply": "Mul",
    "power": "Pow",
    "subtract": "Sub",
}

COMPARISONS = {
    "bitwise_and": "And",
    "bitwise_or": "Or",
    "equal": "Equal",
    "greater": "Greater",
    "greater_equal": "GreaterOrEqual",
    "less": "Less",
    "less_equal": "LessOrEqual",
}

REDUCTIONS = {
    "max": "ReduceMax",
    "mean": "ReduceMean",
    "min": "ReduceMin",
    "prod": "ReduceProd",
    "sum": "ReduceSum",
}

NUMBER_TYPES = {"bool": "BOOL", "int64": "INT64", "float32": "FLOAT", "float64": "DOUBLE"}  # in the order of promotion
