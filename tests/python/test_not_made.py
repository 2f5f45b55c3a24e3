"""Objects whose __init__ has not run, or raised: a traceback or a debugger may still show them."""
# SPDX-License-Identifier: BSD-3-Clause
import pytest

import libpubsub
from libpubsub import _core

CLASSES = [each for each in vars(_core).values() if isinstance(each, type) and not issubclass(each, (Exception, tuple))]
assert len(CLASSES) > 20


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_members_of_what_was_not_made_raise(cls):
    try:
        empty = cls.__new__(cls)
    except TypeError:
        return  # such an object cannot be had at all
    for name, member in vars(cls).items():
        if isinstance(member, property):
            with pytest.raises(TypeError, match="not made"):
                getattr(empty, name)


def test_a_constructor_that_raises_leaves_an_object_that_can_be_looked_at():
    caught = []

    class Watched(libpubsub.Condition):
        def __init__(self, text):
            caught.append(self)
            super().__init__(text)

    with pytest.raises(libpubsub.InvalidArgument):
        Watched("a ==")
    with pytest.raises(TypeError, match="not made"):
        repr(caught[0])
    with pytest.raises(TypeError, match="not made"):
        caught[0].judge(1)


def test_a_subclass_that_begins_too_early_gets_an_error():
    class Sensor(libpubsub.Endpoint):
        def __init__(self):
            self.publish("/t", 1)

    with pytest.raises(TypeError, match="not made"):
        Sensor()
