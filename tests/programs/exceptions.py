"""Programs that raise and catch: what was done before an exception stays done."""

import contextlib
import math

import numpy as np


def partial(x):
    v = x
    try:
        v = x * 2
        math.sqrt(-x)
    except ValueError:
        pass
    return v * x


def missing_key(x):
    d = {"a": x}
    try:
        y = d["b"]
    except KeyError:
        y = x * 3
    return y * x


def changes(x):
    a = np.zeros(3)
    try:
        a[0] = x
        a[5] = x
    except IndexError:
        a[1] = x * x
    return np.sum(a)


def linalg(A, b):
    try:
        y = np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        y = np.linalg.pinv(A) @ b
    return np.sum(y**2)


def with_finally(x):
    log = []
    try:
        y = x * 2
        log.append(1)
    finally:
        log.append(2)
    return y * len(log)


def lists(x):
    out = []
    for k in range(3):
        try:
            out.append(x**k / (k - 1))
        except ZeroDivisionError:
            out.append(0.0)
    return sum(out)


def raised_value(x):
    try:
        if x > 1:
            raise ValueError("too large")
        y = x
    except ValueError as error:
        y = x * len(str(error))
    else:
        y = y * 2
    return y


class Failed(Exception):
    def __init__(self, k):
        self.k = k


def check(x, k):
    if k == 2:
        raise Failed(k)
    return x * k


def in_loop(x):
    s = 0.0
    for k in range(5):
        try:
            s += x
            s = s + check(x, k)
        except Failed:
            s = s * 2
            break
        else:
            s += x**2
        finally:
            s += 1.0
    return s * x


def loop_inside(x):
    s = 0.0
    try:
        for k in range(5):
            s = s + check(x, k)
    except Failed as e:
        s = s * e.k
    return s * x


def while_inside(x):
    s, k = 0.0, 0
    try:
        while k < 10:
            s += x**k
            check(x, k)
            k += 1
    except Failed:
        s = s * k
    return s


def return_inside(x):
    for k in range(5):
        try:
            return check(x, k + 2) * x
        except Failed:
            continue
    return x


def return_in_a_branch(x, n):
    try:
        if x > n:
            return check(x, 3)
        y = check(x, 2)
    except Failed:
        return x * 5
    return y


def reraise(x):
    try:
        try:
            y = check(x, 2)
        except Failed:
            raise
    except Failed as e:
        y = x * e.k
    return y


def converted(x):
    def inner(x):
        try:
            return check(x, 2)
        except Failed as e:
            raise ValueError(str(e.k)) from e

    try:
        y = inner(x)
    except ValueError as e:
        y = x * float(str(e))
    return y


def converted_module(x):
    try:
        return check(x, 2)
    except Failed as e:
        raise ValueError(str(e.k)) from e


def outer_call(x):
    try:
        y = converted_module(x)
    except ValueError as e:
        y = x * float(str(e))
    return y


def fill(a, x):
    for k in range(10):
        a[k] = x * k


def half_done(x):
    a = np.zeros(4)
    try:
        fill(a, x)
    except IndexError:
        pass
    return np.sum(a)


def full_done(x):
    a = np.zeros(12)
    try:
        fill(a, x)
    except IndexError:
        pass
    return np.sum(a**2)


def with_inside(x):
    y = x
    try:
        with np.errstate(all="raise"):
            y = y * 2
            np.float64(1.0) / (x - x)
            y = y * 100
    except FloatingPointError:
        y = y * 3
    return y * x


def dict_default(x, table):
    total = 0.0
    for key in ["a", "b", "c"]:
        try:
            v = table[key]
        except KeyError:
            v = x
        total = total + v * x
    return total


def attribute(x):
    table = np.zeros(3)
    try:
        y = table.missing
    except AttributeError:
        y = x * 2
    return y


def pops(x):
    stack = [x, x * 2]
    s = 0.0
    while True:
        try:
            s = s + stack.pop() ** 2
        except IndexError:
            break
    return s


def drawn_while_tried(x):
    try:
        y = x * np.random.normal()
    except ValueError:
        y = x
    return y


def noisy(x):
    return x + np.random.normal()


def drawn_by_a_function_while_tried(x):
    try:
        y = noisy(x) * x
    except ValueError:
        y = x
    return y


def nexts(x):
    it = iter([x, x * 2])
    s = 0.0
    while True:
        try:
            v = next(it)
        except StopIteration:
            break
        s = s + v**2
    return s


def multi(x, k):
    try:
        if k == 0:
            raise ValueError
        elif k == 1:
            raise KeyError("a")
        elif k == 2:
            raise ZeroDivisionError
        y = x
    except (ValueError, KeyError):
        y = x * 2
    except ArithmeticError:
        y = x * 3
    else:
        y = y * 5
    return y * x


def asserted(x):
    try:
        assert x > 2, "small"
        y = x
    except AssertionError:
        y = x**3
    return y


def aug(x):
    a = x.copy()
    try:
        a += 1
        a += np.ones(7)
    except ValueError:
        a *= 2
    return np.sum(a**2)


def prints(x):
    try:
        print(end="")
        y = math.log(x)
        print(end="")
    except ValueError:
        y = 0.0
    return y


def unpack(x):
    a = x
    try:
        a, b = (x * 2, x * 3, x)
    except ValueError:
        b = x
    return a * b


def chol(A):
    jitter = 1e-3
    n = len(A)
    for _ in range(20):
        try:
            L = np.linalg.cholesky(A + jitter * np.eye(n))
            break
        except np.linalg.LinAlgError:
            jitter = jitter * 10
    else:
        raise RuntimeError("no")
    return np.sum(np.log(np.diag(L))) + np.sum(L)


