"""The modes of a model in :func:`nn.fit`: modules that were frozen before stay in evaluation mode."""

from .module import Module, own_parameters


class Modes:
    """Which modules of a model train, and which are held in evaluation mode.

    Held are the modules whose own parameters are all frozen, such as a BatchNorm of a network with LoRA, and those that are in
    evaluation mode, unless the whole model is: a file or an earlier ``fit`` left it so. ``fit`` marks those that it found so.
    """

    def __init__(self, model: Module) -> None:
        modules = list(model.modules())
        trains = any(module.training for module in modules)
        self.model = model
        self.found = [module for module in modules if (not module.training if trains else "_held" in vars(module))]
        held = {id(module) for module in [*self.found, *filter(_is_frozen, modules)]}
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


def _is_frozen(module: Module) -> bool:
    own = [parameter.requires_grad for _, parameter in own_parameters(module)]
    return bool(own) and not any(own)
