"""The CUDA C of the fused functions. Each kernel names the plain form in ``rules/neural.py`` that it must equal.

``T`` is the type of the arrays and ``A`` the type of the arithmetic: float for float16, else the same. Arrays are
contiguous. The source is plain enough for the tests to run it on a CPU (``tests/cuda_emulator.py``).
"""

PRELUDES = {
    "float16": "#include <cuda_fp16.h>\ntypedef __half T;\ntypedef float A;\n",
    "float32": "typedef float T;\ntypedef float A;\n",
    "float64": "typedef double T;\ntypedef double A;\n",
}

# A row belongs to one warp, and a block holds several, each with a threadIdx.y of its own; or, where blockDim.x > 32, to
# the whole block. The order in which a row is added up depends on its length alone, so that results repeat to the bit.
_ROWS = r"""
#define ROW (blockIdx.x * (long long)blockDim.y + threadIdx.y)
#define EACH_COLUMN(i) for (long long i = threadIdx.x; i < columns; i += blockDim.x)

__device__ A added(A a, A b) { return a + b; }
__device__ A larger(A a, A b) { return fmax(a, b); }  // the other one, if one is NaN

#define FOLD(name, fold)                                                                                     \
    __device__ A name(A v) {  /* of all the threads of a row, to all of them */                              \
        for (int offset = 16; offset; offset /= 2) v = fold(v, __shfl_xor_sync(0xffffffffu, v, offset));     \
        if (blockDim.x == 32) return v;                                                                      \
        __shared__ A of_warp[8];  /* of at most 256 threads */                                               \
        __syncthreads();  /* what an earlier call left here has been read */                                 \
        if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = v;                                            \
        __syncthreads();                                                                                     \
        v = of_warp[0];                                                                                      \
        for (int warp = 1; warp < blockDim.x / 32; warp++) v = fold(v, of_warp[warp]);                       \
        return v;                                                                                            \
    }
FOLD(sum_of_row, added)
FOLD(largest_of_row, larger)

__device__ A largest(const T* x, long long columns) {
    A v = A(x[0]);
    EACH_COLUMN(i) v = larger(v, A(x[i]));
    return largest_of_row(v);
}

__device__ A sum_of_exp(const T* x, A from, long long columns) {
    A v = 0;
    EACH_COLUMN(i) v += exp(A(x[i]) - from);
    return sum_of_row(v);
}
"""

_SOFTMAX = r"""
// _softmax
extern "C" __global__ void softmax_forward(const T* x, T* ans, long long rows, long long columns) {
    if (ROW >= rows) return;
    x += ROW * columns, ans += ROW * columns;
    A from = largest(x, columns), total = sum_of_exp(x, from, columns);
    EACH_COLUMN(i) ans[i] = T(exp(A(x[i]) - from) / total);
}

// softmax.vjp: ans * (g - sum(g * ans))
extern "C" __global__ void softmax_backward(const T* g, const T* ans, T* d, long long rows, long long columns) {
    if (ROW >= rows) return;
    g += ROW * columns, ans += ROW * columns, d += ROW * columns;
    A along = 0;
    EACH_COLUMN(i) along += A(g[i]) * A(ans[i]);
    along = sum_of_row(along);
    EACH_COLUMN(i) d[i] = T(A(ans[i]) * (A(g[i]) - along));
}

// _log_softmax
extern "C" __global__ void log_softmax_forward(const T* x, T* ans, long long rows, long long columns) {
    if (ROW >= rows) return;
    x += ROW * columns, ans += ROW * columns;
    A from = largest(x, columns), shift = log(sum_of_exp(x, from, columns));
    EACH_COLUMN(i) ans[i] = T(A(x[i]) - from - shift);
}

// log_softmax.vjp: g - exp(ans) * sum(g)
extern "C" __global__ void log_softmax_backward(const T* g, const T* ans, T* d, long long rows, long long columns) {
    if (ROW >= rows) return;
    g += ROW * columns, ans += ROW * columns, d += ROW * columns;
    A total = 0;
    EACH_COLUMN(i) total += A(g[i]);
    total = sum_of_row(total);
    EACH_COLUMN(i) d[i] = T(A(g[i]) - exp(A(ans[i])) * total);
}
"""

