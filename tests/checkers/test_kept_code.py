"""Compiled functions work for a user who has no place to keep machine code."""

from collections.abc import Callable
from typing import Any

import numba
import pytest

from rocketproof.checkers import kept_code


def refusing(trouble: str) -> Callable[..., Any]:
    """numba.njit where the cache cannot be used."""

    def njit(*, cache: bool = False, **options: Any) -> Any:
        if cache:
            raise RuntimeError(trouble)
        return numba.njit(**options)

    return njit


def one_more(number: int) -> int:
    return number + 1


def test_without_a_place_for_it_the_code_is_compiled_for_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_code, "njit", refusing("cannot cache function 'one_more': no locator available for file"))
    assert kept_code.kept(nogil=True)(one_more)(3) == 4


def test_other_trouble_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_code, "njit", refusing("something else"))
    with pytest.raises(RuntimeError, match="something else"):
        kept_code.kept()(one_more)
