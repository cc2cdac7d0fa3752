"""Programs as scientists write them: solvers, simulations, networks, filters; helpers, work arrays and loops."""

import math
from dataclasses import dataclass

import numpy as np

rng = np.random.default_rng(21)
normal, uniform = rng.normal, rng.uniform


# Flows


def build_up_b(b, rho, dt, u, v, dx, dy):
    b[1:-1, 1:-1] = rho * (
        1 / dt * ((u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx) + (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy))
        - ((u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx)) ** 2
        - 2 * ((u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dy) * (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * dx))
        - ((v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy)) ** 2
    )


def pressure_poisson(p, dx, dy, b, nit):
    pn = np.empty_like(p)
    pn = p.copy()
    for _ in range(nit):
        pn = p.copy()
        p[1:-1, 1:-1] = ((pn[1:-1, 2:] + pn[1:-1, :-2]) * dy**2 + (pn[2:, 1:-1] + pn[:-2, 1:-1]) * dx**2) / (
            2 * (dx**2 + dy**2)
        ) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0


def momentum(w, un, vn, wn, dt, dx, dy, nu):
    here = wn[1:-1, 1:-1]
    w[1:-1, 1:-1] = (
        here
        - un[1:-1, 1:-1] * dt / dx * (here - wn[1:-1, :-2])
        - vn[1:-1, 1:-1] * dt / dy * (here - wn[:-2, 1:-1])
        + nu * dt / dx**2 * (wn[1:-1, 2:] - 2 * here + wn[1:-1, :-2])
        + nu * dt / dy**2 * (wn[2:, 1:-1] - 2 * here + wn[:-2, 1:-1])
    )


def cavity_flow(nt, u, v, dt, dx, dy, p, rho, nu):
    un = np.empty_like(u)
    vn = np.empty_like(v)
    b = np.zeros_like(u)
    for _ in range(nt):
        un = u.copy()
        vn = v.copy()
        build_up_b(b, rho, dt, u, v, dx, dy)
        pressure_poisson(p, dx, dy, b, 3)
        momentum(u, un, vn, un, dt, dx, dy, nu)
        momentum(v, un, vn, vn, dt, dx, dy, nu)
        u[1:-1, 1:-1] -= dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
        v[1:-1, 1:-1] -= dt / (2 * rho * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
        u[0, :] = u[:, 0] = u[:, -1] = 0
        u[-1, :] = 1  # the lid
        v[0, :] = v[-1, :] = v[:, 0] = v[:, -1] = 0


def cavity(u, v, p, dt, dx, dy, rho, nu):
    cavity_flow(3, u, v, dt, dx, dy, p, rho, nu)
    return np.sum(u * u + v * v) + np.mean(p)


def periodic_poisson(p, b, dx, dy, nit=3):
    for _ in range(nit):
        pn = p.copy()
        east, west = np.roll(pn, -1, axis=1)[1:-1], np.roll(pn, 1, axis=1)[1:-1]
        p[1:-1] = ((east + west) * dy**2 + (pn[2:] + pn[:-2]) * dx**2) / (2 * (dx**2 + dy**2))
        p[1:-1] -= dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1]
        p[-1, :] = p[-2, :]
        p[0, :] = p[1, :]
    return p


def channel_flow(u, v, p, dt, dx, dy, rho, nu, force):
    udiff = 1
    stepcount = 0
    b = np.zeros_like(u)
    while udiff > 0.05:
        un = u.copy()
        vn = v.copy()
        dudx = (np.roll(un, -1, axis=1) - np.roll(un, 1, axis=1))[1:-1] / (2 * dx)
        dvdy = (vn[2:] - vn[:-2]) / (2 * dy)
        b[1:-1] = rho * ((dudx + dvdy) / dt - dudx**2 - dvdy**2)
        p = periodic_poisson(p, b, dx, dy)

        for w, wn in ((u, un), (v, vn)):
            w[1:-1, 1:-1] += dt * nu / dx**2 * (wn[1:-1, 2:] - 2 * wn[1:-1, 1:-1] + wn[1:-1, :-2])
            w[1:-1, 0] += dt * nu / dx**2 * (wn[1:-1, 1] - 2 * wn[1:-1, 0] + wn[1:-1, -1])
            w[1:-1, -1] += dt * nu / dx**2 * (wn[1:-1, 0] - 2 * wn[1:-1, -1] + wn[1:-1, -2])
            w[1:-1] += dt * nu / dy**2 * (wn[2:] - 2 * wn[1:-1] + wn[:-2])
            w[1:-1] -= un[1:-1] * dt / dx * (wn[1:-1] - np.roll(wn, 1, axis=1)[1:-1])
        u[1:-1] += force * dt - dt / (2 * rho * dx) * (np.roll(p, -1, axis=1) - np.roll(p, 1, axis=1))[1:-1]
        v[1:-1] -= dt / (2 * rho * dy) * (p[2:] - p[:-2])
        u[0, :] = u[-1, :] = 0
        v[0, :] = v[-1, :] = 0

        udiff = (np.sum(u) - np.sum(un)) / np.sum(u)
        stepcount += 1
    return stepcount


def channel(u, v, p, dt, dx, rho, nu, force):
    steps = channel_flow(u, v, p, dt, dx, 0.8 * dx, rho, nu, force)
    return np.sum(u * u) + np.sum(v) + steps * 0.1


BET_M = BET_P = 0.5


def vadv(utens_stage, u_stage, wcon, u_pos, utens, dtr_stage):
    ni, nj, nk = utens_stage.shape
    ccol = np.ndarray((ni, nj, nk), dtype=utens_stage.dtype)
    dcol = np.ndarray((ni, nj, nk), dtype=utens_stage.dtype)
    data_col = np.empty((ni, nj))

    for k in range(nk):
        here = u_stage[:, :, k]
        bcol = dtr_stage
        correction = np.zeros((ni, nj))
        if k > 0:
            gav = -0.25 * (wcon[1:, :, k] + wcon[:-1, :, k])
            acol = gav * BET_P
            bcol = bcol - acol
            correction -= gav * BET_M * (u_stage[:, :, k - 1] - here)
        if k < nk - 1:
            gcv = 0.25 * (wcon[1:, :, k + 1] + wcon[:-1, :, k + 1])
            ccol[:, :, k] = gcv * BET_P
            bcol = bcol - ccol[:, :, k]
            correction -= gcv * BET_M * (u_stage[:, :, k + 1] - here)
        dcol[:, :, k] = dtr_stage * u_pos[:, :, k] + utens[:, :, k] + utens_stage[:, :, k] + correction
        if k == 0:
            divided = 1.0 / bcol
        else:
            divided = 1.0 / (bcol - ccol[:, :, k - 1] * acol)
            dcol[:, :, k] -= dcol[:, :, k - 1] * acol
        if k < nk - 1:
            ccol[:, :, k] *= divided
        dcol[:, :, k] = dcol[:, :, k] * divided

    for k in range(nk - 1, -1, -1):
        datacol = dcol[:, :, k]
        if k < nk - 1:
            datacol -= ccol[:, :, k] * data_col[:, :]
        data_col[:] = datacol
        utens_stage[:, :, k] = dtr_stage * (datacol - u_pos[:, :, k])


def vertical_advection(utens_stage, u_stage, wcon, u_pos, utens, dtr_stage):
    vadv(utens_stage, u_stage, wcon, u_pos, utens, dtr_stage)
    return np.mean(utens_stage**2)


