"""The kernels of the PolyBench suite, as procedures that overwrite their arguments, each in a function of one value."""

import numpy as np

rng = np.random.default_rng(11)
normal, uniform = rng.normal, rng.uniform


# Products of matrices


def kernel_gemm(alpha, beta, C, A, B):
    C[:] = alpha * A @ B + beta * C


def gemm(alpha, beta, C, A, B):
    kernel_gemm(alpha, beta, C, A, B)
    return np.sum(C * C)


def kernel_gemm_loops(alpha, beta, C, A, B):
    ni, nj = C.shape
    nk = A.shape[1]
    for i in range(ni):
        for j in range(nj):
            C[i, j] *= beta
        for k in range(nk):
            for j in range(nj):
                C[i, j] += alpha * A[i, k] * B[k, j]


def gemm_loops(alpha, beta, C, A, B):
    kernel_gemm_loops(alpha, beta, C, A, B)
    return np.sum(np.sin(C))


def kernel_2mm(alpha, beta, tmp, A, B, C, D):
    tmp[:] = 0.0
    for k in range(A.shape[1]):
        tmp += alpha * np.outer(A[:, k], B[k])
    D *= beta
    D += tmp @ C


def two_mm(alpha, beta, A, B, C, D):
    tmp = np.empty((A.shape[0], B.shape[1]))
    kernel_2mm(alpha, beta, tmp, A, B, C, D)
    return np.mean(D * D)


def kernel_3mm(E, A, B, F, C, D, G):
    np.matmul(A, B, out=E)
    np.matmul(C, D, out=F)
    G[:] = E @ F


def three_mm(A, B, C, D):
    E = np.zeros((A.shape[0], B.shape[1]))
    F = np.zeros((C.shape[0], D.shape[1]))
    G = np.zeros((E.shape[0], F.shape[1]))
    kernel_3mm(E, A, B, F, C, D, G)
    return np.sum(np.tanh(0.1 * G)) + np.mean(E * E)


def kernel_doitgen(A, C4, work):
    nr, nq, np_ = A.shape
    for r in range(nr):
        for q in range(nq):
            for p in range(np_):
                work[p] = 0.0
                for s in range(np_):
                    work[p] += A[r, q, s] * C4[s, p]
            A[r, q, :] = work


def doitgen(A, C4):
    kernel_doitgen(A, C4, np.zeros(A.shape[2]))
    return np.mean(A**2)


def kernel_doitgen_rows(A, C4):
    for plane in A:
        for row in plane:
            row[:] = row @ C4


def doitgen_rows(A, C4):
    kernel_doitgen_rows(A, C4)
    return np.mean(A**2)


def kernel_symm(alpha, beta, C, A, B):
    m, n = C.shape
    for i in range(m):
        for j in range(n):
            below = 0.0
            for k in range(i):
                C[k, j] += alpha * B[i, j] * A[i, k]
                below += B[k, j] * A[i, k]
            C[i, j] = beta * C[i, j] + alpha * B[i, j] * A[i, i] + alpha * below


def symm(alpha, beta, C, A, B):
    kernel_symm(alpha, beta, C, A, B)
    return np.mean(C * C)


def kernel_symm_columns(alpha, beta, C, A, B):
    C *= beta
    for i in range(len(C)):
        C[:i] += alpha * np.outer(A[i, :i], B[i])
        C[i] += alpha * (A[i, : i + 1] @ B[: i + 1])


def symm_columns(alpha, beta, C, A, B):
    kernel_symm_columns(alpha, beta, C, A, B)
    return np.mean(C * C)


def kernel_syrk(alpha, beta, C, A):
    n, m = A.shape
    for i in range(n):
        C[i, : i + 1] *= beta
        for k in range(m):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]


def syrk(alpha, beta, C, A):
    kernel_syrk(alpha, beta, C, A)
    return np.mean(np.tril(C) ** 2) + np.sum(np.triu(C, 1))


def kernel_syr2k(alpha, beta, C, A, B):
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += A[: i + 1, k] * alpha * B[i, k] + B[: i + 1, k] * alpha * A[i, k]


def syr2k(alpha, beta, C, A, B):
    kernel_syr2k(alpha, beta, C, A, B)
    return np.mean(C * C)