_CROSS_ENTROPY = r"""
// _cross_entropy with reduction "none"; a label that is no class gives NaN. kept: (rows, 2), the row's maximum and
// log(sum(exp(x - maximum))).
extern "C" __global__ void cross_entropy_forward(const T* x, const long long* labels, A* losses, A* kept, long long rows,
                                                 long long columns) {
    if (ROW >= rows) return;
    x += ROW * columns;
    A from = largest(x, columns), shift = log(sum_of_exp(x, from, columns));
    if (threadIdx.x) return;
    long long label = labels[ROW];
    losses[ROW] = label >= 0 && label < columns ? shift - (A(x[label]) - from) : A(nan(""));
    kept[2 * ROW] = from, kept[2 * ROW + 1] = shift;
}

// factor * sum(values), by one block: "mean" and "sum" of _REDUCTIONS
extern "C" __global__ void total(const A* values, T* ans, long long columns, double factor) {
    A v = 0;
    EACH_COLUMN(i) v += values[i];
    v = sum_of_row(v);
    if (threadIdx.x == 0) *ans = T(v * A(factor));
}

// softmax(x) - one_hot(label), times the row's cotangent; g_step is 0 if all rows share one
extern "C" __global__ void cross_entropy_backward(const T* g, const T* x, const long long* labels, const A* kept, T* d,
                                                  long long rows, long long columns, long long g_step, double factor) {
    if (ROW >= rows) return;
    x += ROW * columns, d += ROW * columns;
    long long label = labels[ROW];
    A scale = A(g[ROW * g_step]) * A(factor), from = kept[2 * ROW], shift = kept[2 * ROW + 1];
    if (label < 0 || label >= columns) scale = A(nan(""));
    EACH_COLUMN(i) d[i] = T((exp(A(x[i]) - from - shift) - A(i == label)) * scale);
}
"""

_ATTENTION = r"""
// attention_weights from the products on: softmax(where(mask, scores * scale, -1e30)), 0 where masked; in place.
// scores: (batch, heads, queries, columns); the steps are those of the mask, in elements, 0 along what it does not have.
extern "C" __global__ void attention_forward(T* scores, const bool* mask, long long masked, long long rows,
                                             long long columns, long long queries, long long heads, long long batch_step,
                                             long long head_step, long long query_step, long long key_step, double scale) {
    if (ROW >= rows) return;
    scores += ROW * columns;
    mask += ROW / queries / heads * batch_step + ROW / queries % heads * head_step + ROW % queries * query_step;
#define SCORE(i) (!masked || mask[i * key_step] ? A(scores[i]) * A(scale) : A(-1e30))
    A from = SCORE(0), sum = 0;
    EACH_COLUMN(i) from = larger(from, SCORE(i));
    from = largest_of_row(from);
    EACH_COLUMN(i) sum += exp(SCORE(i) - from);
    sum = sum_of_row(sum);
    EACH_COLUMN(i) scores[i] = !masked || mask[i * key_step] ? T(exp(SCORE(i) - from) / sum) : T(A(0));
}

// softmax.vjp of attention's weights, times the scale of the scores; in place
extern "C" __global__ void attention_backward(T* d, const T* weights, long long rows, long long columns, double scale) {
    if (ROW >= rows) return;
    d += ROW * columns, weights += ROW * columns;
    A along = 0;
    EACH_COLUMN(i) along += A(d[i]) * A(weights[i]);
    along = sum_of_row(along);
    EACH_COLUMN(i) d[i] = T(A(weights[i]) * (A(d[i]) - along) * A(scale));
}
"""

