"""Memory: equations have none, so a write that another name would see is refused, and all others are followed."""

import copy

import numpy as np
import pytest

from derivations.symbols import d, n
from numeric.lifting import NotFollowed, lift
from tests.numeric.lifting.following import follows


def same_object(x):
    y = x + 1
    z = y
    y += 1
    return z * 2


def view_that_is_gone(x):
    y = x + 1
    z = y.T * 2
    y *= 3
    return y + z.T


def in_a_function(x):
    def doubled(z):
        z *= 2

    y = x + 1
    doubled(y)
    return y


def in_a_list(x):
    y = [x + 1]
    y[0] -= 3
    z = y[0]
    z /= 2
    return y[0]


def with_out(x):
    y = x + 1
    z = np.multiply(y, y, out=y)
    y += 1
    return z


def of_a_copy(x):
    y = x.copy()
    y += 1
    z = np.array(x)
    z -= 1
    return x * y * z


def same_through_asarray(x):
    y = x + 1
    z = np.asarray(y)
    z += 1
    return y


def everywhere(x):
    y = np.zeros_like(x)
    y[...] = x[0]
    y[y > 0.5] = 2.0
    return y


def into_a_wider_array(x):
    y = np.zeros((x.shape[0], x.shape[1]))
    np.add(x[:1], 1.0, out=y)
    return y.sum(0)


def of_a_mask(x):
    mask = x > 0
    numbers = mask.astype(float)
    numbers *= 0
    return x * mask + numbers


@pytest.mark.parametrize(
    "function",
    [
        same_object,
        view_that_is_gone,
        in_a_function,
        in_a_list,
        with_out,
        of_a_copy,
        same_through_asarray,
        everywhere,
        into_a_wider_array,
        of_a_mask,
    ],
)
def test_writes_that_equations_can_state(function):
    follows(function, x=(n, d))


def of_an_argument(x):
    x += 1
    return x * 2


def of_a_view_of_an_argument(x):
    y = x.T
    y *= 2
    return y + x.T


def of_an_entry_of_an_argument(x):
    x[...] = 0
    return x * 2


def with_a_view(x):
    y = x + 1
    z = y.T
    y += 1
    return z


def with_a_row(x):
    y = x + 1
    z = y[0]
    z += 1
    return y


def with_a_reshape(x):
    y = x + 1
    z = np.ravel(y)
    y += 1
    return z


def with_a_view_of_a_view(x):
    y = x + 1
    z = y[None]
    w = z[0]
    del z
    y *= 2
    return w


def with_a_transpose_that_changes_nothing(x):
    y = x + 1
    z = np.transpose(y, (0, 1))
    y *= 2
    return z


def with_a_broadcast(x):
    y = x + 1
    z = np.broadcast_to(y, (2, *y.shape))
    y *= 2
    return z


def with_an_axis_less(x):
    y = x[:, None] + 1
    z = np.squeeze(y, 1)
    y *= 2
    return z


def with_a_part(x):
    y = x + 1
    (z,) = np.split(y, 1)
    y *= 2
    return z


def through_a_transpose(x):
    y = x + 1
    y.T[...] = 0
    return y


def into_a_part(x):
    y = x + 1
    y[np.arange(x.shape[0])] = 0
    return y


def real_numbers_into_a_mask(x):
    mask = x > 0
    mask *= x
    return mask


@pytest.mark.parametrize(
    "function",
    [
        of_an_argument,
        of_a_view_of_an_argument,
        of_an_entry_of_an_argument,
        with_a_view,
        with_a_row,
        with_a_reshape,
        with_a_view_of_a_view,
        with_a_transpose_that_changes_nothing,
        with_a_broadcast,
        with_an_axis_less,
        with_a_part,
        through_a_transpose,
        into_a_part,
        real_numbers_into_a_mask,
    ],
)
def test_a_write_that_another_name_would_see_is_refused(function):
    with pytest.raises(NotFollowed, match=f"a write .*in {function.__name__}"):
        lift(function, x=(n, d))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_by_other_means_is_refused(copied):
    with pytest.raises(NotFollowed, match="copy"):
        lift(lambda x: copied(x + 1) * 2, x=(n, d))


KEPT = []


def test_an_array_kept_from_another_call_is_refused():
    def keeps(x):
        KEPT.append(x * 2)
        return KEPT[0] + x

    with pytest.raises(NotFollowed, match="kept from an earlier call"):
        lift(keeps, x=(n,))


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (lambda x: x if x.sum() > 0 else -x, "truth value"),
        (lambda x: x * float(x[0]), "float()"),
        (lambda x: x * x[0].item(), "item()"),
        (lambda x: x * len(x), "len()"),
        (lambda x: x * (1.0 in x), "no rule"),
        (lambda x: divmod(x, 2), "no rule"),
        (lambda x: x.nonzero()[0], "nonzero"),
        (lambda x: x * x.flags.writeable, "flags"),
        (lambda x: np.float64(x), "no rule"),
        (lambda x: sum(x), "symbolic"),
    ],
)
def test_what_needs_entries_is_refused(function, named):
    with pytest.raises(NotFollowed, match=named):
        lift(function, x=(n,))


def test_an_attribute_that_arrays_do_not_have_is_the_function_s_error():
    follows(lambda x: x * (2 if hasattr(x, "detach") else 3), x=(n,))