def kernel_trmm(alpha, A, B):
    m, n = B.shape
    for i in range(m):
        for j in range(n):
            B[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j])
    B *= alpha


def trmm(alpha, A, B):
    kernel_trmm(alpha, A, B)
    return np.mean(B * B)


def kernel_trmm_scalar(alpha, A, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            for k in range(i + 1, B.shape[0]):
                B[i, j] += A[k, i] * B[k, j]
            B[i, j] = alpha * B[i, j]


def trmm_scalar(alpha, A, B):
    kernel_trmm_scalar(alpha, A, B)
    return np.mean(B * B)


# Products of matrices and vectors


def kernel_atax(A, x, y, tmp):
    m, n = A.shape
    for j in range(n):
        y[j] = 0
    for i in range(m):
        tmp[i] = 0.0
        for j in range(n):
            tmp[i] = tmp[i] + A[i, j] * x[j]
        for j in range(n):
            y[j] = y[j] + A[i, j] * tmp[i]


def atax(A, x):
    y = np.empty(A.shape[1])
    kernel_atax(A, x, y, np.empty(A.shape[0]))
    return np.mean(y * y)


def kernel_atax_array(A, x):
    return (A @ x) @ A


def atax_array(A, x):
    return np.sum(kernel_atax_array(A, x) * np.cos(x))


def kernel_bicg(A, s, q, p, r):
    s[:] = 0
    for i, row in enumerate(A):
        s += r[i] * row
        q[i] = row @ p


def bicg(A, p, r):
    s, q = np.empty_like(p), np.empty_like(r)
    kernel_bicg(A, s, q, p, r)
    return s @ p + np.sum(q**2)


def kernel_mvt(x1, x2, y_1, y_2, A):
    n = len(A)
    for i in range(n):
        for j in range(n):
            x1[i] += A[i, j] * y_1[j]
    for i in range(n):
        for j in range(n):
            x2[i] += A[j, i] * y_2[j]


def mvt(x1, x2, y_1, y_2, A):
    kernel_mvt(x1, x2, y_1, y_2, A)
    return np.sum(x1 * np.sin(x2))


def mvt_on_itself(x, A):
    kernel_mvt(x, x[::-1], np.cos(x), x * 0.5, A)
    return np.mean(x * x)


def kernel_gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ A + z
    w += alpha * A @ x


def gemver(alpha, beta, A, u1, v1, u2, v2, y, z):
    x = np.zeros_like(y)
    w = np.zeros_like(y)
    kernel_gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z)
    return np.sum(np.tanh(0.2 * w)) + np.mean(x**2)


def kernel_gesummv(alpha, beta, A, B, tmp, x, y):
    for i in range(len(x)):
        tmp[i] = y[i] = 0.0
        for j in range(len(x)):
            tmp[i] += A[i, j] * x[j]
            y[i] += B[i, j] * x[j]
        y[i] = alpha * tmp[i] + beta * y[i]


def gesummv(alpha, beta, A, B, x):
    tmp, y = np.empty(len(x)), np.empty(len(x))
    kernel_gesummv(alpha, beta, A, B, tmp, x, y)
    return y @ tmp


# Solvers


def kernel_cholesky(A):
    A[0, 0] = np.sqrt(A[0, 0])
    for i in range(1, A.shape[0]):
        for j in range(i):
            A[i, j] -= np.dot(A[i, :j], A[j, :j])
            A[i, j] /= A[j, j]
        A[i, i] -= np.dot(A[i, :i], A[i, :i])
        A[i, i] = np.sqrt(A[i, i])


def cholesky(A):
    kernel_cholesky(A)
    return np.sum(np.log(np.diag(A))) + np.sum(np.tril(A, -1) ** 2)


def kernel_cholesky_loops(A):
    n = len(A)
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
        for k in range(i):
            A[i, i] -= A[i, k] ** 2
        A[i, i] = A[i, i] ** 0.5


def cholesky_loops(A):
    kernel_cholesky_loops(A)
    return A[-1] @ A[-1] + A[2, 1] * A[1, 1]