def hdiff(in_field, out_field, coeff):
    ni, nj, _ = out_field.shape
    lap = 4.0 * in_field[1 : ni + 3, 1 : nj + 3, :] - (
        in_field[2 : ni + 4, 1 : nj + 3, :]
        + in_field[0 : ni + 2, 1 : nj + 3, :]
        + in_field[1 : ni + 3, 2 : nj + 4, :]
        + in_field[1 : ni + 3, 0 : nj + 2, :]
    )

    res = lap[1:, 1 : nj + 1, :] - lap[:-1, 1 : nj + 1, :]
    uphill = res * (in_field[2 : ni + 3, 2 : nj + 2, :] - in_field[1 : ni + 2, 2 : nj + 2, :]) > 0
    flx = np.where(uphill, 0, res)

    res = lap[1 : ni + 1, 1:, :] - lap[1 : ni + 1, :-1, :]
    uphill = res * (in_field[2 : ni + 2, 2 : nj + 3, :] - in_field[2 : ni + 2, 1 : nj + 2, :]) > 0
    fly = np.where(uphill, 0, res)

    out_field[:] = in_field[2 : ni + 2, 2 : nj + 2, :] - coeff * (
        flx[1:, :, :] - flx[:-1, :, :] + fly[:, 1:, :] - fly[:, :-1, :]
    )


def horizontal_diffusion(in_field, coeff):
    out_field = np.empty_like(coeff)
    hdiff(in_field, out_field, coeff)
    return np.mean(out_field**2)


def dealias(v_hat):
    n = len(v_hat)
    cut = n // 3
    v_hat[cut + 1 : n - cut] = 0
    return v_hat


def spectral_burgers_step(u, nu, dt):
    n = len(u)
    k = 2 * np.pi * np.fft.fftfreq(n, d=1.0 / n)
    u_hat = np.fft.fft(u)

    def rhs(w_hat):
        w = np.fft.ifft(dealias(w_hat.copy()))
        wx = np.fft.ifft(1j * k * w_hat)
        return -np.fft.fft(w * wx)

    half = np.exp(-nu * k**2 * dt / 2)
    first = rhs(u_hat)
    middle = half * (u_hat + 0.5 * dt * first)
    u_hat = half**2 * u_hat + dt * half * rhs(middle)
    return np.real(np.fft.ifft(u_hat))


def spectral_burgers(u, nu, dt):
    for _ in range(3):
        u = spectral_burgers_step(u, nu, dt)
    return np.sum(u**2) + u[0]


def heat_double_buffers(u, kappa, steps):
    un = np.empty_like(u)
    un[:] = u
    for _ in range(steps):
        un[1:-1, 1:-1] = u[1:-1, 1:-1] + kappa * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        )
        un[0, :] = un[1, :]
        u, un = un, u
    return np.sum(u * u) - np.mean(un)


def wave_three_buffers(u, c, steps):
    previous = u.copy()
    current = u.copy()
    following = np.zeros_like(u)
    energy = 0.0
    for _ in range(steps):
        following[1:-1] = 2 * current[1:-1] - previous[1:-1]
        following[1:-1] += c**2 * (current[2:] - 2 * current[1:-1] + current[:-2])
        energy += 0.5 * np.sum((following - current) ** 2)
        previous, current, following = current, following, previous
    return energy + np.max(current)


def flux(h, hu, g):
    return np.array([hu, hu**2 / h + 0.5 * g * h**2])


def shallow_water(h, hu, g, dt):
    q = np.vstack([h, hu])
    for _ in range(3):
        left, right = q[:, :-1], q[:, 1:]
        speed = np.maximum(*(np.abs(s[1] / s[0]) + np.sqrt(g * s[0]) for s in (left, right)))
        f = 0.5 * (flux(*left, g) + flux(*right, g)) - 0.5 * speed * (right - left)
        q[:, 1:-1] -= dt * (f[:, 1:] - f[:, :-1])
        q[0, [0, -1]] = q[0, [1, -2]]
        q[1, 0], q[1, -1] = -q[1, 1], -q[1, -2]
    return np.sum(q[0] ** 2) + np.sum(q[1])


# Bodies and trajectories


def get_acc(pos, mass, G, softening):
    acc = np.zeros_like(pos)
    for i in range(len(mass)):
        d = pos - pos[i]
        inv_r3 = (np.sum(d**2, axis=1) + softening**2) ** -1.5
        acc[i] = G * (d * inv_r3[:, None]).T @ mass
    return acc


