"""Generation: strategies that make tests from a corpus, and batches of them on disk."""

from generator.batches import BatchReport, OutputFolderError, write_batch
from generator.declaring import StrategyEntry, StrategyInputs, StrategySettings
from generator.errors import GenerationError
from generator.library import Library
from generator.loading import load_library
from generator.registry import STRATEGIES, find_strategy, make_strategy
from generator.seeds.script import SeedScript
from generator.seeds.source import (
    Seed,
    SeedSkipped,
    SeedSource,
    seeds_of_corpus,
    seeds_of_folder,
    seeds_of_strategy,
)
from generator.seeds.strategy import Mutant, SeedStrategy
from generator.settings import Setting
from generator.strategies.enumeration import EnumerationStrategy
from generator.strategies.skeletons import SkeletonStrategy
from generator.strategy import GeneratedTest, Strategy
