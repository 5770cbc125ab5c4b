"""The table of captured runs in the documents is what the traces show."""

import pytest

from .captured import printed, shown


@pytest.mark.slow
def test_the_document_has_the_table_that_the_command_prints() -> None:
    assert shown() == printed()
