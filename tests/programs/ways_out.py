"""Ways out of branches and loops: returns in branches of branches with more to do behind them, and `else` of loops."""


def returned_two_branches_deep(x):
    if x > 0:
        if x > 1:
            if x > 2:
                return x * 2
            if x > 1.5:
                x = x * x
        x = x * 3
    return x


def returned_three_branches_deep(x):
    y = x
    if x > 0:
        if x > 1:
            if x > 2:
                if x > 3:
                    return x * 2
                y = y * 3
            y = y + x * x
        for _ in range(2):
            y = y * x
    return y + x


def returned_from_two_depths(x):
    y = x
    if x > 0:
        if x > 1:
            if x > 2:
                return x * 2
            y = y * x
        if x > 0.8:
            if x > 1.2:
                return y * 3
            y = y + x
        y = y * 5
    y = y + 1
    return y * x


def returned_behind_a_loop(x):
    if x > 0:
        if x > 1:
            for k in range(3):
                x = x * 1.1
                if x > 2.2:
                    return x * k
            x = x + 1
        if x > 0.8:
            x = x * x
    return x


def continued_two_branches_deep(x):
    s = 0.0
    for k in range(4):
        y = x + k
        if y > 1:
            if y > 2:
                if k == 2:
                    continue
                y = y * y
            y = y + x
        s = s + y
    return s


def left_two_branches_deep(x):
    s = 0.0
    for k in range(4):
        y = x + k
        if y > 1:
            if y > 2:
                if k == 2:
                    break
                y = y * y
            y = y + x
        s = s + y
    return s


def left_and_continued(x):
    s = 0.0
    for k in range(5):
        y = x * k
        if y > 0.5:
            if y > 2.0:
                break
            if y > 1.0:
                s = s + y
                continue
            y = y * 2
        s = s + y * y
    return s * x


def left_and_continued_at_two_depths(x):
    s, k = 0.0, 0
    while k < 6:
        k += 1
        y = x * k
        if y > 0.5:
            if y > 1.0:
                if y > 3.0:
                    break
                if k == 3:
                    continue
                y = y * 1.5
            if y > 1.8:
                if k == 4:
                    continue
                if y > 2.5:
                    break
                s = s + 1.0
            y = y * 2
        s = s + y * y
    else:
        s = s * 10
    return s * x


def left_continued_and_returned(x):
    s = 0.0
    for i in range(3):
        for k in range(4):
            if x * k > i:
                if k == 3:
                    break
                if i == 1:
                    continue
                if x > 1.2:
                    if s > 3.0:
                        return s * x
                    s = s + x
                s = s + x * x
            s = s * 1.1 + k
    return s


def returned_through_tests(x):
    if x > 0.5 and (y := x * x) > 0.5:
        if y > 4:
            return y
        elif y > 2:
            if y > 3:
                return x
            x = x * y
        x = x + y
    return x * x


def while_with_a_name_in_its_test(x):
    v, n = x, 0
    while n < 2 and (m := 2 * x) > 0:
        n += 1
    else:
        v = x * m
    return v


def while_that_calls(x):
    def goes_on(z):
        return -3 < z < 3

    v = x
    while goes_on(v):
        v = v * 1.7
        if v > 2.8:
            break
    else:
        v = v * x
    return v


def while_that_takes_items(x):
    for items in ([x], [x, 2 * x]):
        while items and (v := items.pop()) > 0:
            if v > 5:
                break
        else:
            if x > 2:
                continue
            x = x * 2
            break
    else:
        x = x * 5
    return x


def while_that_returns(x):
    n = 0
    while (v := x + n) < 3:
        n += 1
        if v > 2.5:
            return v * x
    else:
        x = x * v
    return x * n


ALL = (
    returned_two_branches_deep, returned_three_branches_deep, returned_from_two_depths, returned_behind_a_loop,
    continued_two_branches_deep, left_two_branches_deep, left_and_continued, left_and_continued_at_two_depths,
    left_continued_and_returned, returned_through_tests, while_with_a_name_in_its_test,
    while_that_calls, while_that_takes_items, while_that_returns,
)  # fmt: skip


def all_called(x):
    return sum([f(x) * f(x + 0.7) for f in ALL])


PROGRAMS = [(f, (x,)) for f in ALL for x in (-0.4, 0.61, 0.9, 1.3, 1.7, 2.6, 3.3)] + [(all_called, (0.9,))]
REFUSED = set()
