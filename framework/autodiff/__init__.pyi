from framework.autodiff.derivatives import (
    grad as grad, hessian as hessian, hvp as hvp, jvp as jvp, value_and_grad as value_and_grad,
    vjp as vjp,
)  # fmt: skip
from framework.autodiff.forward_mode import ForwardAccumulator as ForwardAccumulator
from framework.autodiff.gradient_functions import (
    gradients_function as gradients_function, implicit_grad as implicit_grad,
    implicit_value_and_gradients as implicit_value_and_gradients, make_vjp as make_vjp,
    value_and_gradients_function as value_and_gradients_function,
)  # fmt: skip
from framework.autodiff.tape import GradientTape as GradientTape
