"""Actions that only cvc5 has: their names begin with ``cvc5:``. In each state of the model they come in this
order.
"""

from apifuzz.engines.cvc5.actions import asking, making, models, reasoning, setting, synthesis

ACTIONS = (
    *(setting.TakeStrings, setting.SwitchOn, setting.AddPlugin, setting.DeclareHeap, making.InspectSorts),
    *(setting.DeclarePool, making.MakeCardinality, making.MakeRecord, making.MakeMatch, making.MakeLifted),
    *(making.MakeProjection, making.InspectSkolem, reasoning.Simplify, asking.GetAssertions),
    *(asking.GetOptions, asking.GetStatistics, asking.GetInfo, synthesis.Synthesize, synthesis.FindTerms),
    *(reasoning.GetInterpolant, reasoning.GetAbduct, reasoning.EliminateQuantifiers, asking.TimeoutCore),
    *(models.InspectModel, models.BlockModel, setting.GetHeap, asking.GetProof, asking.GetCoreLemmas),
    *(asking.GetDifficulty, asking.GetLearnedLiterals, asking.GetInstantiations),
)
