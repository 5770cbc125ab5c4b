"""Conditions as trees: what they mean, what is shared, what stays whole."""

import z3

from rocketproof.checkers.reduction.conditions import Conditions, Kind

a, b, c = z3.Bools("a b c")
x = z3.Int("x")


def shape(conditions: Conditions, number: int) -> str:
    node = conditions.nodes[number]
    if node.kind is Kind.ATOM:
        return str(node.term).replace("\n", "")
    sign = " & " if node.kind is Kind.ALL else " | "
    return "(" + sign.join(sorted(shape(conditions, part) for part in node.parts)) + ")"


def spelled(term: z3.BoolRef, *, wanted: bool = True) -> str:
    conditions = Conditions()
    return shape(conditions, conditions.add(term, wanted=wanted))


def test_trees_of_conjunctions_and_disjunctions() -> None:
    assert spelled(z3.And(a, z3.Or(b, x > 0), z3.And(c, x < 3))) == "((Not(x <= 0) | b) & Not(3 <= x) & a & c)"
    assert spelled(z3.Implies(a, b)) == "(Not(a) | b)"
    assert spelled(z3.If(a, b, c)) == "((Not(a) & c) | (a & b))"
    assert spelled(z3.Or(a, z3.Or(b, c))) == "(a | b | c)"


def test_what_is_not_wanted_is_turned_around() -> None:
    assert spelled(z3.And(a, z3.Or(b, x > 0)), wanted=False) == "((Not(b) & x <= 0) | Not(a))"
    assert spelled(z3.Implies(a, b), wanted=False) == "(Not(b) & a)"
    assert spelled(z3.If(a, b, c), wanted=False) == "((Not(a) & Not(c)) | (Not(b) & a))"


def test_comparisons_and_equalities_stay_whole() -> None:
    assert spelled(z3.If(a, x, 0) + x > 3).startswith("Not(")
    assert spelled(a == b) == "a == b"


def test_every_node_means_its_parts_and_the_whole_means_the_term() -> None:
    terms = [
        z3.Xor(a, z3.And(b, x > 1)),
        z3.If(z3.Or(a, z3.Not(b)), z3.Implies(c, x == 2), z3.And(a, z3.Or(c, b))),
        z3.Not(z3.And(z3.Or(a, b), z3.If(c, a, z3.Not(b)), x + 1 > 2)),
    ]
    for term in terms:
        for wanted in (True, False):
            conditions = Conditions()
            root = conditions.nodes[conditions.add(term, wanted=wanted)]
            solver = z3.Solver()
            solver.add(root.term != (term if wanted else z3.Not(term)))
            assert solver.check() == z3.unsat
            for node in conditions.nodes:
                if node.parts:
                    parts = [conditions.nodes[part].term for part in node.parts]
                    joined = z3.And(parts) if node.kind is Kind.ALL else z3.Or(parts)
                    assert joined.eq(node.term)


def test_equal_parts_are_one_node_and_stand_before_their_users() -> None:
    conditions = Conditions()
    first = conditions.add(z3.And(a, z3.Or(b, c)))
    count = len(conditions.nodes)
    assert conditions.add(z3.And(a, z3.Or(b, c))) == first
    conditions.add(z3.Or(z3.And(x > 0, z3.Or(b, c)), a))
    assert len(conditions.nodes) == count + 3  # the comparison, the conjunction, the disjunction
    assert all(part < number for number, node in enumerate(conditions.nodes) for part in node.parts)