def kernel_durbin(r, y):
    n = len(r)
    z = np.empty(n)
    y[0] = -r[0]
    beta = 1.0
    alpha = -r[0]
    for k in range(1, n):
        beta = (1 - alpha * alpha) * beta
        total = 0.0
        for i in range(k):
            total += r[k - i - 1] * y[i]
        alpha = -(r[k] + total) / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha


def durbin(r):
    y = np.zeros(len(r))
    kernel_durbin(r, y)
    return np.sum(y**2)


def kernel_durbin_slices(r):
    y = np.empty_like(r)
    y[0] = alpha = -r[0]
    beta = 1.0
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha**2
        alpha = -(r[k] + r[:k][::-1] @ y[:k]) / beta
        y[:k] += alpha * y[k - 1 :: -1]
        y[k] = alpha
    return y


def durbin_slices(r):
    return np.sum(kernel_durbin_slices(r) * np.arange(1, len(r) + 1))


def kernel_gramschmidt(A, R, Q):
    m, n = A.shape
    for k in range(n):
        nrm = np.dot(A[:, k], A[:, k])
        R[k, k] = np.sqrt(nrm)
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, n):
            R[k, j] = np.dot(Q[:, k], A[:, j])
            A[:, j] -= Q[:, k] * R[k, j]


def gramschmidt(A):
    R = np.zeros((A.shape[1], A.shape[1]))
    Q = np.zeros_like(A)
    kernel_gramschmidt(A, R, Q)
    return np.sum(np.sin(Q)) + np.sum(R[0] * R[:, -1]) + np.sum(A[:, 1] ** 2)


def kernel_lu(A):
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]


def lu(A):
    kernel_lu(A)
    return np.sum(np.log(np.diag(A))) + np.sum(np.tril(A, -1) ** 2)


def kernel_lu_outer(A):
    for k in range(len(A) - 1):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])


def lu_outer(A):
    kernel_lu_outer(A)
    return np.prod(np.diag(A)) ** (1 / len(A)) + np.sum(np.triu(A, 1) ** 2)


def kernel_ludcmp(A, b, x, y):
    n = len(b)
    for i in range(n):
        for j in range(i):
            w = A[i, j]
            for k in range(j):
                w -= A[i, k] * A[k, j]
            A[i, j] = w / A[j, j]
        for j in range(i, n):
            w = A[i, j]
            for k in range(i):
                w -= A[i, k] * A[k, j]
            A[i, j] = w
    for i in range(n):
        w = b[i]
        for j in range(i):
            w -= A[i, j] * y[j]
        y[i] = w
    for i in range(n - 1, -1, -1):
        w = y[i]
        for j in range(i + 1, n):
            w -= A[i, j] * x[j]
        x[i] = w / A[i, i]


def ludcmp(A, b):
    x = np.zeros(len(b))
    y = np.zeros(len(b))
    kernel_ludcmp(A, b, x, y)
    return np.sum(x * x) + y[-1]


def ludcmp_in_place(A, b):
    kernel_ludcmp(A, b, b, b)
    return np.sum(b * b)


def kernel_trisolv(L, x, b):
    for i in range(len(x)):
        x[i] = (b[i] - np.dot(L[i, :i], x[:i])) / L[i, i]


def trisolv(L, b):
    x = np.empty_like(b)
    kernel_trisolv(L, x, b)
    return np.sum(np.sin(x))


# Stencils


