"""Views and copies of tensors, by the shape they are taken of."""

from __future__ import annotations

from tests.differential.generator.scope import Shape


def views(shape: Shape) -> list[tuple[str, Shape]]:
    """Views that torch takes of any tensor with this shape, whatever its strides."""
    size = len(shape)
    found: list[tuple[str, Shape]] = [
        ("{}.detach()", shape),
        ("{}[...]", shape),
        ("{}.unsqueeze(0)", (1, *shape)),
        ("{}[None]", (1, *shape)),
        ("{}.view_as({})", shape),
    ]
    if size == 2:
        rows, columns = shape
        found += [
            ("{}.t()", (columns, rows)),
            ("{}.T", (columns, rows)),
            ("{}.transpose(0, 1)", (columns, rows)),
            ("{}.permute(1, 0)", (columns, rows)),
            ("torch.transpose({}, 0, 1)", (columns, rows)),
            ("{}.mT", (columns, rows)),
            ("{}.swapaxes(0, 1)", (columns, rows)),
            ("{}[0]", (columns,)),
            ("{}[-1]", (columns,)),
            ("{}.select(0, 1)", (columns,)),
            ("{}[:, 0]", (rows,)),
            ("{}[..., 0]", (rows,)),
            ("{}[:2]", (2, columns)),
            ("{}[:, :2]", (rows, 2)),
            ("{}[1:, 1:]", (rows - 1, columns - 1)),
            ("{}[::2]", ((rows + 1) // 2, columns)),
            ("{}.narrow(0, 1, 2)", (2, columns)),
            ("{}.expand(3, -1, -1)", (3, *shape)),
            ("{}.movedim(0, 1)", (columns, rows)),
            ("{}.chunk(2)[0]", ((rows + 1) // 2, columns)),
            ("{}.split(2)[0]", (2, columns)),
            ("torch.unbind({})[1]", (columns,)),
            ("{}.diagonal()", (min(shape),)),
            ("{}.squeeze()", shape),
        ]
        if 0 in found[-1][1] or min(shape) < 3:
            found = [view for view in found if min(view[1]) > 1 or len(view[1]) > 2]
    elif size == 1:
        found += [("{}[1:]", (shape[0] - 1,)), ("{}.unsqueeze(-1).expand(-1, 3)", (shape[0], 3))]
    elif size == 3 and shape[0] == 1:
        found += [("{}.squeeze(0)", shape[1:]), ("{}[0]", shape[1:])]
    elif size == 3:
        found += [("{}[0]", shape[1:]), ("{}.transpose(0, 2)", shape[::-1]), ("{}.unbind(0)[1]", shape[1:])]
    return [(text, shape) for text, shape in found if len(shape) <= 3 and all(side > 0 for side in shape)]


def flat(shape: Shape) -> int:
    total = 1
    for side in shape:
        total *= side
    return total


MAYBE_COPIES = ("{}.contiguous()", "{}.reshape(-1)", "{}.flatten()", "torch.flatten({})", "{}.ravel()")