def get_acc_masked(pos, mass, G):
    x, y, z = pos[:, 0:1], pos[:, 1:2], pos[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inv_r3 = dx**2 + dy**2 + dz**2
    inv_r3[inv_r3 > 0] = inv_r3[inv_r3 > 0] ** (-1.5)
    ax = G * (dx * inv_r3) @ mass
    ay = G * (dy * inv_r3) @ mass
    az = G * (dz * inv_r3) @ mass
    return np.stack((ax, ay, az), axis=1)


def get_energy(pos, vel, mass, G):
    KE = 0.5 * np.sum(mass * np.sum(vel**2, axis=1))
    PE = 0.0
    for i in range(len(mass)):
        for j in range(i):
            PE -= G * mass[i] * mass[j] / np.linalg.norm(pos[i] - pos[j])
    return KE, PE


def nbody(mass, pos, vel, G, softening, dt):
    vel -= np.mean(mass[:, None] * vel, 0) / np.mean(mass)
    acc = get_acc(pos, mass, G, softening)
    for _ in range(4):
        vel += acc * dt / 2.0
        pos += vel * dt
        acc = get_acc(pos, mass, G, softening)
        vel += acc * dt / 2.0
    KE, PE = get_energy(pos, vel, mass, G)
    return KE + 0.5 * PE


def nbody_masked(mass, pos, vel, G, dt):
    n_steps = 3
    KE = np.zeros(n_steps + 1)
    PE = np.ndarray(n_steps + 1, dtype=np.float64)
    KE[0], PE[0] = get_energy(pos, vel, mass, G)
    acc = get_acc_masked(pos, mass, G)
    for i in range(n_steps):
        vel += acc * dt / 2.0
        pos += vel * dt
        acc[:] = get_acc_masked(pos, mass, G)
        vel += acc * dt / 2.0
        KE[i + 1], PE[i + 1] = get_energy(pos, vel, mass, G)
    return KE @ PE + np.sum(KE)


def leapfrog(q, p, k, dt, steps):
    trajectory = np.zeros((steps + 1, 2, len(q)))
    trajectory[0] = q, p
    for n in range(steps):
        q, p = trajectory[n]
        half = p - 0.5 * dt * k * np.sin(q)
        trajectory[n + 1, 0] = q + dt * half
        trajectory[n + 1, 1] = half - 0.5 * dt * k * np.sin(trajectory[n + 1, 0])
    q, p = trajectory[:, 0], trajectory[:, 1]
    energy = 0.5 * np.sum(p**2, axis=1) - k * np.sum(np.cos(q), axis=1)
    return energy[-1] * np.mean(q**2)


def rk4(f, t, y, h, *args):
    k1 = f(t, y, *args)
    k2 = f(t + h / 2, y + h / 2 * k1, *args)
    k3 = f(t + h / 2, y + h / 2 * k2, *args)
    k4 = f(t + h, y + h * k3, *args)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def lotka_volterra(t, y, a, b):
    prey, predator = y
    return np.array([a * prey - b * prey * predator, b * prey * predator - predator + 0.1 * np.sin(t)])


def rk4_states(y0, a, b, h):
    states = [y0]
    t = 0.0
    for _ in range(6):
        states.append(rk4(lotka_volterra, t, states[-1], h, a, b))
        t += h
    states = np.stack(states)
    return np.sum(states[-1]) + np.mean(states[:, 0] * states[:, 1])


def lorenz(state, out, sigma, rho, beta):
    x, y, z = state
    out[0] = sigma * (y - x)
    out[1] = x * (rho - z) - y
    out[2] = x * y - beta * z


def lorenz_work_arrays(state, sigma, rho, beta, dt):
    k = np.empty((4, 3))
    weights = (1 / 6, 1 / 3, 1 / 3, 1 / 6)
    for _ in range(4):
        lorenz(state, k[0], sigma, rho, beta)
        for stage, c in ((1, 0.5), (2, 0.5), (3, 1.0)):
            lorenz(state + c * dt * k[stage - 1], k[stage], sigma, rho, beta)
        for weight, slope in zip(weights, k):
            state += dt * weight * slope
    return np.sum(state**2) / 100


def dormand_adaptive(y, rate, h):
    t, accepted = 0.0, 0
    while t < 1.0:
        if t + h > 1.0:
            h = 1.0 - t
        slope = -rate * y**2
        predictor = y + h * slope
        corrected = y + 0.5 * h * (slope - rate * predictor**2)
        error = abs(corrected - predictor)
        if error > 0.02:
            h *= 0.5
            continue
        t += h
        y = corrected
        accepted += 1
        if error < 0.005:
            h *= 1.5
    return y * accepted


def ray_through_lens(y, angle, focal, distances):
    rays = np.array([y, angle])
    path = [rays]
    for k, d in enumerate(distances):
        free = np.array([[1.0, d], [0.0, 1.0]])
        rays = free @ rays
        if k % 2 == 0:
            rays[1] -= rays[0] / focal
        path.append(rays)
    path = np.array(path)
    return np.sum(path[-1] ** 2) + np.sum(path[:, 0])


def ray_march(origin, direction, bump, h):
    position = origin.copy()
    direction = direction / np.linalg.norm(direction)
    optical = 0.0
    for _ in range(6):
        r2 = np.sum(position**2)
        n = 1 + bump * np.exp(-r2)
        gradient = -2 * bump * np.exp(-r2) * position
        optical += n * h
        direction += h / n * (gradient - direction * (gradient @ direction))
        direction /= np.sqrt(direction @ direction)
        position += h * direction
    return optical + position @ direction


def sphere_hits(origins, direction, centre, radius):
    direction = direction / np.linalg.norm(direction)
    image = np.zeros(len(origins))
    for i, o in enumerate(origins):
        oc = o - centre
        b = oc @ direction
        disc = b * b - (oc @ oc - radius**2)
        if disc < 0:
            image[i] = 0.1 * disc
            continue
        t = -b - math.sqrt(disc)
        normal = (o + t * direction - centre) / radius
        image[i] = max(0.0, -normal @ direction) + 0.1 * t
    return np.sum(image**2)


# Linear algebra


def spmv(A_row, A_col, A_val, x):
    y = np.empty(A_row.size - 1, A_val.dtype)
    for i in range(A_row.size - 1):
        cols = A_col[A_row[i] : A_row[i + 1]]
        vals = A_val[A_row[i] : A_row[i + 1]]
        y[i] = vals @ x[cols]
    return y


def sparse_power(A_row, A_col, A_val, x):
    for _ in range(3):
        x = spmv(A_row, A_col, A_val, x)
        x /= np.linalg.norm(x)
    return x @ spmv(A_row, A_col, A_val, x)


def sparse_transposed(A_row, A_col, A_val, x):
    y = np.zeros(len(x))
    for i in range(len(A_row) - 1):
        for j in range(A_row[i], A_row[i + 1]):
            y[A_col[j]] += A_val[j] * x[i]
    return np.sum(y**2)


def coo_product(rows, cols, vals, x):
    y = np.zeros_like(x)
    np.add.at(y, rows, vals * x[cols])
    return np.sum(np.sin(y) * x)


def stockham_fft(x):
    n = len(x)
    y = x.astype(np.complex128)
    z = np.empty(n, dtype=np.complex128)
    l, m = n // 2, 1
    while l >= 1:
        for j in range(l):
            w = np.exp(-1j * np.pi * j / l)
            for k in range(m):
                a = y[j * m + k]
                b = y[(j + l) * m + k]
                z[2 * j * m + k] = a + b
                z[(2 * j + 1) * m + k] = w * (a - b)
        y, z = z, y
        l //= 2
        m *= 2
    return y


def fft_power(x, weights):
    spectrum = stockham_fft(x)
    return np.sum(weights * np.abs(spectrum) ** 2) + spectrum[1].real * spectrum[2].imag


def stockham_arrays(N, R, K, x, y):
    for i in range(K):
        left = R**i
        right = N // (R * left)
        table = y.reshape(left, R, right) if i % 2 else x.reshape(left, R, right)
        other = x if i % 2 else y
        turn = np.exp(-2j * np.pi * np.outer(np.arange(R), np.arange(left)) / (R * left))
        mix = np.exp(-2j * np.pi * np.outer(np.arange(R), np.arange(R)) / R)
        work = np.zeros((R, left, right), dtype=np.complex128)
        for r in range(R):
            work[r] = table[:, r, :] * turn[r][:, None]
        other[:] = np.einsum("qr,rls->qls", mix, work).reshape(N)
    return y if K % 2 else x


def fft_in_place(real, imag):
    x = real + 1j * imag
    y = np.zeros_like(x)
    out = stockham_arrays(8, 2, 3, x, y)
    return np.sum(np.abs(out) ** 2 * np.arange(8)) + np.sum(out.real)


def contour_integral(T, Y, radius):
    n, m = Y.shape
    P0 = np.zeros((n, m), dtype=np.complex128)
    P1 = np.zeros((n, m), dtype=np.complex128)
    points = 5
    for theta in np.linspace(0, 2 * np.pi, points, endpoint=False):
        z = radius * np.exp(1j * theta)
        Tz = np.zeros((n, n), dtype=np.complex128)
        for power, Tn in enumerate(T):
            Tz += z**power * Tn
        X = np.linalg.solve(Tz, Y) if n != m else np.linalg.inv(Tz) @ Y
        if abs(z) < 1.0:
            X = -X
        P0 += X * z / points
        P1 += X * z**2 / points
    return P0, P1


def contour(T, Y, radius):
    P0, P1 = contour_integral(T, Y, radius)
    return np.sum(np.abs(P0) ** 2) + np.sum(np.real(P1 * np.conj(P0)))


def scattering_self_energies(neigh_idx, dH, G, D, Sigma):
    nk, nE = G.shape[:2]
    nq, nw = D.shape[:2]
    n3D = D.shape[-1]
    for k in range(nk):
        for E in range(nE):
            for q in range(nq):
                for w in range(nw):
                    for a in range(neigh_idx.shape[0]):
                        for b in range(neigh_idx.shape[1]):
                            if E - w < 0:
                                continue
                            for i in range(n3D):
                                dHG = G[k - q, E - w, neigh_idx[a, b]] @ dH[a, b, i]
                                for j in range(n3D):
                                    dHD = dH[a, b, j] * D[q, w, a, b, i, j]
                                    Sigma[k, E, a] += dHG @ dHD


def self_energies(neigh_idx, dH, G_real, G_imag, D):
    G = G_real + 1j * G_imag
    Sigma = np.zeros_like(G)
    scattering_self_energies(neigh_idx, dH, G, D, Sigma)
    return np.sum(np.abs(Sigma) ** 2) / 10


def thomas(lower, diag, upper, rhs):
    n = len(diag)
    cp = np.zeros(n)
    dp = np.zeros(n)
    cp[0] = upper[0] / diag[0]
    dp[0] = rhs[0] / diag[0]
    for i in range(1, n):
        denominator = diag[i] - lower[i - 1] * cp[i - 1]
        if i < n - 1:
            cp[i] = upper[i] / denominator
        dp[i] = (rhs[i] - lower[i - 1] * dp[i - 1]) / denominator
    x = np.empty(n)
    x[-1] = dp[-1]
    for i in reversed(range(n - 1)):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return x


def tridiagonal(lower, diag, upper, rhs):
    x = thomas(lower, diag, upper, rhs)
    return np.sum(x**2)


def thomas_in_place(a, b, c, d):
    for i in range(1, len(d)):
        w = a[i - 1] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    d[-1] /= b[-1]
    for i in range(len(d) - 2, -1, -1):
        d[i] = (d[i] - c[i] * d[i + 1]) / b[i]
    return d


def crank_nicolson(u, r):
    n = len(u) - 2
    for _ in range(3):
        off = np.full(n - 1, -r / 2)
        rhs = u[1:-1] + r / 2 * (u[2:] - 2 * u[1:-1] + u[:-2])
        rhs[0] += r / 2 * u[0]
        rhs[-1] += r / 2 * u[-1]
        u[1:-1] = thomas_in_place(off, np.full(n, 1 + r), off.copy(), rhs)
    return np.sum(u**3)


def smooth(u, f, h, sweeps):
    for _ in range(sweeps):
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1] + h * h * f[i])


