"""Models for ONNX Runtime that multiply queries with codes, as screen.py wants them.

Written in protobuf's own terms (onnx.proto): the package `onnx` weighs more than all that is served.
"""

import struct
from collections.abc import Iterable, Sequence

QUERY_LEVEL = 127  # the largest code of a query
ZERO = QUERY_LEVEL + 1  # what stands for 0 in it, since it has no sign
LEAST = 1e-12  # taken for the largest value of a query that is all zeros
OPSET = 21
FLOAT, UINT8, INT8, INT32, INT64 = 1, 2, 3, 6, 7  # ONNX's numbers of types
INTEGER = 2  # and of an attribute that is one

Fields = Iterable[tuple[int, int | bytes]]


def product_of_codes(count: int, dimension: int) -> bytes:
    """queries (n, dimension) uint8 less ZERO, times codes (dimension, count): products (n, count) int32."""
    return _model(
        nodes=[_node("MatMulInteger", ["queries", "codes", "zero"], ["products"])],
        constants=[_codes(count, dimension), _constant("zero", UINT8, bytes([ZERO]))],
        inputs=[_value("queries", UINT8, dimension)],
        outputs=[_value("products", INT32, count)],
    )


def product_of_queries(count: int, dimension: int) -> bytes:
    """queries (n, dimension) float32 -> products of their codes (n, count) int32, and scale (n, 1): what the
    values of each were multiplied by, so that the largest is QUERY_LEVEL."""
    nodes = [
        _node("Abs", ["queries"], ["sizes"]),
        _node("ReduceMax", ["sizes", "columns"], ["largest"]),
        _node("Max", ["largest", "least"], ["divisor"]),
        _node("Div", ["level", "divisor"], ["scale"]),
        _node("Mul", ["queries", "scale"], ["scaled"]),
        _node("Round", ["scaled"], ["rounded"]),
        _node("Add", ["rounded", "middle"], ["shifted"]),
        _node("Cast", ["shifted"], ["coded"], to=UINT8),
        _node("MatMulInteger", ["coded", "codes", "zero"], ["products"]),
    ]
    constants = [
        _codes(count, dimension),
        _constant("zero", UINT8, bytes([ZERO])),
        _constant("columns", INT64, struct.pack("<q", 1), length=1),
        *(
            _constant(name, FLOAT, struct.pack("<f", number))
            for name, number in (("least", LEAST), ("level", QUERY_LEVEL), ("middle", ZERO))
        ),
    ]
    return _model(
        nodes,
        constants,
        inputs=[_value("queries", FLOAT, dimension)],
        outputs=[_value("products", INT32, count), _value("scale", FLOAT, 1)],
    )


def _model(
    nodes: Sequence[bytes], constants: Sequence[bytes], inputs: Sequence[bytes], outputs: Sequence[bytes]
) -> bytes:
    graph: list[tuple[int, int | bytes]] = [(1, node) for node in nodes]
    graph += [(2, b"product"), *((5, constant) for constant in constants)]
    graph += [*((11, value) for value in inputs), *((12, value) for value in outputs)]
    return _message([(1, 10), (8, _message([(1, b""), (2, OPSET)])), (7, _message(graph))])


def _node(kind: str, inputs: Sequence[str], outputs: Sequence[str], **integers: int) -> bytes:
    fields: list[tuple[int, int | bytes]] = [(1, name.encode()) for name in inputs]
    fields += [*((2, name.encode()) for name in outputs), (4, kind.encode())]
    for name, value in integers.items():
        fields.append((5, _message([(1, name.encode()), (3, value), (20, INTEGER)])))
    return _message(fields)


def _codes(count: int, dimension: int) -> bytes:
    """(dimension, count) int8, which are given beside the model."""
    location = _message([(1, b"location"), (2, b"codes")])
    return _message([(1, dimension), (1, count), (2, INT8), (8, b"codes"), (13, location), (14, 1)])


def _constant(name: str, kind: int, content: bytes, length: int | None = None) -> bytes:
    """A number, or so many of them."""
    shape: list[tuple[int, int | bytes]] = [] if length is None else [(1, length)]
    return _message([*shape, (2, kind), (8, name.encode()), (9, content)])


def _value(name: str, kind: int, width: int) -> bytes:
    """A matrix of any number of rows."""
    shape = _message([(1, _message([(2, b"n")])), (1, _message([(1, width)]))])
    return _message([(1, name.encode()), (2, _message([(1, _message([(1, kind), (2, shape)]))]))])


def _message(fields: Fields) -> bytes:
    """Numbered fields, integers or what has a length."""
    parts: list[bytes] = []
    for number, value in fields:
        if isinstance(value, int):
            parts += [_varint(number << 3), _varint(value)]
        else:
            parts += [_varint(number << 3 | 2), _varint(len(value)), value]
    return b"".join(parts)


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])