_LAYER_NORM = r"""
// _layer_norm; kept: (rows, 3), the mean, what rounding left of it, and 1 / sqrt(var + eps)
extern "C" __global__ void layer_norm_forward(const T* x, const T* gamma, const T* beta, T* ans, A* kept, long long rows,
                                              long long columns, double eps) {
    if (ROW >= rows) return;
    x += ROW * columns, ans += ROW * columns;
    A mean = 0, left = 0, variance = 0;
    EACH_COLUMN(i) mean += A(x[i]);
    mean = sum_of_row(mean) / columns;
    EACH_COLUMN(i) left += A(x[i]) - mean;
    left = sum_of_row(left) / columns;
    EACH_COLUMN(i) variance += (A(x[i]) - mean - left) * (A(x[i]) - mean - left);
    A inverse = 1 / sqrt(sum_of_row(variance) / columns + A(eps));
    EACH_COLUMN(i) ans[i] = T((A(x[i]) - mean - left) * inverse * A(gamma[i]) + A(beta[i]));
    if (threadIdx.x == 0) kept[3 * ROW] = mean, kept[3 * ROW + 1] = left, kept[3 * ROW + 2] = inverse;
}

// with g' = g * gamma: (g' - mean(g') - normed * mean(g' * normed)) * inverse, as in _layer_norm_backward
extern "C" __global__ void layer_norm_backward(const T* g, const T* x, const T* gamma, const A* kept, T* d,
                                               long long rows, long long columns) {
    if (ROW >= rows) return;
    g += ROW * columns, x += ROW * columns, d += ROW * columns;
    A mean = kept[3 * ROW], left = kept[3 * ROW + 1], inverse = kept[3 * ROW + 2], constant = 0, along = 0;
    EACH_COLUMN(i) {
        A scaled = A(g[i]) * A(gamma[i]);
        constant += scaled, along += scaled * (A(x[i]) - mean - left) * inverse;
    }
    constant = sum_of_row(constant) / columns, along = sum_of_row(along) / columns;
    EACH_COLUMN(i)
        d[i] = T((A(g[i]) * A(gamma[i]) - constant - (A(x[i]) - mean - left) * inverse * along) * inverse);
}

// Sums over the rows: of g, and if normed of g * (x - mean - left) * inverse too. A block of (32, 8) threads takes 32
// columns of `stretch` rows. partial: (1 or 2, stretches, columns).
extern "C" __global__ void sums_of_columns(const T* g, const T* x, const A* kept, long long normed, A* partial,
                                           long long rows, long long columns, long long stretch) {
    __shared__ A lanes[2][8][32];
    long long column = blockIdx.x * 32ll + threadIdx.x, end = (blockIdx.y + 1ll) * stretch;
    A plain = 0, scaled = 0;
    for (long long row = blockIdx.y * stretch + threadIdx.y; column < columns && row < rows && row < end; row += 8) {
        A v = A(g[row * columns + column]);
        plain += v;
        if (!normed) continue;
        const A* of_row = kept + 3 * row;
        scaled += v * (A(x[row * columns + column]) - of_row[0] - of_row[1]) * of_row[2];
    }
    lanes[0][threadIdx.y][threadIdx.x] = plain, lanes[1][threadIdx.y][threadIdx.x] = scaled;
    __syncthreads();
    if (threadIdx.y > normed || column >= columns) return;
    A v = 0;
    for (int lane = 0; lane < 8; lane++) v += lanes[threadIdx.y][lane][threadIdx.x];
    partial[(threadIdx.y * (long long)gridDim.y + blockIdx.y) * columns + column] = v;
}
"""