def residual(u, f, h):
    r = np.zeros_like(u)
    r[1:-1] = f[1:-1] + (u[:-2] - 2 * u[1:-1] + u[2:]) / h**2
    return r


def v_cycle(u, f, h):
    if len(u) == 3:
        u[1] = 0.5 * (u[0] + u[2] + h**2 * f[1])
        return u
    smooth(u, f, h, 1)
    r = residual(u, f, h)
    coarse = r[::2].copy()
    coarse[1:-1] = 0.25 * (r[1:-2:2] + 2 * r[2:-1:2] + r[3::2])
    error = v_cycle(np.zeros_like(coarse), coarse, 2 * h)
    u[::2] += error
    u[1::2] += 0.5 * (error[:-1] + error[1:])
    smooth(u, f, h, 1)
    return u


def multigrid(u, f, h):
    for _ in range(2):
        u = v_cycle(u, f, h)
    return np.sum(u**2) + np.sum(residual(u, f, h) ** 2)


def red_black(u, f, omega):
    for _ in range(3):
        for colour in (0, 1):
            for start in (1, 2):
                c = 1 + (start + colour) % 2
                centre = u[start:-1:2, c:-1:2]
                rows, cols = centre.shape
                north = u[start - 1 :: 2, c::2][:rows, :cols]
                south = u[start + 1 :: 2, c::2][:rows, :cols]
                west = u[start::2, c - 1 :: 2][:rows, :cols]
                east = u[start::2, c + 1 :: 2][:rows, :cols]
                gauss = 0.25 * (north + south + west + east - f[start:-1:2, c:-1:2])
                centre += omega * (gauss - centre)
    return np.sum(u * u)


def red_black_line(u, f):
    for _ in range(3):
        u[1:-1:2] = 0.5 * (u[:-2:2] + u[2::2] - f[1:-1:2])
        u[2:-1:2] = 0.5 * (u[1:-2:2] + u[3::2] - f[2:-1:2])
    return np.sum(u * u)


def conjugate_gradient(A, b):
    A = A @ A.T + np.eye(len(b))
    x = np.zeros_like(b)
    r = b - A @ x
    p = r.copy()
    rs = r @ r
    for _ in range(3):
        Ap = A @ p
        alpha = rs / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        rs_new = r @ r
        if np.sqrt(rs_new) < 1e-6:
            break
        p *= rs_new / rs
        p += r
        rs = rs_new
    return x @ b + np.sum(x**2)


def householder(A):
    R = A.copy()
    m, n = R.shape
    Q = np.eye(m)
    for k in range(n):
        x = R[k:, k]
        v = x.copy()
        v[0] += np.copysign(np.linalg.norm(x), x[0])
        v /= np.linalg.norm(v)
        R[k:, k:] -= 2.0 * np.outer(v, v @ R[k:, k:])
        Q[:, k:] -= 2.0 * np.outer(Q[:, k:] @ v, v)
    return Q, R


def least_squares_by_reflections(A, b):
    Q, R = householder(A)
    n = A.shape[1]
    y = (Q.T @ b)[:n]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - R[i, i + 1 :] @ x[i + 1 :]) / R[i, i]
    return np.sum(x**2) + np.abs(R[0, 0])


def jacobi_rotations(A):
    A = 0.5 * (A + A.T)
    n = len(A)
    for _ in range(2):
        for p in range(n - 1):
            for q in range(p + 1, n):
                theta = 0.5 * np.arctan2(2 * A[p, q], A[q, q] - A[p, p])
                c, s = np.cos(theta), np.sin(theta)
                J = np.eye(n)
                J[p, p] = J[q, q] = c
                J[p, q], J[q, p] = s, -s
                A = J.T @ A @ J
    return np.sum(np.diag(A) ** 3)


# Networks


def relu(x):
    return np.maximum(x, 0)


def softmax(x):
    shifted = x - np.max(x, axis=-1, keepdims=True)
    e = np.exp(shifted)
    return e / np.sum(e, axis=-1, keepdims=True)


def conv2d(input, weights):
    K = weights.shape[0]
    N, H, W = input.shape[0], input.shape[1] - K + 1, input.shape[2] - K + 1
    output = np.empty((N, H, W, weights.shape[3]), dtype=input.dtype)
    for i in range(H):
        for j in range(W):
            output[:, i, j, :] = np.sum(
                input[:, i : i + K, j : j + K, :, np.newaxis] * weights[np.newaxis], axis=(1, 2, 3)
            )
    return output


def conv2d_bias(input, weights, bias):
    return conv2d(input, weights) + bias


