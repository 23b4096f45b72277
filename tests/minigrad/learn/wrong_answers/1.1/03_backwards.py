def slope(f, x, h=1e-5):
    # 右と左に少しだけ動かす
    points = [x + h, x - h]
    values = [f(p) for p in points]
    return (values[1] - values[0]) / (2 * h)