class M:
    def __init__(self, w):
        self.w = w
        self.calls = 0.0

    def forward(self, x):
        self.calls = self.calls + x
        if x > 10:
            raise Failed(1)
        return self.w * x


def objects(w, x):
    m = M(w)
    try:
        y = m.forward(x)
    except Failed:
        y = x
    return y * m.calls


def finally_return(x):
    y = x
    try:
        y = y * 2
        return y * x
    finally:
        y = y * 100


def swallow(x, n):
    out = []
    for k in range(n):
        try:
            if k % 2:
                raise Failed(k)
            out.append(x * k)
        except Failed as f:
            out.append(x**f.k)
    return sum(out)


def array(*items):
    return np.array(items, float)


def view_changed_before_it_raises(x):
    v = x.copy()
    try:
        z = v[1:3]
        z *= 2
        v[99]
    except IndexError:
        pass
    return np.sum(v * x)


def name_changed_before_it_raises(x):
    v = x.copy()
    held = {"a": v}
    try:
        z = held["a"]
        z *= 2
        raise ValueError
    except ValueError:
        pass
    return np.sum(v * x)


def rows_changed_before_one_raises(x):
    a = np.outer(x, x)
    try:
        for i in range(3):
            r = a[i]
            r *= 2.0
            if i == 1:
                raise ValueError
    except ValueError:
        pass
    return np.sum(a * x)


def doubled_and_looked_up(v):
    try:
        v *= 2
        v[99]
    except IndexError:
        pass


def argument_changed_before_it_raises(x):
    v = x.copy()
    doubled_and_looked_up(v)
    return np.sum(v * x)


def appended_and_changed_before_it_raises(x):
    z = x * 2
    items = []
    try:
        items.append(z)
        z *= 3
        x[99]
    except IndexError:
        pass
    return np.sum(items[0] * x)


def numbers_summed_before_it_raises(x):
    s = 0.0
    try:
        for i in range(9):
            s += x[i] ** 2
            s *= 1.1
    except IndexError:
        s += 1.0
    return s


def dotted(x):
    try:
        return np.dot(x, x)
    except:
        raise


def bare_raise_in_a_function(x):
    return dotted(np.array([x, x]))


def bare_raise_after_other_handlers(x):
    try:
        y = x / (x - x)
    except ZeroDivisionError:
        y = x
    except:
        raise
    return y * x


def bare_raise_before_other_handlers(x):
    try:
        y = [x][1]
    except KeyError:
        raise
    except:  # noqa: E722
        y = x * 5
    return y * x


def errors_of_two_names(x):
    try:
        y = {"a": x}["b"]
    except IndexError as first:
        y = x * len(str(first))
    except KeyError as second:
        y = x * len(str(second))
    return y * x


def optional_module():
    try:
        import no_such_module  # noqa: F401
    except ImportError:
        return 2.0
    return 3.0


def optional_import_in_a_function(x):
    return x * x * optional_module()


def optional_imports(x):
    try:
        from numpy import no_such_name
    except ImportError as error:
        no_such_name = None
        x = x * len(str(error).split()[0])
    with contextlib.suppress(ModuleNotFoundError):
        import no_such_package.inner  # noqa: F401

        x = x * 100
    return x * x if no_such_name is None else x


def import_in_a_branch_that_is_not_taken(x):
    if x > 100:
        from no_such_module import f

        return f(x)
    from xml import dom

    from numpy import linalg

    return linalg.norm(np.array([x, 1.0])) * len(dom.__name__)


def weighed_by(x, mean=None):
    try:
        if mean is None:
            y = np.dot(x, x)
        else:
            y = mean(x)
    except:
        print(x)
        raise
    return y


def option_that_is_called_in_a_try(x):
    return weighed_by(np.array([x, x * x]))


PROGRAMS = [
    *((f, (array(0.4, 0.7, 0.9),)) for f in (
        view_changed_before_it_raises, name_changed_before_it_raises, rows_changed_before_one_raises,
        argument_changed_before_it_raises, appended_and_changed_before_it_raises, numbers_summed_before_it_raises,
    )),
    *((f, (1.3,)) for f in (
        partial, missing_key, changes, with_finally, lists, raised_value, in_loop, loop_inside, while_inside,
        return_inside, reraise, converted, outer_call, full_done, with_inside, attribute, pops, nexts, drawn_while_tried, drawn_by_a_function_while_tried, asserted,
        prints, unpack, finally_return, bare_raise_in_a_function, bare_raise_after_other_handlers,
        bare_raise_before_other_handlers, errors_of_two_names, optional_import_in_a_function, optional_imports,
        import_in_a_branch_that_is_not_taken, option_that_is_called_in_a_try,
    )),
    (raised_value, (0.3,)), (linalg, (array([2, 1], [0, 1]), array(1, 1))),
    (return_in_a_branch, (1.3, 1.0)), (return_in_a_branch, (1.3, 2.0)), (dict_default, (1.3, {"a": 2.0, "b": 3.0})),
    *((multi, (1.3, k)) for k in range(4)), (aug, (array(1, 2, 3),)), (chol, (array([1, 1.3], [1.3, 1]),)),
    (objects, (1.1, 1.2)), (swallow, (1.3, 5)),
]  # fmt: skip
REFUSED = {"converted", "nexts", "drawn_while_tried", "drawn_by_a_function_while_tried"}