def kernel_adi(tsteps, dt, kx, ky, u):
    n = len(u)
    v = np.zeros_like(u)
    p = np.zeros_like(u)
    q = np.zeros_like(u)
    dx = 1.0 / n
    mul1 = kx * dt / dx**2
    mul2 = ky * dt / dx**2
    a = c = -mul1 / 2.0
    b = 1.0 + mul1
    d = f = -mul2 / 2.0
    e = 1.0 + mul2
    for _ in range(tsteps):
        v[0, 1:-1] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = v[0, 1:-1]
        for j in range(1, n - 1):
            p[1:-1, j] = -c / (a * p[1:-1, j - 1] + b)
            q[1:-1, j] = -d * u[j, :-2] + (1.0 + 2.0 * d) * u[j, 1:-1] - f * u[j, 2:] - a * q[1:-1, j - 1]
            q[1:-1, j] /= a * p[1:-1, j - 1] + b
        v[n - 1, 1:-1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1:-1] = p[1:-1, j] * v[j + 1, 1:-1] + q[1:-1, j]

        u[1:-1, 0] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = u[1:-1, 0]
        for j in range(1, n - 1):
            p[1:-1, j] = -f / (d * p[1:-1, j - 1] + e)
            q[1:-1, j] = -a * v[:-2, j] + (1.0 + 2.0 * a) * v[1:-1, j] - c * v[2:, j] - d * q[1:-1, j - 1]
            q[1:-1, j] /= d * p[1:-1, j - 1] + e
        u[1:-1, n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            u[1:-1, j] = p[1:-1, j] * u[1:-1, j + 1] + q[1:-1, j]


def adi(dt, kx, ky, u):
    kernel_adi(2, dt, kx, ky, u)
    return np.mean(u * u)


def kernel_fdtd_2d(tmax, ex, ey, hz, fict):
    for t in range(tmax):
        ey[0, :] = fict[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def fdtd_2d(ex, ey, hz, fict):
    kernel_fdtd_2d(len(fict), ex, ey, hz, fict)
    return np.mean(hz**2 + ex * ey)


def kernel_fdtd_2d_loops(ex, ey, hz, fict):
    nx, ny = hz.shape
    for drive in fict:
        for j in range(ny):
            ey[0, j] = drive
        for i in range(1, nx):
            for j in range(ny):
                ey[i, j] = ey[i, j] - 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in range(nx):
            for j in range(1, ny):
                ex[i, j] = ex[i, j] - 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in range(nx - 1):
            for j in range(ny - 1):
                hz[i, j] = hz[i, j] - 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


def fdtd_2d_loops(ex, ey, hz, fict):
    kernel_fdtd_2d_loops(ex, ey, hz, fict)
    return np.mean(hz**3)


def heat_step(B, A, c):
    core = A[1:-1, 1:-1, 1:-1]
    B[1:-1, 1:-1, 1:-1] = (
        c * (A[2:, 1:-1, 1:-1] - 2.0 * core + A[:-2, 1:-1, 1:-1])
        + c * (A[1:-1, 2:, 1:-1] - 2.0 * core + A[1:-1, :-2, 1:-1])
        + c * (A[1:-1, 1:-1, 2:] - 2.0 * core + A[1:-1, 1:-1, :-2])
        + core
    )


def kernel_heat_3d(tsteps, A, B, c):
    for _ in range(1, tsteps):
        heat_step(B, A, c)
        heat_step(A, B, c)


def heat_3d(A, c):
    B = A.copy()
    kernel_heat_3d(3, A, B, c)
    return np.sum(A[1:-1, 1:-1, 1:-1] ** 2) + np.mean(B)


def kernel_jacobi_1d(tsteps, A, B):
    for _ in range(tsteps):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


def jacobi_1d(A, B):
    kernel_jacobi_1d(3, A, B)
    return np.sum(A * B)


def jacobi_1d_on_itself(A):
    kernel_jacobi_1d(2, A, A)
    return np.sum(A * A)


def kernel_jacobi_2d(tsteps, A, B):
    for _ in range(tsteps):
        for new, old in ((B, A), (A, B)):
            new[1:-1, 1:-1] = 0.2 * (old[1:-1, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:] + old[2:, 1:-1] + old[:-2, 1:-1])


def jacobi_2d(A, B):
    kernel_jacobi_2d(2, A, B)
    return np.sum(A * np.cos(B))


def kernel_seidel_2d(tsteps, A):
    n = A.shape[0]
    for _ in range(tsteps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                total = A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1]
                total += A[i, j - 1] + A[i, j] + A[i, j + 1]
                total += A[i + 1, j - 1] + A[i + 1, j] + A[i + 1, j + 1]
                A[i, j] = total / 9.0


def seidel_2d(A):
    kernel_seidel_2d(2, A)
    return np.sum(np.sin(A))


def kernel_seidel_2d_rows(tsteps, A):
    for _ in range(tsteps):
        for i in range(1, len(A) - 1):
            A[i, 1:-1] += A[i - 1, :-2] + A[i - 1, 1:-1] + A[i - 1, 2:]
            A[i, 1:-1] += A[i, 2:] + A[i + 1, :-2] + A[i + 1, 1:-1] + A[i + 1, 2:]
            for j in range(1, A.shape[1] - 1):
                A[i, j] += A[i, j - 1]
                A[i, j] /= 9.0


def seidel_2d_rows(A):
    kernel_seidel_2d_rows(2, A)
    return np.sum(np.sin(A))


# Statistics, images, paths


def kernel_correlation(data, corr, mean, stddev):
    n, m = data.shape
    eps = 0.1
    for j in range(m):
        mean[j] = 0.0
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= n
    for j in range(m):
        stddev[j] = 0.0
        for i in range(n):
            stddev[j] += (data[i, j] - mean[j]) * (data[i, j] - mean[j])
        stddev[j] = np.sqrt(stddev[j] / n)
        stddev[j] = 1.0 if stddev[j] <= eps else stddev[j]
    for i in range(n):
        for j in range(m):
            data[i, j] -= mean[j]
            data[i, j] /= np.sqrt(n) * stddev[j]
    for i in range(m - 1):
        corr[i, i] = 1.0
        for j in range(i + 1, m):
            corr[i, j] = 0.0
            for k in range(n):
                corr[i, j] += data[k, i] * data[k, j]
            corr[j, i] = corr[i, j]
    corr[m - 1, m - 1] = 1.0


def correlation(data):
    m = data.shape[1]
    corr = np.empty((m, m))
    kernel_correlation(data, corr, np.empty(m), np.empty(m))
    return np.sum(corr[1:, 0] * corr[-1, :-1]) + np.sum(data[0])


def kernel_correlation_array(data):
    stddev = np.std(data, axis=0)
    stddev[stddev <= 0.1] = 1.0
    data -= np.mean(data, axis=0)
    data /= np.sqrt(data.shape[0]) * stddev
    corr = np.eye(data.shape[1])
    for i in range(data.shape[1] - 1):
        corr[i, i + 1 :] = corr[i + 1 :, i] = data[:, i] @ data[:, i + 1 :]
    return corr


def correlation_array(data):
    corr = kernel_correlation_array(data)
    return np.sum(corr[1:, 0] * corr[-1, :-1]) + np.sum(corr @ data[0])


def kernel_covariance(data, cov, mean):
    n = float(data.shape[0])
    mean[:] = np.sum(data, axis=0) / n
    data -= mean
    for i in range(data.shape[1]):
        for j in range(i, data.shape[1]):
            cov[i, j] = np.dot(data[:, i], data[:, j]) / (n - 1.0)
            cov[j, i] = cov[i, j]


def covariance(data):
    m = data.shape[1]
    mean, cov = np.zeros(m), np.zeros((m, m))
    kernel_covariance(data, cov, mean)
    return np.sum(np.triu(cov)) + mean @ cov @ mean


def kernel_deriche(alpha, img, out, y1):
    w, h = img.shape
    k = (1.0 - np.exp(-alpha)) ** 2 / (1.0 + 2.0 * alpha * np.exp(-alpha) - np.exp(2.0 * alpha))
    a1 = a5 = k
    a2 = a6 = k * np.exp(-alpha) * (alpha - 1.0)
    a3 = a7 = k * np.exp(-alpha) * (alpha + 1.0)
    a4 = a8 = -k * np.exp(-2.0 * alpha)
    b1 = 2.0 ** (-alpha)
    b2 = -np.exp(-2.0 * alpha)
    c1 = c2 = 1.0

    for i in range(w):
        ym1 = ym2 = xm1 = 0.0
        for j in range(h):
            y1[i, j] = a1 * img[i, j] + a2 * xm1 + b1 * ym1 + b2 * ym2
            xm1 = img[i, j]
            ym2, ym1 = ym1, y1[i, j]
    y2 = np.zeros_like(y1)
    for i in range(w):
        yp1 = yp2 = xp1 = xp2 = 0.0
        for j in reversed(range(h)):
            y2[i, j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2
            xp2, xp1 = xp1, img[i, j]
            yp2, yp1 = yp1, y2[i, j]
    out[:] = c1 * (y1 + y2)
    for j in range(h):
        tm1 = ym1 = ym2 = 0.0
        for i in range(w):
            y1[i, j] = a5 * out[i, j] + a6 * tm1 + b1 * ym1 + b2 * ym2
            tm1 = out[i, j]
            ym2, ym1 = ym1, y1[i, j]
        tp1 = tp2 = yp1 = yp2 = 0.0
        for i in range(w - 1, -1, -1):
            y2[i, j] = a7 * tp1 + a8 * tp2 + b1 * yp1 + b2 * yp2
            tp2, tp1 = tp1, out[i, j]
            yp2, yp1 = yp1, y2[i, j]
    out[:] = c2 * (y1 + y2)


def deriche(alpha, img):
    out = np.empty_like(img)
    kernel_deriche(alpha, img, out, np.zeros(img.shape))
    return 100 * np.sum(out * img)


def causal(x, a, a_lag, b1, b2):
    y = np.empty_like(x)
    y[:, 0] = a * x[:, 0]
    y[:, 1] = a * x[:, 1] + a_lag * x[:, 0] + b1 * y[:, 0]
    for j in range(2, x.shape[1]):
        y[:, j] = a * x[:, j] + a_lag * x[:, j - 1] + b1 * y[:, j - 1] + b2 * y[:, j - 2]
    return y


def deriche_columns(alpha, img):
    k = (1.0 - np.exp(-alpha)) ** 2 / (1.0 + 2.0 * alpha * np.exp(-alpha) - np.exp(-2.0 * alpha))
    b1, b2 = 2.0 * np.exp(-alpha), -np.exp(-2.0 * alpha)
    lag = k * np.exp(-alpha) * (alpha - 1.0)
    smooth = causal(img, k, lag, b1, b2)
    smooth += causal(img[:, ::-1], k, lag, b1, b2)[:, ::-1]
    smooth = causal(smooth.T, k, lag, b1, b2).T + causal(smooth.T[:, ::-1], k, lag, b1, b2)[:, ::-1].T
    return np.sum(smooth**2)


def kernel_floyd_warshall(path):
    n = len(path)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                path[i, j] = min(path[i, j], path[i, k] + path[k, j])


def floyd_warshall(path):
    kernel_floyd_warshall(path)
    return np.sum(path**2)


def kernel_floyd_warshall_array(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path, path[:, k, np.newaxis] + path[k])
        for i in range(path.shape[0]):
            np.minimum(path[i], path[i, k] + path[k, :], out=path[i])


def floyd_warshall_array(path):
    kernel_floyd_warshall_array(path)
    return np.mean(np.exp(-path))


def pair_score(b1, b2, score):
    return score if b1 + b2 == 3 else 0.0


def kernel_nussinov(seq, table, score):
    n = len(seq)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            if j - 1 >= 0:
                table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < n:
                table[i, j] = max(table[i, j], table[i + 1, j])
            if j - 1 >= 0 and i + 1 < n:
                if i < j - 1:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1] + pair_score(seq[i], seq[j], score))
                else:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])


