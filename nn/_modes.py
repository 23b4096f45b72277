"""The modes of a model in :func:`nn.fit`: modules that were frozen before stay in evaluation mode."""

from collections.abc import Iterable

from .module import Module, Parameter, modules_outside, own_parameters


class Modes:
    """Which modules of a model train, and which are held in evaluation mode.

    Held are the modules whose own parameters are all frozen, such as a BatchNorm of a network with LoRA; what stands in frozen
    parts alone, such as the Dropout of a frozen encoder; and the modules in evaluation mode, unless the whole model is: a file
    or an earlier ``fit`` left it so. ``fit`` marks those that it found so.
    """

    def __init__(self, model: Module) -> None:
        modules = list(model.modules())
        trains = any(module.training for module in modules)
        self.model = model
        self.found = [module for module in modules if (not module.training if trains else "_held" in vars(module))]
        frozen = [module for module in modules if _all_frozen(module.parameters())]
        learning = {id(module) for module in modules_outside(model, frozen)}
        held = {id(module) for module in self.found} | {id(module) for module in modules} - learning
        held |= {id(module) for module in modules if _all_frozen(part for _, part in own_parameters(module))}
        self.held = [module for module in modules if id(module) in held]
        self.others = [module for module in modules if id(module) not in held]

    def train(self) -> None:
        """Put the model into training mode, unless a part trains, and the held modules into evaluation mode."""
        if not any(module.training for module in self.others):
            self.model.train()
        for module in self.held:
            module.training = False

    def end(self) -> None:
        """Put the model into evaluation mode."""
        self.model.eval()
        for module in self.found:
            vars(module)["_held"] = True


def _all_frozen(parameters: Iterable[Parameter]) -> bool:
    learn = [parameter.requires_grad for parameter in parameters]
    return bool(learn) and not any(learn)