_ELEMENTWISE = r"""
#define EACH_ELEMENT(i)                                                                                            \
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
#define FORWARD(name, formula)                                                                                     \
    extern "C" __global__ void name(const T* xs, T* ans, long long n) {                                            \
        EACH_ELEMENT(i) { A x = A(xs[i]); ans[i] = T(formula); }                                                   \
    }
#define BACKWARD(name, formula)  /* kept: x or ans, as the rule asks */                                            \
    extern "C" __global__ void name(const T* gs, const T* kept, T* d, long long n) {                               \
        EACH_ELEMENT(i) { A g = A(gs[i]), x = A(kept[i]); d[i] = T(formula); }                                     \
    }

// (k, stretches, columns) -> (k, columns), where n is k * columns
extern "C" __global__ void sums_of_stretches(const A* partial, T* ans, long long stretches, long long columns, long long n) {
    EACH_ELEMENT(i) {
        A v = 0;
        for (long long j = 0; j < stretches; j++) v += partial[(i / columns * stretches + j) * columns + i % columns];
        ans[i] = T(v);
    }
}

__device__ A logistic(A x) { A e = exp(-fabs(x)); return (x >= 0 ? A(1) : e) / (1 + e); }
__device__ A phi(A x) { return A(0.5) * (1 + erf(x * A(0.70710678118654752440))); }
__device__ A gelu_slope(A x) { return phi(x) + x * exp(A(-0.5) * x * x) * A(0.39894228040143267794); }
__device__ A doubled(A x) { return A(2 * 0.79788456080286535588) * (x + A(0.044715) * x * x * x); }
__device__ A gelu_tanh_slope(A x) {
    A near = x > 30 ? A(30) : x < -30 ? A(-30) : x, u = doubled(near);  // 30 is FLAT
    return logistic(u) * (1 + logistic(-u) * x * A(2 * 0.79788456080286535588) * (1 + A(3 * 0.044715) * near * near));
}

BACKWARD(relu_backward, g * A(x > 0))            // relu.vjp, of ans
FORWARD(sigmoid_forward, logistic(x))            // _sigmoid
BACKWARD(sigmoid_backward, g * logistic(x) * logistic(-x))  // sigmoid.vjp
FORWARD(silu_forward, x * logistic(x))           // _silu
BACKWARD(silu_backward, g * logistic(x) * (1 + x * logistic(-x)))  // silu.vjp
FORWARD(gelu_forward, x * phi(x))                // _gelu, approximate="none"
BACKWARD(gelu_backward, g * gelu_slope(x))
FORWARD(gelu_tanh_forward, x * logistic(doubled(x)))  // _gelu, approximate="tanh"
BACKWARD(gelu_tanh_backward, g * gelu_tanh_slope(x))

// _scatter_add (rules/indexing.py) for whole rows: ans[index[row]] += updates[row], where n is the size of updates.
// Several threads may add to one place, in any order: the last bits differ from run to run.
extern "C" __global__ void scatter_rows(const T* updates, const long long* index, A* ans, long long count, long long columns,
                                        long long n) {
    EACH_ELEMENT(i) {
        long long row = index[i / columns] % count;
        if (row < 0) row += count;
        atomicAdd(ans + row * columns + i % columns, A(updates[i]));
    }
}
"""

_DROPOUT = r"""
// x * Dropout._mask (nn/dropout.py): Philox 4x64 with 10 rounds and the key (key, step). NumPy counts from 1, and each of
// its numbers gives four elements: one counter is good for 16.
extern "C" __global__ void dropout(const T* x, T* ans, long long n, long long key, long long step, long long dropped,
                                   double scale) {
    A kept = A(scale);
    for (long long block = blockIdx.x * (long long)blockDim.x + threadIdx.x; 16 * block < n;
         block += (long long)gridDim.x * blockDim.x) {
        unsigned long long c[4] = {block + 1ull, 0, 0, 0}, k0 = key, k1 = step;
        for (int round = 0; round < 10; round++, k0 += 0x9E3779B97F4A7C15ull, k1 += 0xBB67AE8584CAA73Bull) {
            unsigned long long a = 0xD2E7470EE14C6C93ull, b = 0xCA5A826395121157ull, c0 = c[0], c2 = c[2];
            c[0] = __umul64hi(b, c2) ^ c[1] ^ k0;
            c[1] = b * c2;
            c[2] = __umul64hi(a, c0) ^ c[3] ^ k1;
            c[3] = a * c0;
        }
        for (int j = 0; j < 16 && 16 * block + j < n; j++) {
            bool keep = (long long)(c[j / 4] >> 16 * (j % 4) & 0xffff) >= dropped;
            ans[16 * block + j] = T(A(x[16 * block + j]) * (keep ? kept : A(0)));
        }
    }
}
"""

SOURCE = _ROWS + _SOFTMAX + _CROSS_ENTROPY + _ATTENTION + _LAYER_NORM + _ELEMENTWISE + _DROPOUT
