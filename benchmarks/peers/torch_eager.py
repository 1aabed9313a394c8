"""PyTorch, eager, with its own optimizers."""

import torch
from torch import nn
from workloads import ADAM, Problem

from peers import Library, Step


def library(mode: str) -> Library:
    """Torch's own choice of threads, or one; every step is done when it returns."""
    if mode == "one thread":
        torch.set_num_threads(1)
    steps = {"linreg": linreg, "ops": ops, "mlp_small": mlp_small}
    return Library(torch.__version__, torch.tensor, tuple, steps)


def linreg(problem: Problem) -> Step:
    w, b = (nn.Parameter(torch.tensor(problem.weights[name])) for name in "wb")
    optimizer = torch.optim.SGD([w, b], lr=0.1)

    def step(x, y):
        optimizer.zero_grad()
        loss = torch.mean(torch.square(w * x + b - y))
        loss.backward()
        optimizer.step()
        return (loss,)

    return step


def ops(problem: Problem) -> Step:
    x = nn.Parameter(torch.tensor(problem.weights["x"]))

    def step(scale, up, down):
        x.grad = None
        h = x
        for _ in range(50):
            h = torch.tanh(h * scale + up) - down
        loss = torch.sum(h)
        loss.backward()
        return loss, x.grad

    return step


def mlp_small(problem: Problem) -> Step:
    model = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
    values = [torch.tensor(value.T) for value in problem.weights.values()]
    with torch.no_grad():
        for parameter, value in zip(model.parameters(), values, strict=True):
            parameter.copy_(value)
    cross_entropy = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), ADAM["rate"], eps=ADAM["epsilon"])

    def step(x, labels):
        optimizer.zero_grad()
        loss = cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
        return (loss,)

    return step