def maxpool2d(x):
    output = np.empty([x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]], dtype=x.dtype)
    for i in range(x.shape[1] // 2):
        for j in range(x.shape[2] // 2):
            output[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return output


def batchnorm2d(x, eps=1e-5):
    mean = np.mean(x, axis=0, keepdims=True)
    std = np.std(x, axis=0, keepdims=True)
    return (x - mean) / np.sqrt(std + eps)


def mlp(x, *layers):
    *hidden, (W, b) = layers
    for V, c in hidden:
        x = relu(x @ V + c)
    return softmax(x @ W + b)


def convolution(x, weights, bias):
    return np.sum(np.tanh(conv2d_bias(x, weights, bias)) ** 2)


def lenet(x, conv1, b1, conv2, b2, W1, c1, W2, c2):
    x = maxpool2d(relu(conv2d_bias(x, conv1, b1)))
    x = maxpool2d(relu(conv2d_bias(x, conv2, b2)))
    x = np.reshape(x, (x.shape[0], -1))
    x = relu(x @ W1 + c1)
    p = softmax(x @ W2 + c2)
    return -np.sum(np.log(p[:, 1]))


def resnet_block(x, conv1, conv2, conv3):
    padded = np.zeros((x.shape[0], x.shape[1] + 2, x.shape[2] + 2, conv1.shape[3]))
    padded[:, 1:-1, 1:-1, :] = conv2d(x, conv1)
    y = relu(batchnorm2d(padded))
    y = relu(batchnorm2d(conv2d(y, conv2)))
    y = batchnorm2d(conv2d(y, conv3))
    return relu(y + x)


def resnet(x, conv1, conv2, conv3):
    return np.mean(resnet_block(x, conv1, conv2, conv3) ** 2)


def perceptrons(x, layers):
    p = mlp(x, *layers)
    return -np.mean(np.log(p[np.arange(len(x)), [0, 2, 1, 0]]))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(X, W, U, b):
    steps, units = X.shape[0], U.shape[0]
    state = np.zeros((2, steps + 1, units))
    h, c = state
    gates = np.zeros((steps, 4 * units))
    for t in range(steps):
        gates[t] = X[t] @ W + h[t] @ U + b
        gates[t, : 3 * units] = sigmoid(gates[t, : 3 * units])
        i, f, o, g = np.split(gates[t], 4)
        c[t + 1] = f * c[t] + i * np.tanh(g)
        h[t + 1] = o * np.tanh(c[t + 1])
    return np.sum(h[-1] ** 2) + np.mean(state)


def attention(x, Wq, Wk, Wv):
    heads = []
    for q, k, v in zip(np.split(x @ Wq, 2, axis=1), np.split(x @ Wk, 2, axis=1), np.split(x @ Wv, 2, axis=1)):
        scores = q @ k.T / np.sqrt(q.shape[1])
        scores[np.triu_indices(len(x), 1)] = -1e9
        heads.append(softmax(scores) @ v)
    return np.sum(np.concatenate(heads, axis=1) ** 2)


@dataclass
class Perceptron:
    W: np.ndarray
    b: float
    rate: float

    def loss(self, X, y):
        return np.mean((np.tanh(X @ self.W + self.b) - y) ** 2)

    def step(self, X, y):
        out = np.tanh(X @ self.W + self.b)
        delta = 2 * (out - y) * (1 - out**2) / len(y)
        self.W -= self.rate * X.T @ delta
        self.b = self.b - self.rate * delta.sum()


def trained(model, X, y):
    for _ in range(3):
        model.step(X, y)
    return model.loss(X, y)


# Statistics and estimation


def gp_likelihood(X, y, length, amplitude, noise):
    n = len(y)
    K = np.empty((n, n))
    for i in range(n):
        for j in range(i + 1):
            d = X[i] - X[j]
            K[i, j] = K[j, i] = amplitude**2 * np.exp(-0.5 * d @ d / length**2)
    K[np.diag_indices(n)] += noise**2
    L = np.linalg.cholesky(K)
    alpha = np.linalg.solve(L.T, np.linalg.solve(L, y))
    return -0.5 * y @ alpha - np.log(np.diag(L)).sum() - 0.5 * n * np.log(2 * np.pi)


def ridge(X, y, penalty):
    centre = X.mean(axis=0)
    scale = X.std(axis=0)
    Z = (X - centre) / scale
    beta = np.linalg.solve(Z.T @ Z + penalty * np.eye(Z.shape[1]), Z.T @ (y - y.mean()))
    residuals = y - y.mean() - Z @ beta
    dof = np.trace(Z @ np.linalg.inv(Z.T @ Z + penalty * np.eye(Z.shape[1])) @ Z.T)
    return np.sum(residuals**2) / (len(y) - dof)


def logsumexp(values):
    top = max(values)
    return top + math.log(sum(math.exp(v - top) for v in values))


def hmm_forward(log_start, log_trans, log_emit, observations):
    n = len(log_start)
    log_alpha = np.zeros((len(observations), n))
    for s in range(n):
        log_alpha[0, s] = log_start[s] + log_emit[s, observations[0]]
    for t in range(1, len(observations)):
        for s in range(n):
            terms = [log_alpha[t - 1, r] + log_trans[r, s] for r in range(n)]
            log_alpha[t, s] = logsumexp(terms) + log_emit[s, observations[t]]
    return logsumexp(log_alpha[-1])


def viterbi(log_start, log_trans, log_emit, observations):
    score = log_start + log_emit[:, observations[0]]
    back = np.zeros((len(observations), len(score)), dtype=int)
    for t, o in enumerate(observations[1:], start=1):
        table = score[:, None] + log_trans
        back[t] = np.argmax(table, axis=0)
        score = table[back[t], np.arange(len(score))] + log_emit[:, o]
    state = int(np.argmax(score))
    path = [state]
    for t in range(len(observations) - 1, 0, -1):
        state = back[t, state]
        path.insert(0, state)
    return score[path[-1]] + sum(log_start[s] for s in path) / len(path)


def kalman_filter(params, observations):
    F, H, Q, R = params["F"], params["H"], params["Q"], params["R"]
    mean, cov = np.zeros(len(F)), np.eye(len(F))
    means, loglik = [], 0.0
    for z in observations:
        mean = F @ mean
        cov = F @ cov @ F.T + Q @ Q.T
        innovation = z - H @ mean
        S = H @ cov @ H.T + R @ R.T
        gain = np.linalg.solve(S, H @ cov).T
        mean = mean + gain @ innovation
        cov = (np.eye(len(F)) - gain @ H) @ cov
        loglik -= 0.5 * (innovation @ np.linalg.solve(S, innovation) + np.log(np.linalg.det(S)))
        means.append(mean)
    return {"loglik": loglik, "means": np.array(means), "cov": cov}


def kalman(params, observations):
    result = kalman_filter(params, observations)
    return result["loglik"] + np.sum(result["means"] ** 2) * np.trace(result["cov"])


def systematic_resample(weights):
    n = len(weights)
    positions = (np.arange(n) + 0.4) / n
    cumulative = np.cumsum(weights)
    indexes = np.zeros(n, dtype=int)
    i, j = 0, 0
    while i < n:
        if positions[i] < cumulative[j]:
            indexes[i] = j
            i += 1
        else:
            j += 1
    return indexes


def particle_filter(particles, noise, observations, sigma):
    weights = np.full(len(particles), 1.0 / len(particles))
    loglik = 0.0
    for z, e in zip(observations, noise):
        particles = 0.9 * particles + np.sin(particles) * 0.1 + sigma * e
        weights = weights * np.exp(-0.5 * (z - particles) ** 2)
        total = np.sum(weights)
        loglik += np.log(total)
        weights /= total
        if 1.0 / np.sum(weights**2) < 0.9 * len(particles):
            indexes = systematic_resample(weights)
            particles = particles[indexes]
            weights = np.ones_like(weights) / len(weights)
    return loglik + weights @ particles


def em_mixture(x, means, sigma):
    weights = np.ones(len(means)) / len(means)
    responsibility = np.zeros((len(x), len(means)))
    for _ in range(3):
        for k in range(len(means)):
            responsibility[:, k] = weights[k] * np.exp(-0.5 * ((x - means[k]) / sigma) ** 2)
        responsibility /= responsibility.sum(axis=1, keepdims=True)
        for k, r in enumerate(responsibility.T):
            means[k] = np.sum(r * x) / np.sum(r)
            weights[k] = np.mean(r)
    return np.sum(means**2 * weights)


def irls(X, y, penalty):
    w = np.zeros(X.shape[1])
    for _ in range(20):
        p = sigmoid(X @ w)
        gradient = X.T @ (p - y) + penalty * w
        hessian = (X * (p * (1 - p))[:, np.newaxis]).T @ X + penalty * np.eye(len(w))
        step = np.linalg.solve(hessian, gradient)
        w -= step
        if np.max(np.abs(step)) < 1e-12:
            break
    return np.sum(w**2)


def deposit(x, charge, cells):
    density = np.zeros(cells)
    left = np.floor(x).astype(int)
    share = x - left
    np.add.at(density, left % cells, charge * (1 - share))
    np.add.at(density, (left + 1) % cells, charge * share)
    return density


def particle_in_cell(x, v, charge, dt):
    cells = 5
    for _ in range(3):
        density = deposit(x, charge, cells)
        field = 0.5 * (np.roll(density, 1) - np.roll(density, -1))
        cell = x.astype(int)
        v = v + dt * field[cell % cells]
        x = (x + dt * v) % cells
    return np.sum(v**2) + np.sum(deposit(x, charge, cells) ** 2)


def weighted_histogram(values, weights):
    sums = np.zeros(4)
    counts = np.zeros(4)
    squares = np.zeros((4, 2))
    for value, weight in zip(values, weights):
        bin_ = min(int(value * 4), 3)
        sums[bin_] += weight * value
        counts[bin_] += weight
        squares[bin_, 1] += value**2
    filled = counts > 0
    means = np.zeros(4)
    means[filled] = sums[filled] / counts[filled]
    return np.sum(means**2) + np.var(squares[:, 1])


def azimuthal_integration(data, radius, npt):
    rmax = radius.max()
    res = np.zeros(npt, dtype=np.float64)
    for i in range(npt):
        r1 = rmax * i / npt
        r2 = rmax * (i + 1) / npt
        mask_r12 = np.logical_and((r1 <= radius), (radius < r2))
        on_values = data[mask_r12] * radius[mask_r12]
        res[i] = on_values.mean()
    return res


def azimuthal(data, radius):
    return np.sum(azimuthal_integration(data, radius, 4) ** 2)


# Formulas on arrays


def normal_cdf(x):
    k = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    poly = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi) * poly
    return np.where(x >= 0, 1.0 - tail, tail)


def black_scholes(S, K, T, r, sigma):
    d1 = (np.log(S / K) + (r + 0.5 * sigma**2) * T) / (sigma * np.sqrt(T))
    d2 = d1 - sigma * np.sqrt(T)
    call = S * normal_cdf(d1) - K * np.exp(-r * T) * normal_cdf(d2)
    put = call - S + K * np.exp(-r * T)
    return np.sum(call) + 0.5 * np.sum(put)


def binomial_tree(S, K, r, sigma, steps):
    dt = 1.0 / steps
    up = math.exp(sigma * math.sqrt(dt))
    p = (math.exp(r * dt) - 1 / up) / (up - 1 / up)
    values = np.array([max(K - S * up ** (2 * k - steps), 0.0) for k in range(steps + 1)])
    for n in range(steps - 1, -1, -1):
        values = math.exp(-r * dt) * (p * values[1:] + (1 - p) * values[:-1])
        for k in range(n + 1):
            exercise = K - S * up ** (2 * k - n)
            if exercise > values[k]:
                values[k] = exercise
    return values[0]


def mandelbrot(x, y, maxiter):
    cr, ci = x[None, :] + 0 * y[:, None], 0 * x[None, :] + y[:, None]
    zr, zi = np.zeros_like(cr), np.zeros_like(ci)
    count = np.zeros(cr.shape, dtype=int)
    for n in range(maxiter):
        inside = zr * zr + zi * zi < 4.0
        count[inside] = n
        re = zr[inside] ** 2 - zi[inside] ** 2 + cr[inside]
        zi[inside] = 2 * zr[inside] * zi[inside] + ci[inside]
        zr[inside] = re
    return zr, zi, count


def mandelbrot_sum(x, y):
    zr, zi, count = mandelbrot(x, y, 5)
    r2 = zr**2 + zi**2
    smooth_count = count - np.log(np.log(2.0 + r2))
    return np.mean(smooth_count) + np.sum(np.tanh(zr[count < 4]))


def arc_distance(theta_1, phi_1, theta_2, phi_2):
    haversine = np.sin((theta_2 - theta_1) / 2) ** 2
    haversine = haversine + np.cos(theta_1) * np.cos(theta_2) * np.sin((phi_2 - phi_1) / 2) ** 2
    return 2 * np.arctan2(np.sqrt(haversine), np.sqrt(1 - haversine))


def arcs(theta_1, phi_1, theta_2, phi_2):
    return np.sum(arc_distance(theta_1, phi_1, theta_2, phi_2) ** 2)


def go_fast(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


def go_fast_twice(a):
    return np.mean(go_fast(0.1 * go_fast(a)) ** 2)


def newton_system(x, a):
    for _ in range(20):
        F = np.array([x[0] ** 2 + a[0] * x[1] - 3.0, x[1] ** 3 + a[1] * x[0] - 2.0])
        J = np.zeros((2, 2))
        J[0, 0], J[0, 1] = 2 * x[0], a[0]
        J[1] = a[1], 3 * x[1] ** 2
        step = np.linalg.solve(J, F)
        x = x - step
        if np.linalg.norm(step) < 1e-10:
            break
    else:
        raise RuntimeError(f"no root near {x}")
    return x


def newton_root(a):
    root = newton_system(np.array([1.2, 0.9]), a)
    return root[0] * root[1] + np.sum(root)


def kepler(M, e):
    E = M
    while True:
        step = (E - e * math.sin(E) - M) / (1 - e * math.cos(E))
        E -= step
        if abs(step) < 1e-13:
            break
    return E


def orbit(times, e, period):
    points = np.zeros((len(times), 2))
    for row, t in zip(points, times):
        E = kepler(2 * math.pi * t / period, e)
        row[0] = math.cos(E) - e
        row[1] = math.sqrt(1 - e**2) * math.sin(E)
    return np.sum(points[1:] * points[:-1])


def secant(f, a, b):
    fa, fb = f(a), f(b)
    for _ in range(30):
        if abs(fb) < 1e-13:
            return b
        a, b, fa = b, b - fb * (b - a) / (fb - fa), fb
        fb = f(b)
    return b


def yield_to_maturity(flows, price):
    return secant(lambda r: sum(c / (1 + r) ** (k + 1) for k, c in enumerate(flows)) - price, 0.02, 0.1)


def bilinear(image, x, y):
    i, j = int(x), int(y)
    s, t = x - i, y - j
    top = (1 - t) * image[i, j] + t * image[i, j + 1]
    bottom = (1 - t) * image[i + 1, j] + t * image[i + 1, j + 1]
    return (1 - s) * top + s * bottom


def warp(image, angle, zoom):
    out = np.zeros((4, 4))
    for i in range(4):
        for j in range(4):
            x = zoom * (math.cos(angle) * (i - 1.5) - math.sin(angle) * (j - 1.5)) + 2.6
            y = zoom * (math.sin(angle) * (i - 1.5) + math.cos(angle) * (j - 1.5)) + 2.4
            if 0 <= x < image.shape[0] - 1 and 0 <= y < image.shape[1] - 1:
                out[i, j] = bilinear(image, x, y)
    return np.sum(out * out)


def edit_distance(costs, a, b):
    D = np.zeros((len(a) + 1, len(b) + 1))
    D[1:, 0] = np.cumsum([costs["delete"]] * len(a))
    D[0, 1:] = np.cumsum([costs["insert"]] * len(b))
    for i, s in enumerate(a, start=1):
        for j, t in enumerate(b, start=1):
            D[i, j] = min(
                D[i - 1, j] + costs["delete"], D[i, j - 1] + costs["insert"], D[i - 1, j - 1] + costs["match"][s, t]
            )
    return D[-1, -1] ** 2


def soft_dtw(x, y, gamma):
    D = np.full((len(x) + 1, len(y) + 1), 1e3)
    D[0, 0] = 0.0
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            previous = np.array([D[i - 1, j], D[i, j - 1], D[i - 1, j - 1]])
            low = previous.min()
            soft = low - gamma * np.log(np.sum(np.exp(-(previous - low) / gamma)))
            D[i, j] = (x[i - 1] - y[j - 1]) ** 2 + soft
    return D[-1, -1]


def neural_ode(y, W, h):
    path = np.empty((5, len(y)))
    path[0] = y
    field = lambda t, s, V: np.tanh(V @ s) * np.exp(-t)
    for n in range(4):
        path[n + 1] = rk4(field, n * h, path[n], h, W)
    return np.sum(path**2)


def metropolis(x, noise, width):
    chain = [x]
    accepted = 0
    thresholds = (0.9, 0.2, 0.6, 0.4, 0.7)
    for e, u in zip(noise, thresholds):
        proposal = chain[-1] + width * e
        if np.log(u) < 0.5 * (np.sum(chain[-1] ** 2) - np.sum(proposal**2)):
            accepted += 1
            chain.append(proposal)
        else:
            chain.append(chain[-1])
    return np.mean(np.array(chain) ** 2) * (1 + accepted)


def sir_epidemic(S, I, R, beta, gamma):
    log = {"S": [S], "I": [I], "R": [R]}
    for day in range(8):
        infections = beta * S * I * (0.5 if day > 4 else 1.0)
        recoveries = gamma * I
        S, I, R = S - infections, I + infections - recoveries, R + recoveries
        for name, value in zip("SIR", (S, I, R)):
            log[name].append(value)
    return max(log["I"]) + np.trapezoid(np.array(log["R"])) * S


def sparse_pattern():
    dense = (np.arange(36).reshape(6, 6) * 7) % 11 < 5
    rows = np.concatenate([[0], np.cumsum(dense.sum(axis=1))])
    return rows, np.nonzero(dense)[1]


def log_rows(*shape):
    return np.log(rng.dirichlet(np.ones(shape[-1]) * 2, size=shape[:-1]))


A_ROW, A_COL = sparse_pattern()
KALMAN = {
    "F": np.eye(2) * 0.8 + 0.2 * normal(size=(2, 2)),
    "H": normal(size=(2, 2)),
    "Q": 0.3 * np.eye(2) + 0.05 * normal(size=(2, 2)),
    "R": 0.6 * np.eye(2) + 0.05 * normal(size=(2, 2)),
}
image = np.random.default_rng(1).normal
LENET = (
    image(size=(2, 10, 10, 1)),
    *(image(size=(3, 3, 1, 2)) * 0.5, image(size=2) * 0.1),
    *(image(size=(3, 3, 2, 3)) * 0.5, image(size=3) * 0.1),
    *(image(size=(3, 4)), image(size=4) * 0.1),
    *(image(size=(4, 3)), image(size=3)),
)


def means_by_distance(values, distance, count):
    """Averages in rings of one width, by two histograms."""
    number = np.histogram(distance, count)[0]
    total = np.histogram(distance, count, weights=values)[0]
    return np.sum((total / number) ** 2)


def sums_in_a_range(values, distance):
    total, _ = np.histogram(distance, bins=3, range=(0.0, 2.0), weights=values)
    return np.sum(total**3)


def energy_of_bodies(x, m, g):
    """Kinetic energy apart, that of all pairs: the distances of a body from itself are zero."""
    distance = np.sqrt((x[:, :1] - x[:, :1].T) ** 2 + (x[:, 1:] - x[:, 1:].T) ** 2)
    apart = distance > 0
    distance[apart] = 1.0 / distance[apart]
    return -g * np.sum(np.triu(m * m.T * distance, 1))


def lengths_above_the_diagonal(x):
    d = x[:, None] - x
    return np.sum(np.triu(np.sqrt(d**2), 1)) + np.sum(np.tril(np.abs(d) ** 0.5, -1))


def places(rows, columns):
    i, j = np.empty((rows, columns), dtype=np.int64), np.empty((rows, columns), dtype=np.int64)
    for k in range(rows):
        i[k, :] = k
    for k in range(columns):
        j[:, k] = k
    return i, j


def escaping_points(low, high, rows, columns, horizon):
    """Points of the plane that leave a disc; those that have left are dropped from all arrays."""
    i, j = places(rows, columns)
    c = np.linspace(low, high, rows)[i] + np.linspace(-1.0, 1.2, columns)[j] * 1j
    last = np.zeros(c.shape, dtype=np.complex128)
    i.shape = j.shape = c.shape = rows * columns
    z = np.zeros(c.shape, np.complex128)
    for _ in range(6):
        if not len(z):
            break
        np.multiply(z, z, z)
        np.add(z, c, z)
        out = abs(z) > horizon
        last[i[out], j[out]] = z[out]
        np.logical_not(out, out)
        z, c = z[out], c[out]
        i, j = i[out], j[out]
    return np.sum(np.abs(last) ** 2)


def transform_of_computed_sizes(x, radix, stages):
    """A Fourier transform whose reshapings have sizes that each stage computes."""
    n = radix**stages
    k = np.arange(radix)
    small = np.exp(-2.0j * np.pi * np.outer(k, k) / radix)
    y = np.zeros(n, dtype=np.complex128)
    y[:] = x
    for s in range(stages):
        before, after = radix**s, radix ** (stages - s - 1)
        turned = np.transpose(np.reshape(y, (before, radix, after)), axes=(1, 0, 2))
        angle = np.exp(-2.0j * np.pi * np.outer(k, np.arange(before)) / radix ** (s + 1))
        twiddle = np.repeat(np.reshape(angle, (radix, before, 1)), after, axis=2)
        product = np.reshape(turned, (n,)) * np.reshape(twiddle, (n,))
        y[:] = np.reshape(small @ np.reshape(product, (radix, radix ** (stages - 1))), (n,))
    return np.sum(np.abs(y) ** 2 * np.arange(n))


PROGRAMS = [
    (cavity, (0.1 * normal(size=(6, 7)), 0.1 * normal(size=(6, 7)), normal(size=(6, 7)), 0.1, 0.9, 0.8, 1.2, 0.3)),
    (channel, (uniform(0, 0.2, (6, 6)), 0.1 * normal(size=(6, 6)), normal(size=(6, 6)), 0.05, 0.5, 1.2, 0.3, 1.5)),
    (vertical_advection, (*normal(size=(2, 3, 3, 6)), normal(size=(4, 3, 6)), *normal(size=(2, 3, 3, 6)), 3.0)),
    (horizontal_diffusion, (normal(size=(8, 8, 2)), uniform(0.05, 0.2, (4, 4, 2)))),
    (spectral_burgers, (np.sin(np.arange(8) * np.pi / 4) + 0.1 * normal(size=8), 0.05, 0.05)),
    (heat_double_buffers, (normal(size=(6, 6)), 0.2, 3)),
    (heat_double_buffers, (normal(size=(6, 5)), 0.2, 4)),
    (wave_three_buffers, (normal(size=9), 0.6, 5)),
    (shallow_water, (1 + uniform(0, 0.4, 8), uniform(0.2, 0.5, 8), 1.2, 0.2)),
    (nbody, (uniform(0.5, 1.5, 5), normal(size=(5, 3)), 0.3 * normal(size=(5, 3)), 0.8, 0.3, 0.05)),
    (nbody_masked, (uniform(0.5, 1.5, 4), 2 * normal(size=(4, 3)), 0.3 * normal(size=(4, 3)), 0.8, 0.05)),
    (leapfrog, (normal(size=3), normal(size=3), 1.3, 0.1, 6)),
    (rk4_states, (np.array([1.2, 0.7]), 1.1, 0.8, 0.2)),
    (lorenz_work_arrays, (np.array([1.0, 1.5, 2.0]), 10.0, 28.0, 8 / 3, 0.02)),
    (dormand_adaptive, (1.7, 1.3, 0.3)),
    (ray_through_lens, (0.4, 0.2, 1.6, [0.5, 0.8, 0.3, 1.1])),
    (ray_march, (np.array([-1.0, 0.4, 0.2]), np.array([1.0, 0.1, -0.1]), 0.3, 0.3)),
    (sphere_hits, (0.8 * normal(size=(6, 3)), np.array([0.1, 0.2, 1.0]), np.array([0.1, 0.0, 4.0]), 1.2)),
    (sparse_power, (A_ROW, A_COL, uniform(0.2, 1.0, len(A_COL)), uniform(0.5, 1.0, 6))),
    (sparse_transposed, (A_ROW, A_COL, normal(size=len(A_COL)), normal(size=6))),
    (coo_product, (rng.integers(0, 6, 11), rng.integers(0, 6, 11), normal(size=11), normal(size=6))),
    (fft_power, (normal(size=8), uniform(0.1, 0.5, 8))),
    (fft_in_place, (0.3 * normal(size=8), 0.3 * normal(size=8))),
    (contour, ([normal(size=(4, 4)), 3 * np.eye(4), 0.2 * normal(size=(4, 4))], normal(size=(4, 2)), 0.8)),
    (contour, ([normal(size=(3, 3)), 3 * np.eye(3), 0.2 * normal(size=(3, 3))], normal(size=(3, 3)), 2.5)),
    (
        self_energies,
        (
            np.array([[1, 2], [0, 2], [1, 0]]),
            0.6 * normal(size=(3, 2, 2, 2, 2)),
            *normal(size=(2, 2, 2, 3, 2, 2)),
            normal(size=(1, 2, 3, 2, 2, 2)),
        ),
    ),
    (tridiagonal, (normal(size=6), normal(size=7) + 4, normal(size=6), normal(size=7))),
    (crank_nicolson, (normal(size=8), 0.7)),
    (multigrid, (0.2 * normal(size=9), normal(size=9), 0.6)),
    (red_black, (normal(size=(7, 8)), normal(size=(7, 8)), 1.3)),
    (red_black_line, (normal(size=9), normal(size=9))),
    (conjugate_gradient, (0.6 * normal(size=(5, 5)), normal(size=5))),
    (least_squares_by_reflections, (normal(size=(6, 3)), normal(size=6))),
    (jacobi_rotations, (normal(size=(4, 4)),)),
    (convolution, (normal(size=(2, 5, 6, 2)), 0.3 * normal(size=(3, 3, 2, 3)), normal(size=3))),
    (lenet, LENET),
    (
        resnet,
        (normal(size=(3, 4, 4, 3)), normal(size=(1, 1, 3, 2)), normal(size=(3, 3, 2, 2)), normal(size=(1, 1, 2, 3))),
    ),
    (
        perceptrons,
        (normal(size=(4, 3)), [(normal(size=(3, 5)), normal(size=5)), (normal(size=(5, 3)), normal(size=3))]),
    ),
    (lstm, (normal(size=(4, 3)), normal(size=(3, 8)), normal(size=(2, 8)), normal(size=8))),
    (attention, (normal(size=(4, 3)), *normal(size=(3, 3, 4)))),
    (trained, (Perceptron(normal(size=3), 0.2, 0.3), normal(size=(6, 3)), np.sign(normal(size=6)))),
    (gp_likelihood, (normal(size=(5, 2)), normal(size=5), 0.9, 1.2, 0.4)),
    (ridge, (normal(size=(8, 3)), normal(size=8), 0.7)),
    (hmm_forward, (log_rows(3), log_rows(3, 3), log_rows(3, 4), [0, 2, 1, 3, 0])),
    (viterbi, (log_rows(3), log_rows(3, 3), log_rows(3, 4), [0, 2, 1, 3, 0])),
    (kalman, (KALMAN, normal(size=(4, 2)))),
    (particle_filter, (normal(size=6), normal(size=(4, 6)), normal(size=4), 0.4)),
    (em_mixture, (normal(size=8), np.array([-0.8, 0.2, 1.1]), 0.7)),
    (irls, (normal(size=(7, 3)), uniform(0.1, 0.9, 7), 0.5)),
    (particle_in_cell, (uniform(0, 5, 7), normal(size=7), uniform(0.2, 0.6, 7), 0.1)),
    (weighted_histogram, (np.array([0.12, 0.61, 0.33, 0.88, 0.42, 0.17, 0.7, 0.05, 0.94]), uniform(0.5, 1.5, 9))),
    (azimuthal, (normal(size=(5, 6)), uniform(0.1, 2.0, (5, 6)))),
    (black_scholes, (uniform(0.8, 1.2, 5), uniform(0.8, 1.2, 5), uniform(0.5, 1.5, 5), 0.05, 0.3)),
    (binomial_tree, (1.0, 1.1, 0.06, 0.3, 5)),
    (mandelbrot_sum, (np.linspace(-1.6, 0.675, 6), np.linspace(-0.93, 1.05, 5))),
    (arcs, (normal(size=5), normal(size=5), normal(size=5), normal(size=5))),
    (go_fast_twice, (normal(size=(6, 6)),)),
    (newton_root, (np.array([0.8, 0.6]),)),
    (orbit, ([0.1, 0.35, 0.6, 1.3], 0.4, 2.1)),
    (yield_to_maturity, ([0.05, 0.05, 0.05, 1.05], 0.93)),
    (warp, (normal(size=(6, 6)), 0.3, 0.9)),
    (
        edit_distance,
        ({"insert": 0.7, "delete": 0.9, "match": uniform(0.1, 1.2, (4, 4))}, [0, 1, 3, 2, 1], [1, 3, 0, 2]),
    ),
    (soft_dtw, (normal(size=5), normal(size=4), 0.5)),
    (neural_ode, (normal(size=3), normal(size=(3, 3)), 0.2)),
    (metropolis, (normal(size=3), normal(size=(5, 3)), 0.8)),
    (sir_epidemic, (0.9, 0.1, 0.0, 0.9, 0.3)),
    (means_by_distance, (normal(size=9), np.linspace(0.1, 2.0, 9) ** 2, 3)),
    (sums_in_a_range, (normal(size=9), np.linspace(0.1, 2.0, 9) ** 2)),
    (energy_of_bodies, (normal(size=(4, 2)), uniform(0.5, 1.5, (4, 1)), 0.8)),
    (lengths_above_the_diagonal, (normal(size=4),)),
    (escaping_points, (-1.9, 0.6, 7, 6, 2.0)),
    (transform_of_computed_sizes, (normal(size=8), 2, 3)),
    (transform_of_computed_sizes, (normal(size=9), 3, 2)),
]
