"""The laws of joins: whatever the order in which paths come together, the result is the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from remat_lint.analysis.facts import Kept
from remat_lint.analysis.state import State, join_states
from remat_lint.analysis.values import (
    NONE,
    SCALAR,
    Choice,
    Constant,
    External,
    Sequence,
    Tensor,
    Token,
    Unknown,
    Value,
    alternatives,
    direct_tokens,
    join,
)
from remat_lint.findings import Place

TOKENS = [Token(serial, f"region {serial}", Place("model.py", serial), Kept.SAVE) for serial in range(1, 4)]

plain = st.sampled_from([NONE, SCALAR, Constant(1), Unknown(), Tensor(), External("torch.sin")])
tensors = st.sampled_from([Tensor(token, storage=token.serial) for token in TOKENS])
leaves = plain | tensors
values = leaves | st.lists(leaves, min_size=1, max_size=2).map(lambda items: Sequence(tuple(items)))


def meaning(value: Value) -> frozenset[Value]:
    """A value up to the order of its alternatives."""
    return frozenset(alternatives(value))


@given(values, values)
def test_join_is_commutative(first: Value, second: Value) -> None:
    assert frozenset(direct_tokens(join(first, second))) == frozenset(direct_tokens(join(second, first)))


@given(values)
def test_join_is_idempotent(value: Value) -> None:
    assert join(value, value) == value


@given(values, values, values)
def test_join_is_associative_in_the_outputs_it_may_be(first: Value, second: Value, third: Value) -> None:
    left, right = join(join(first, second), third), join(first, join(second, third))
    assert frozenset(direct_tokens(left)) == frozenset(direct_tokens(right))


@given(values, values)
def test_join_loses_no_output(first: Value, second: Value) -> None:
    before = {*direct_tokens(first), *direct_tokens(second)}
    assert set(direct_tokens(join(first, second))) == before


@given(tensors, tensors)
def test_two_outputs_stay_alternatives(first: Value, second: Value) -> None:
    if first != second:
        assert meaning(join(first, second)) == {first, second}
        assert isinstance(join(first, second), Choice)


# --- paths

token_sets = st.frozensets(st.sampled_from(TOKENS))


@st.composite
def paths(draw: st.DrawFn) -> State:
    state = State()
    for token in draw(token_sets):
        state.born[token] = draw(st.integers(1, 3))
        state.bind(1, f"y{token.serial}", Tensor(token))
    for token in draw(token_sets):
        if token in state.born:
            state.mark(token)
    return state


@given(paths(), paths())
def test_joined_paths_persist_what_each_of_them_persists_or_never_had(first: State, second: State) -> None:
    joined = join_states(first, second)
    for token in joined.born:
        on_both = all(token in path.marked or token not in path.born for path in (first, second))
        assert (token in joined.marked) is on_both


@given(paths(), paths())
def test_joining_paths_is_commutative_in_what_is_persisted(first: State, second: State) -> None:
    one, other = join_states(first, second), join_states(second, first)
    assert (one.marked, one.born) == (other.marked, other.born)


@given(paths())
def test_a_path_joined_with_itself_is_itself(path: State) -> None:
    joined = join_states(path, path)
    assert joined.signature() == path.signature()


@given(paths())
def test_a_fork_does_not_change_its_origin(path: State) -> None:
    before = path.signature()
    fork = path.fork()
    fork.bind(1, "z", Tensor(TOKENS[0]))
    fork.mark(TOKENS[1])
    assert path.signature() == before
