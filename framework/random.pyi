from framework.functions.candidates import (
    all_candidate_sampler as all_candidate_sampler,
    fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler as learned_unigram_candidate_sampler,
    log_uniform_candidate_sampler as log_uniform_candidate_sampler,
    uniform_candidate_sampler as uniform_candidate_sampler,
)  # fmt: skip
from framework.functions.distributions import (
    gamma as gamma, poisson as poisson, stateless_binomial as stateless_binomial,
    stateless_gamma as stateless_gamma, stateless_poisson as stateless_poisson,
)  # fmt: skip
from framework.functions.generator import (
    Generator as Generator, get_global_generator as get_global_generator,
    set_global_generator as set_global_generator,
)  # fmt: skip
from framework.functions.sampling import (
    categorical as categorical, fold_in as fold_in, normal as normal, set_seed as set_seed,
    shuffle as shuffle, split as split,
    stateless_categorical as stateless_categorical, stateless_normal as stateless_normal,
    stateless_truncated_normal as stateless_truncated_normal,
    stateless_uniform as stateless_uniform, truncated_normal as truncated_normal,
    uniform as uniform,
)  # fmt: skip
