"""The articles' chains of three layers, and the gradients of deep nets."""

import numpy as np
import pytest

import minigrad as mg
import residual_chains as example


@pytest.mark.parametrize(("w", "plain", "residual"), [(100.0, 1e6, 1_020_100), (0.01, 1e-6, 0.010201)])
def test_three_layers(w, plain, residual) -> None:
    for chain, slope in ((example.plain_chain, plain), (example.residual_chain, residual)):
        assert float(mg.grad(chain)(1.0, w)) == pytest.approx(slope, rel=1e-12)
        mg.check_grads(chain, [np.array(0.5), np.array(0.3)])


def test_a_deep_plain_net_loses_its_gradient_and_a_residual_one_keeps_it() -> None:
    batch = example.smooth_function(64, np.random.default_rng(0))
    ratios = []
    for residual in (False, True):
        net = example.DeepNet(residual, 0.5, rng=np.random.default_rng(0))
        norms = example.gradient_norms(net, batch)
        assert len(norms) == example.DEPTH
        assert all(parameter.grad is None for parameter in net.parameters())
        ratios.append(norms[0] / norms[-1])
    assert ratios[0] < 1e-9
    assert 0.1 < ratios[1] < 100


def test_both_nets_start_with_the_same_weights() -> None:
    plain, residual = (example.DeepNet(kind, 0.5, rng=np.random.default_rng(0)) for kind in (False, True))
    assert plain.num_parameters == residual.num_parameters
    for a, b in zip(plain.parameters(), residual.parameters(), strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
