"""TensorFlow's contract of the tape, sentence by sentence: what TensorFlow 2.21 gives, we give.

A file for each chapter with a table: the sentence, what is done, and what comes out.
"""

import pytest

from tests.contract import (
    control_flow,
    custom_gradient,
    forward_mode,
    gradients,
    higher_orders,
    jacobians,
    pinned_numbers,
    tape_life,
    variables,
    watching,
)
from tests.contract.shared import raises
from tests.surface.test_values import agree

CHAPTERS = (
    watching,
    gradients,
    tape_life,
    higher_orders,
    jacobians,
    custom_gradient,
    variables,
    forward_mode,
    control_flow,
    pinned_numbers,
)
SENTENCES = {name: row for chapter in CHAPTERS for name, row in chapter.SENTENCES.items()}


def test_no_sentence_is_said_twice():
    assert len(SENTENCES) == sum(len(chapter.SENTENCES) for chapter in CHAPTERS)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_contract(sentence):
    done, expected = SENTENCES[sentence]
    if isinstance(expected, raises):
        with pytest.raises(expected.error) as caught:
            done()
        assert expected.words in str(caught.value)
    elif isinstance(expected, type):
        assert done() is expected
    else:
        agree(done(), expected)
