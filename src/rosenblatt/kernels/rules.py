"""The rules of a budget by their names, and a run by one of them."""

from __future__ import annotations

from dataclasses import replace

from rosenblatt.kernels.budget import PROJECTING, AfterTrial, Budget, BudgetState
from rosenblatt.kernels.evicting import Evicting
from rosenblatt.kernels.expansion import Expansion
from rosenblatt.kernels.projecting import Projecting
from rosenblatt.kernels.runner import KernelJob, run_job
from rosenblatt.kernels.threads import Threads
from rosenblatt.training.plan import Run

BUDGET_RULES: dict[str, type[Evicting] | type[Projecting]] = {
    **dict.fromkeys(PROJECTING, Projecting),
    "random": Evicting,
    "forgetron": Evicting,
}


def run_budgeted(
    job: KernelJob, budget: Budget, state: BudgetState | None = None, after_trial: AfterTrial | None = None
) -> tuple[Expansion, Run, BudgetState]:
    """Train on a budget; return what was learned, the record, and what the rule needs to continue.

    Without a state, it is that of a run that starts from nothing.
    `after_trial` is called with the runner, the block and the place of the row in it. It changes nothing: the trials
    are those of a run without it, to the last bit.
    """
    with Threads(alone=job.kernel.user_defined) as threads:
        memory = state or BudgetState.empty(budget, job.start.trials.size)
        runner = BUDGET_RULES[budget.rule](job, threads, budget, memory)
        runner.after_trial = after_trial
        record = run_job(job, runner)
        # The problems end together; the record has an end for each of them.
        stops = record.stops * (1 if runner.joint else runner.trials.size)
        return runner.expansion(), replace(record, stops=stops), runner.state()
