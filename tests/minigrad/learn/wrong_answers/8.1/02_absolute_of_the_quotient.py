def newton(slope, bend, x, steps):
    # 各ステップの位置を覚えておく
    history = [x]
    for _ in range(steps):
        x = x - abs(slope(x) / bend(x))
        history.append(x)
    return history