def nussinov(seq, score):
    table = np.zeros((len(seq), len(seq)))
    kernel_nussinov(seq, table, score)
    return np.sum(table**2)


def kernel_nussinov_matrix(seq, scores):
    n = len(seq)
    table = np.zeros((n, n))
    for span in range(2, n):
        for i in range(n - span):
            j = i + span
            best = table[i + 1, j - 1] + scores[seq[i], seq[j]]
            for k in range(i, j):
                split = table[i, k] + table[k + 1, j]
                if split > best:
                    best = split
            table[i, j] = best
    return table


def nussinov_matrix(seq, scores):
    table = kernel_nussinov_matrix(seq, scores)
    return table[0, -1] + np.sum(table * table) / len(seq)


def positive(n):
    a = normal(size=(n, n))
    return a @ a.T / n + np.eye(n)


def dominant(n):
    return normal(size=(n, n)) * 0.4 + 3.0 * np.eye(n)


PROGRAMS = [
    (gemm, (1.5, 0.7, normal(size=(5, 6)), 0.4 * normal(size=(5, 7)), 0.4 * normal(size=(7, 6)))),
    (gemm_loops, (0.8, 1.2, normal(size=(5, 5)), 0.4 * normal(size=(5, 6)), normal(size=(6, 5)))),
    (two_mm, (0.6, 1.2, normal(size=(5, 6)), normal(size=(6, 7)), normal(size=(7, 5)), normal(size=(5, 5)))),
    (three_mm, (normal(size=(5, 6)), normal(size=(6, 5)), normal(size=(5, 7)), normal(size=(7, 6)))),
    (doitgen, (normal(size=(5, 6, 5)), 0.8 * normal(size=(5, 5)))),
    (doitgen_rows, (normal(size=(5, 6, 5)), normal(size=(5, 5)))),
    (symm, (0.6, 1.2, normal(size=(5, 6)), normal(size=(5, 5)), normal(size=(5, 6)))),
    (symm_columns, (0.6, 1.2, normal(size=(5, 6)), normal(size=(5, 5)), normal(size=(5, 6)))),
    (syrk, (0.6, 1.2, normal(size=(6, 6)), normal(size=(6, 5)))),
    (syr2k, (0.6, 1.2, normal(size=(6, 6)), normal(size=(6, 5)), normal(size=(6, 5)))),
    (trmm, (0.6, normal(size=(6, 6)), normal(size=(6, 5)))),
    (trmm_scalar, (0.6, normal(size=(5, 5)), normal(size=(5, 5)))),
    (atax, (normal(size=(5, 7)), normal(size=7))),
    (atax_array, (normal(size=(6, 5)), normal(size=5))),
    (bicg, (normal(size=(7, 5)), normal(size=5), normal(size=7))),
    (mvt, (normal(size=6), normal(size=6), normal(size=6), normal(size=6), normal(size=(6, 6)))),
    (mvt_on_itself, (normal(size=5), 0.4 * normal(size=(5, 5)))),
    (gemver, (1.2, 0.7, 0.5 * normal(size=(6, 6)), *[normal(size=6) for _ in range(6)])),
    (gesummv, (1.2, 0.7, normal(size=(6, 6)), normal(size=(6, 6)), normal(size=6))),
    (cholesky, (positive(6),)),
    (cholesky_loops, (positive(6),)),
    (durbin, (uniform(-0.3, 0.3, 7),)),
    (durbin_slices, (uniform(-0.3, 0.3, 7),)),
    (gramschmidt, (dominant(6)[:, :5],)),
    (lu, (dominant(6),)),
    (lu_outer, (dominant(6),)),
    (ludcmp, (dominant(6), normal(size=6))),
    (ludcmp_in_place, (dominant(5), normal(size=5))),
    (trisolv, (dominant(6), normal(size=6))),
    (adi, (0.02, 0.9, 0.6, normal(size=(7, 7)))),
    (fdtd_2d, (normal(size=(6, 7)), normal(size=(6, 7)), normal(size=(6, 7)), normal(size=4))),
    (fdtd_2d_loops, (normal(size=(5, 6)), normal(size=(5, 6)), normal(size=(5, 6)), normal(size=3))),
    (heat_3d, (normal(size=(6, 6, 6)), 0.125)),
    (jacobi_1d, (normal(size=9), normal(size=9))),
    (jacobi_1d_on_itself, (normal(size=8),)),
    (jacobi_2d, (normal(size=(6, 6)), normal(size=(6, 6)))),
    (seidel_2d, (normal(size=(6, 6)),)),
    (seidel_2d_rows, (normal(size=(6, 6)),)),
    (correlation, (normal(size=(7, 5)),)),
    (correlation_array, (np.stack([*normal(size=(4, 7)), 0.01 * normal(size=7)], axis=1),)),
    (covariance, (normal(size=(7, 5)),)),
    (deriche, (0.6, normal(size=(6, 5)))),
    (deriche_columns, (0.6, normal(size=(6, 7)))),
    (floyd_warshall, (uniform(0.2, 2.0, (6, 6)),)),
    (floyd_warshall_array, (uniform(0.2, 2.0, (7, 7)),)),
    (nussinov, ([0, 3, 1, 2, 2, 0, 1, 3], 0.7)),
    (nussinov_matrix, (rng.integers(0, 4, 8), uniform(0.2, 1.0, (4, 4)))),
]
